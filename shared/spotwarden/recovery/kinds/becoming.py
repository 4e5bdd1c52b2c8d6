"""All that a job may become: kinds of VM and who asks for each, on its machine types, in its regions."""

from collections.abc import Iterator, Mapping
from enum import Enum

import msgspec

from spotwarden.model.facts import JobFacts
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import region_of
from spotwarden.model.prices import PriceTable, VmKind
from spotwarden.recovery.kinds.ladder import ladder_of
from spotwarden.recovery.kinds.machines import launches
from spotwarden.recovery.kinds.prices import kind_of_launch, price_of


class Asker(Enum):
    """Who asks for a kind of VM, as a sentence names it."""

    SCRIPT = "its script"
    LADDER = "its ladder"
    AFTER = "its on_demand_after"
    DEADLINE = "its deadline"
    POLICY_LADDER = "the policy's ladder"
    POLICY_AFTER = "the policy's on_demand_after"


class Unpriced(msgspec.Struct, frozen=True, kw_only=True):
    """A VM that the job may become and whose price nobody knows: its kind, in these regions."""

    kind: VmKind
    asker: Asker
    regions: tuple[str, ...]


def scripted(launch: Launch) -> str:
    """The provisioning model of the script, in Google's word."""
    scheduling = launch.properties.get("scheduling", {})
    return "SPOT" if launch.spot else str(scheduling.get("provisioningModel", "STANDARD"))


def wishes(facts: JobFacts, limits: PlacementLimits) -> Iterator[tuple[str, Asker]]:
    """The provisioning models that the job may be asked for, in Google's words, each with who asks for it.

    A deadline may ask for on-demand VMs whatever is known of the work that is left: that may come later.
    """
    launch, file = facts.launch, facts.file
    if not isinstance(launch, Launch):
        return
    ladder, standard = ladder_of(facts, limits), VmModel.STANDARD
    asker = Asker.POLICY_LADDER if file.ladder is None else Asker.LADDER
    yield from ((rung.model.google, asker) for rung in ladder)
    if not ladder:
        yield scripted(launch), Asker.SCRIPT
    if standard in facts.stopped or not (ladder or launch.spot):
        return
    if file.on_demand_after is not None:
        yield standard.google, Asker.AFTER
    elif limits.on_demand_after is not None:
        yield standard.google, Asker.POLICY_AFTER
    if file.deadline is not None:
        yield standard.google, Asker.DEADLINE


def kinds_of(facts: JobFacts, limits: PlacementLimits) -> Mapping[str, Asker]:
    """The same, with who asks first for each."""
    found: dict[str, Asker] = {}
    for model, asker in wishes(facts, limits):
        found.setdefault(model, asker)
    return found


def unpriced(facts: JobFacts, limits: PlacementLimits, table: PriceTable) -> Iterator[Unpriced]:
    """What the job may become at a price that nobody knows; its launch has all places that it may go to."""
    for launch in launches(facts):
        regions = tuple(dict.fromkeys(region_of(choice.place) for choice in launch.choices))
        for model, asker in kinds_of(facts, limits).items():
            kinds = {region: kind_of_launch(launch, region, model) for region in regions}
            unknown = tuple(region for region, kind in kinds.items() if price_of(kind, table) is None)
            if unknown:
                yield Unpriced(kind=kinds[unknown[0]], asker=asker, regions=unknown)
