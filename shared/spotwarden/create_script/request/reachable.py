"""Which zones a job may be moved to, of those that offer its machine."""

from collections.abc import Iterable

from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import region_of


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
