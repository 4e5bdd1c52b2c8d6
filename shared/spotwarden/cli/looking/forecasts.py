"""When a job ends and for how much, by what its records say where the command runs."""

from datetime import datetime

from spotwarden.cli.context import Context
from spotwarden.cli.looking.costs import Costs
from spotwarden.cli.looking.details import Details
from spotwarden.cli.other_jobs import others
from spotwarden.create_script.request.stored import with_launch
from spotwarden.model.standing import Standing
from spotwarden.recovery.forecast.forecast import Outlook, holds_to_line, outlook
from spotwarden.recovery.forecast.table import chance_of, read_markets
from spotwarden.report.figures.forecasting import course_of

OPEN = frozenset((Standing.QUEUED, Standing.RUNNING, Standing.RECOVERING, Standing.STALLED))


def forecast(
    context: Context, details: Details, costs: Costs, standing: Standing, now: datetime
) -> Outlook | None:
    """The forecast of a job that is open; None of one that is over, or of which nothing is on record."""
    facts = details.facts
    if standing not in OPEN or facts.newest is None:
        return None
    policy = context.agreed()
    read = with_launch(facts, context.settings.project, policy.recovery.gcloud_version)
    course = course_of(
        [recorded.attempt for recorded in facts.ledger],
        facts.file,
        details.lines,
        beat=details.beat,
        moved=details.progress_at,
        now=now,
        returns=holds_to_line(read, policy),
    )
    chance = chance_of(facts.job)
    return outlook(
        course,
        read_markets(),
        policy.placement,
        costs.rates,
        now=now,
        chance=chance,
        others=others(context, course, now, job=facts.job),
    )
