"""Whether anybody can say what a job costs: asked before anything is sent or recorded."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import click
from msgspec.structs import replace

from spotwarden.cli.context import Context, new_tick
from spotwarden.create_script.request.cache import with_machines, with_places
from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch
from spotwarden.model.placement import PlacementRecord
from spotwarden.model.prices import VmKind
from spotwarden.ports import RejectedError, UnansweredError
from spotwarden.recovery.admission import admit_others
from spotwarden.recovery.becoming import Asker, Unpriced, scripted, unpriced
from spotwarden.recovery.complying import comply, within
from spotwarden.recovery.machines import launches
from spotwarden.recovery.price_file import only, read_prices
from spotwarden.recovery.prices import kind_of_launch, price_of

MOST_TOLD = 4
"""So many VMs without a price are told of, and so many regions of each; of more their number."""


def check_priced(context: Context, launch: Launch, file: JobFile, owner: str = "") -> None:
    """Refuse a budget that can't be enforced; without a budget, say that the cost will not be known.

    A budget needs the price of all that the job may become: each kind of VM, machine type and region. One
    with `price_per_hour` is counted at that. Where there are no prices here, the functions have theirs, and
    it is only said.

    Raises:
        ClickException: which VMs have no known price, and where; says what to do.
    """
    kind = kind_of(launch)
    if not kind.machine_type or file.price_per_hour is not None:
        return
    table = read_prices(context.settings.prices_file)
    if table.problem:
        if file.budget is not None:
            click.echo(f"the budget can't be checked here: {table.problem}", err=True)
        return
    if file.budget is None:
        if price_of(kind, table) is None:
            it = _said(Unpriced(kind=kind, asker=Asker.SCRIPT, regions=(kind.region,)))
            click.echo(f"{it}: this job's cost won't be known, nor count towards any limit", err=True)
        return
    facts = _with_all(context, launch, replace(file, owner=file.owner or owner))
    known = only(table, {each.machine for each in launches(facts)}, {kind.gpu, *_cards(facts)})
    if found := list(unpriced(facts, context.agreed().placement, known)):
        raise click.ClickException(_refusal(context, found, facts, file.budget))


def kind_of(launch: Launch) -> VmKind:
    """What the price of one of its VMs depends on, as its request says."""
    return kind_of_launch(launch, launch.place, scripted(launch))


def _with_all(context: Context, launch: Launch, file: JobFile) -> JobFacts:
    """The job as all that it may become: what compliance would stop is left out, and needs no price."""
    policy, tick = context.deployed(), new_tick("submit")
    facts = with_machines(JobFacts(job=launch.job, launch=launch, file=file))
    facts = comply(admit_others(facts, policy.admission, context.settings.project), policy, tick)
    records = {each.machine: _record(context, each) for each in launches(facts)}
    others = {machine: record for machine, record in records.items() if machine != launch.machine}
    known = replace(facts, places=records[launch.machine], other_places=others)
    return within(with_places(known, policy.placement), policy, tick)


def _record(context: Context, launch: Launch) -> PlacementRecord:
    """Where there are such machines; where nobody answers, the launch tells."""
    with suppress(RejectedError, UnansweredError):
        zones = context.cloud.compute.offers(launch.machine, launch.accelerators).zones
        return PlacementRecord(machine=launch.machine, offered=tuple(sorted(zones)))
    return PlacementRecord(machine=launch.machine)


def _cards(facts: JobFacts) -> Iterator[str]:
    return (card for launch in launches(facts) for card in launch.accelerators)


def _said(found: Unpriced) -> str:
    """One kind of VM without a price, and where."""
    kind = found.kind
    gpus = f" with {kind.gpus} {kind.gpu}" if kind.gpu else ""
    named, more = found.regions[:MOST_TOLD], len(found.regions) - MOST_TOLD
    places = ", ".join(named) + (f" and {more} more regions" if more > 0 else "")
    return f"{kind.machine_type}{gpus} ({kind.provisioning}) has no known price in {places}"


def _refusal(context: Context, found: Sequence[Unpriced], facts: JobFacts, budget: float) -> str:
    told = "; ".join(_said(item) + _who(item.asker) for item in found[:MOST_TOLD])
    more = f"; and {len(found) - MOST_TOLD} more kinds of VM" if len(found) > MOST_TOLD else ""
    ways = "\n".join(_ways(found, facts))
    return (
        f"{told}{more}, so we can't enforce the budget of ${budget:g}. Nothing was sent.\n{ways}\n"
        f"Add the price to {context.settings.prices_file}, or use --max-runtime instead of a budget.\n"
        "Ops refresh all prices with: python infra/pricing/write_prices.py --key API_KEY"
    )


def _who(asker: Asker) -> str:
    return "" if asker is Asker.SCRIPT else f" ({asker.value} asks for it)"


def _ways(found: Sequence[Unpriced], facts: JobFacts) -> Iterator[str]:
    """What a developer can leave out of the job.toml, so that all that is left has a price."""
    askers = {item.asker for item in found}
    models = ", ".join(sorted({item.kind.provisioning for item in found if item.asker in _LADDERS}))
    if Asker.LADDER in askers:
        yield f"Leave {models} out of `ladder` in job.toml."
    if Asker.POLICY_LADDER in askers:
        yield f"Give the job a `ladder` of its own in job.toml, without {models}."
    if askers & {Asker.AFTER, Asker.DEADLINE}:
        words = [f"`{asker.value.removeprefix('its ')}`" for asker in _OWN_WISHES if asker in askers]
        yield f"Leave {' and '.join(words)} out of job.toml."
    home = kind_of_launch(launches(facts)[0], launches(facts)[0].place, "").region
    if any(region != home for item in found for region in item.regions):
        yield "Name only places with known prices in `places` of job.toml; with places = [] it stays at home."
    own = launches(facts)[0].machine
    if others := sorted({item.kind.machine_type for item in found} - {own}):
        yield f"Leave {', '.join(others)} out of `machines` in job.toml."


_LADDERS = frozenset((Asker.LADDER, Asker.POLICY_LADDER))
_OWN_WISHES = (Asker.AFTER, Asker.DEADLINE)
