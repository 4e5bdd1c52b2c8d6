"""On whose clock messages and answer pages tell times."""

from collections.abc import Mapping
from datetime import tzinfo
from fnmatch import fnmatchcase

from spotwarden.model.limits import NotifyLimits
from spotwarden.model.opening import is_zone, zone_of
from spotwarden.model.policy import Team


def reader_zone(address: str, limits: NotifyLimits, teams: Mapping[str, Team], own: str = "") -> tzinfo:
    """The reader's `own` choice, else the policy's zone for them or their team, else its zone for everybody.

    A choice that names no zone does not count.
    """
    if own and is_zone(own):
        return zone_of(own)
    for pattern, zone in limits.timezones.items():
        if fnmatchcase(address.casefold(), pattern.casefold()):
            return zone_of(zone)
    for _, team in sorted(teams.items()):
        if team.timezone and is_of(address, team):
            return zone_of(team.timezone)
    return zone_of(limits.timezone)


def is_of(address: str, team: Team) -> bool:
    """Whether an address, or a hook of this name, is a team's own or one of its people's."""
    return address in {team.email, team.hook} or any(fnmatchcase(address, owner) for owner in team.owners)
