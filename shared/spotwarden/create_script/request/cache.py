"""All that is known of how a job can be launched: by its script or what ran, and where."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from spotwarden.create_script.request.launched import launch_of_resources
from spotwarden.create_script.request.stored import KEPT_CHOICES, with_choices
from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch, NoLaunch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import region_of
from spotwarden.model.same import Same


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


def with_places(facts: JobFacts, limits: PlacementLimits) -> JobFacts:
    """The facts, with every place that the job may be launched in and can be moved to."""
    if not isinstance(facts.launch, Launch):
        return facts
    offered = facts.places.offered if facts.places else ()
    return replace(
        facts, launch=with_choices(facts.launch, reachable(facts.launch, facts.file, offered, limits))
    )


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
