"""Why a budget can't be enforced, and what its owner can leave out so that it can."""

from collections.abc import Iterator, Sequence

from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.prices import VmKind
from spotwarden.recovery.kinds.becoming import Asker, Unpriced, scripted
from spotwarden.recovery.kinds.machines import launches
from spotwarden.recovery.kinds.prices import kind_of_launch

MOST_TOLD = 4
"""So many VMs without a price are told of, and so many regions of each; of more their number."""
_LADDERS = frozenset((Asker.LADDER, Asker.POLICY_LADDER))
_OWN_WISHES = (Asker.AFTER, Asker.DEADLINE)


def kind_of(launch: Launch) -> VmKind:
    """What the price of one of its VMs depends on, as its request says."""
    return kind_of_launch(launch, launch.place, scripted(launch))


def uncounted(kind: VmKind) -> str:
    """What a job without a budget, of this kind of VM without a price, is told."""
    it = _said(Unpriced(kind=kind, asker=Asker.SCRIPT, regions=(kind.region,)))
    return f"{it}: this job's cost won't be known, nor count towards any limit"


def unenforced(found: Sequence[Unpriced], budget: float) -> str:
    """Which VMs have no known price, and where: a sentence without its full stop."""
    told = "; ".join(_said(item) + _who(item.asker) for item in found[:MOST_TOLD])
    more = f"; and {len(found) - MOST_TOLD} more kinds of VM" if len(found) > MOST_TOLD else ""
    return f"{told}{more}, so we can't enforce the budget of ${budget:g}"


def ways(found: Sequence[Unpriced], facts: JobFacts) -> Iterator[str]:
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


def _said(found: Unpriced) -> str:
    """One kind of VM without a price, and where."""
    kind = found.kind
    gpus = f" with {kind.gpus} {kind.gpu}" if kind.gpu else ""
    named, more = found.regions[:MOST_TOLD], len(found.regions) - MOST_TOLD
    places = ", ".join(named) + (f" and {more} more regions" if more > 0 else "")
    return f"{kind.machine_type}{gpus} ({kind.provisioning}) has no known price in {places}"


def _who(asker: Asker) -> str:
    return "" if asker is Asker.SCRIPT else f" ({asker.value} asks for it)"
