"""What the project's other jobs went through on a machine type, as the report has added it up."""

from datetime import datetime

from spotwarden.cli.context import Context
from spotwarden.ports import BrokenError
from spotwarden.recovery.forecast.course import Course
from spotwarden.recovery.forecast.forecast import needs_others
from spotwarden.recovery.forecast.pasts import PastByPlace
from spotwarden.recovery.forecast.table import read_markets
from spotwarden.report.figures.forecasting import others_of, pasts_of
from spotwarden.report.store import ReportStore, current


def others(context: Context, course: Course, now: datetime, *, job: str = "") -> PastByPlace:
    """The pasts of the other jobs by place; of `job` none, for its course has them.

    Only where a forecast needs them, and with one read: of the report's index. Where that is not there, or
    is of another edition, nothing is known.
    """
    if not needs_others(course, read_markets(), context.agreed().placement):
        return {}
    try:
        index = current(ReportStore(context.cloud.store, context.settings.layout))
    except BrokenError:
        return {}
    if index is None:
        return {}
    own = next((entry.past for entry in index.entries if job and entry.row.job == job), None)
    return others_of(pasts_of(index.entries, now), course.machine, own)
