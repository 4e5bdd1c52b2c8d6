"""Whether anybody can say what a job costs: asked before anything is sent or recorded."""

from collections.abc import Sequence
from contextlib import suppress

import click
from msgspec.structs import replace

from spotwarden.cli.context import Context, new_tick
from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch
from spotwarden.model.placement import PlacementRecord
from spotwarden.ports import RejectedError, UnansweredError
from spotwarden.recovery.kinds.allowed import as_allowed, where_allowed, with_records
from spotwarden.recovery.kinds.becoming import Unpriced, unpriced
from spotwarden.recovery.kinds.machines import launches
from spotwarden.recovery.kinds.price_file import of_launches, read_prices
from spotwarden.recovery.kinds.prices import price_of
from spotwarden.recovery.kinds.unpriced_budget import kind_of, uncounted, unenforced, ways


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
            click.echo(uncounted(kind), err=True)
        return
    facts = _with_all(context, launch, replace(file, owner=file.owner or owner))
    if found := list(unpriced(facts, context.agreed().placement, of_launches(table, facts))):
        raise click.ClickException(_refusal(context, found, facts, file.budget))


def _with_all(context: Context, launch: Launch, file: JobFile) -> JobFacts:
    """The job as all that it may become: what compliance would stop is left out, and needs no price."""
    policy, tick = context.deployed(), new_tick("submit")
    facts = JobFacts(job=launch.job, launch=launch, file=file)
    facts = as_allowed(facts, policy, tick, context.settings.project)
    records = {each.machine: _record(context, each) for each in launches(facts)}
    return where_allowed(with_records(facts, records), policy, tick)


def _record(context: Context, launch: Launch) -> PlacementRecord:
    """Where there are such machines; where nobody answers, the launch tells."""
    with suppress(RejectedError, UnansweredError):
        zones = context.cloud.compute.offers(launch.machine, launch.accelerators).zones
        return PlacementRecord(machine=launch.machine, offered=tuple(sorted(zones)))
    return PlacementRecord(machine=launch.machine)


def _refusal(context: Context, found: Sequence[Unpriced], facts: JobFacts, budget: float) -> str:
    return "\n".join([
        f"{unenforced(found, budget)}. Nothing was sent.",
        *ways(found, facts),
        f"Add the price to {context.settings.prices_file}, or use --max-runtime instead of a budget.",
        "Ops refresh all prices with: python infra/pricing/write_prices.py --key API_KEY",
    ])  # fmt: skip
