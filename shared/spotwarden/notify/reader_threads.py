"""Whose mails about one job share a subject."""

from collections.abc import Mapping

from spotwarden.model.limits import NotifyLimits
from spotwarden.model.policy import Team
from spotwarden.model.threads import Threads
from spotwarden.notify.reader_zone import is_of


def reader_threads(
    address: str, limits: NotifyLimits, teams: Mapping[str, Team], own: Threads | None = None
) -> Threads:
    """The reader's `own` choice, else that of their team (the first by name), else the policy's for all."""
    if own is not None:
        return own
    of_teams = (team.threads for _, team in sorted(teams.items()) if team.threads and is_of(address, team))
    return next(of_teams, limits.threads)
