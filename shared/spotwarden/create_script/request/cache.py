"""All that is known of how a job can be launched: by its script or what ran, and where."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from spotwarden.create_script.request.exchange import NoExchange, exchange
from spotwarden.create_script.request.launched import launch_of_resources
from spotwarden.create_script.request.requested import launch_of_request
from spotwarden.create_script.request.stored import KEPT_CHOICES, with_choices
from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch, NoLaunch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import region_of
from spotwarden.model.same import Same

MOST_MACHINES = 8
"""Machine types of one job besides its script's: each is another object that a sweep reads."""


def with_ran(facts: JobFacts, ran: Mapping[str, Any]) -> JobFacts:
    """For a job without a usable script: the launch that makes again what was seen to run.

    `ran` holds for each node its `instance` and its `disks`, as they were written down.
    """
    if isinstance(facts.launch, Launch) or not ran:
        return facts
    found = _launch_of(Same(ran))
    return replace(facts, launch=found) if isinstance(found, Launch) or facts.launch is None else facts


@lru_cache(maxsize=KEPT_CHOICES)
def _launch_of(same: Same[Mapping[str, Any]]) -> Launch | NoLaunch:
    ran = same.it
    disks = {link: disk for item in ran.values() for link, disk in item["disks"].items() if disk is not None}
    return launch_of_resources({node: candidate["instance"] for node, candidate in ran.items()}, disks)


def with_machines(facts: JobFacts) -> JobFacts:
    """The facts, with the launches on other machine types that the owner allows, as far as they fit."""
    launch, machines = facts.launch, facts.file.machines
    if not isinstance(launch, Launch) or not machines:
        return facts
    return replace(facts, launch=_with_machines(Same(launch), machines[:MOST_MACHINES]))


@lru_cache(maxsize=KEPT_CHOICES)
def _with_machines(same: Same[Launch], machines: tuple[str, ...]) -> Launch:
    found = (on_machine(same.it, machine) for machine in dict.fromkeys(machines))
    return replace(same.it, instead=tuple(item for item in found if isinstance(item, Launch)))


def on_machine(launch: Launch, machine: str) -> Launch | NoExchange:
    """The same launch on another machine type, in its own place; or why it cannot be."""
    if launch.slice is not None:
        return NoExchange(reasons=("a TPU slice is of its own machine type only",))
    exchanged = exchange(launch.request, machine)
    if isinstance(exchanged, NoExchange):
        return exchanged
    found = launch_of_request(exchanged, launch.script)
    if not isinstance(found, Launch):
        return NoExchange(reasons=(found.reason,))
    return replace(found, spot=launch.spot, flexible=launch.flexible)


def with_places(facts: JobFacts, limits: PlacementLimits) -> JobFacts:
    """The facts, with every place that the job may be launched in and can be moved to."""
    launch = facts.launch
    if not isinstance(launch, Launch) or launch.slice is not None:
        # A slice stays where its workload policy and its TPUs are.
        return facts
    offered = facts.places.offered if facts.places else ()
    own = with_choices(launch, reachable(launch, facts.file, offered, limits))
    return replace(
        facts, launch=replace(own, instead=tuple(_instead(launch, facts, limits))) if launch.instead else own
    )


def _instead(launch: Launch, facts: JobFacts, limits: PlacementLimits) -> Iterator[Launch]:
    """The launches on other machine types; such a one leaves home out where there are none of it."""
    for other in launch.instead:
        known = facts.other_places.get(other.machine)
        offered = known.offered if known else ()
        found = with_choices(other, reachable(other, facts.file, offered, limits))
        at_home = not offered or any(found.place in {zone, region_of(zone)} for zone in offered)
        if choices := found.choices if at_home else found.choices[1:]:
            yield replace(found, choices=choices)


def reachable(
    launch: Launch, file: JobFile, offered: Iterable[str], limits: PlacementLimits
) -> tuple[str, ...]:
    """The zones besides home, by preference: its own region's first, then those that policy or job allow.

    A job that names its `places` goes there and nowhere else; with none named it stays at home.
    """
    home = region_of(launch.place)
    allowed = (home, *limits.regions) if limits.move else ()
    wanted = allowed if file.places is None else file.places
    zones = sorted(offered)
    found = [zone for place in wanted for zone in zones if place in {zone, region_of(zone)}]
    return tuple(dict.fromkeys(zone for zone in found if zone != launch.place))
