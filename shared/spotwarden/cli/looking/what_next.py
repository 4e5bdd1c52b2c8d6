"""What a person would do next about a job, from all that is known of it."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from spotwarden.cli.looking.costs import Costs
from spotwarden.cli.looking.details import Details
from spotwarden.governance.signals.table import SignalTable
from spotwarden.model.case import Case
from spotwarden.model.placement import AvoidedPlace
from spotwarden.model.standing import Standing
from spotwarden.recovery.attempts import IN_FLIGHT
from spotwarden.recovery.folder.standing import JobSummary, TimelineEvent, is_broken
from spotwarden.recovery.forecast.forecast import Outlook
from spotwarden.recovery.gangs.gang_wish import closes_at
from spotwarden.recovery.steps.begun import begun, counts_until

SWEEPS_OVERDUE = timedelta(minutes=5)
"""Recovery looks each minute; after so many that it has missed nobody should count on it."""
WAITING = frozenset((Standing.QUEUED, Standing.RECOVERING))
GOES_WITHIN = timedelta(minutes=5)
"""So long the VM of a job that has ended may take to delete itself before it is told of."""
RESTARTED = frozenset((Standing.STOPPED, Standing.GAVE_UP, Standing.FAILED))
"""What a restart is for, once no VM runs."""
NEXT: Mapping[Standing, str] = {
    Standing.RUNNING: "`spotwarden logs -f {job}` follows it",
    Standing.STALLED: "`spotwarden logs {job} --tail 50` shows its last output",
    Standing.ENDED: "`spotwarden download {job}` fetches its output",
    Standing.FAILED: "`spotwarden logs {job} --tail 50` shows why; `spotwarden restart {job}` tries it again",
    Standing.STOPPED: "`spotwarden restart {job}` resumes it",
    Standing.GAVE_UP: "`spotwarden restart {job}` resumes it",
    Standing.UNKNOWN: "no launch is on record. If a command was interrupted, run it again",
}


class JobDetails(msgspec.Struct, frozen=True, kw_only=True):
    """All that is shown of a job, as it is `now`; `swept` is when recovery last looked at all jobs.

    `left` are the names of its VMs that run although it is over; `held` says which VMs have its names.
    """

    experiment: JobSummary
    details: Details
    costs: Costs
    cases: tuple[Case, ...]
    timeline: tuple[TimelineEvent, ...]
    now: datetime
    swept: datetime | None = None
    left: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    members: str = ""
    avoided: tuple[AvoidedPlace, ...] = ()
    ladder: tuple[str, ...] = ()
    signals: SignalTable | None = None
    forecast: Outlook | None = None


def next_step(shown: JobDetails) -> str:
    """What a person would do now."""
    row = shown.experiment
    facts = shown.details.facts
    if until := counts_until(facts):
        return (
            f"attempt {begun(facts)} is being launched and is not on record yet. If the command was"
            f" interrupted, run it again. From {until:%H:%M:%S} UTC on the job counts as stopped"
        )
    if row.status in WAITING:
        return _by_itself(shown)
    if facts.newest and is_broken(facts.newest):
        return (
            f"`spotwarden restart {row.job}` creates the slice again. If nobody does, the job is closed at"
            f" {closes_at(facts.newest):%H:%M:%S} UTC, and `spotwarden stop {row.job}` deletes what is left"
        )
    if shown.left and row.status is Standing.ENDED and row.ended and shown.now - row.ended > GOES_WITHIN:
        return (
            f"{', '.join(shown.left)} still runs, though the job has ended. `spotwarden stop {row.job}` stops"
            f" it; {NEXT[row.status].format(job=row.job)}"
        )
    if shown.left and row.status in RESTARTED:
        return f"`spotwarden stop {row.job}` stops {', '.join(shown.left)}, still running; then restart it"
    return NEXT[row.status].format(job=row.job)


def _by_itself(shown: JobDetails) -> str:
    """What recovery does next about a job that waits, as far as recovery is seen to run."""
    facts, newest = shown.details.facts, shown.details.facts.newest
    if newest and newest.state in IN_FLIGHT and facts.watched is None:
        return (
            f"attempt {newest.number} is on record, and not on the list of open jobs, so nothing"
            f" continues it. Launch it again with the same command, or run `spotwarden stop {facts.job}`"
        )
    swept, now = shown.swept, shown.now
    if swept is None:
        return "recovery hasn't run yet, and continues the job once it does. To check: `spotwarden doctor`"
    if now - swept > SWEEPS_OVERDUE:
        since = f"{swept:%Y-%m-%d %H:%M:%S} UTC"
        return f"recovery hasn't run since {since}; nothing continues it. To see why: `spotwarden doctor`"
    if newest is None or newest.state not in IN_FLIGHT:
        return (
            "no action needed: Spotwarden checks it every minute and restarts it, unless someone stopped it"
        )
    if shown.held:
        return f"{'; '.join(shown.held)}. Spotwarden launches the job once the name is free"
    later = newest.not_before or (newest.lease.until if newest.lease else None)
    at = f" at {later:%H:%M:%S} UTC" if later and later > now else " within a minute"
    return f"no action needed: Spotwarden continues it{at}"
