"""Jobs that are over, as the report has them: with thousands of them nobody wants to wait for each."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

import msgspec

from spotwarden.cli.context import Context
from spotwarden.layout import NotInLayoutError, OpenJob
from spotwarden.recovery.folder.standing import JobSummary
from spotwarden.report.model.experiments import Experiment as Reported
from spotwarden.report.store import ReportStore, current

MANY = 200
"""Fewer jobs are all read."""
FRESH = timedelta(minutes=30)
"""Three ticks of the report: an older one is not believed."""


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """Rows by job, as they were at `at`; None where nothing is remembered."""

    rows: Mapping[str, JobSummary] = {}
    at: datetime | None = None


NOTHING = Remembered()


def remembered(context: Context, names: Collection[str], now: datetime) -> Remembered:
    """Those of the jobs that were over when the report was made, and of which nothing says otherwise."""
    if len(names) < MANY:
        return NOTHING
    store, layout = context.cloud.store, context.settings.layout
    index = current(ReportStore(store, layout))
    if index is None or now - index.at > FRESH:
        return NOTHING
    # What was started again since then is on the list of open jobs, or has a VM.
    instances = context.cloud.compute.instances().items
    alive = {instance.job or instance.name for instance in instances} | _open(context)
    wanted = set(names) - alive
    rows = {
        entry.row.job: row_of(entry.row)
        for entry in index.entries
        if entry.settled and entry.row.job in wanted
    }
    return Remembered(rows=rows, at=index.at) if rows else NOTHING


def _open(context: Context) -> set[str]:
    layout = context.settings.layout
    found = set()
    for entry in context.cloud.store.entries(layout.open_jobs()):
        try:
            object_name = layout.parse(entry.name)
        except NotInLayoutError:
            continue
        if isinstance(object_name, OpenJob):
            found.add(object_name.job)
    return found


def row_of(experiment: Reported) -> JobSummary:
    """The report's row as that of the table."""
    newest = experiment.instances[-max(1, experiment.nodes) :]
    return JobSummary(
        job=experiment.job,
        status=experiment.standing,
        exit_code=experiment.exit_code,
        attempts=max(1, experiment.attempts),
        instance_id=", ".join(sorted(newest)),
        zone=experiment.zones[-1] if experiment.zones else "",
        owner=experiment.owner,
        started=experiment.started,
        ended=experiment.ended,
        runtime=experiment.ended - experiment.started if experiment.ended and experiment.started else None,
        tags=experiment.tags,
    )
