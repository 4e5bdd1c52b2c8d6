"""What is kept → what is shown."""

from collections.abc import Iterator
from datetime import datetime

from spotwarden.governance.signals.shown import rows
from spotwarden.model.policy import Policy
from spotwarden.model.prices import PriceTable
from spotwarden.report.figures import beats
from spotwarden.report.figures.counting import days_in, slot
from spotwarden.report.figures.fleet import FleetQuery, Sums, row_of
from spotwarden.report.figures.forecasting import Forecaster
from spotwarden.report.model.experiments import OVER, Experiments
from spotwarden.report.model.job import GpuLoad, JobReport
from spotwarden.report.model.kept import IndexEntry, KeptLoads, ReportIndex, Summary

LOADS = 64
"""VMs whose GPUs are drawn: the newest."""
SLOTS = 2_016
"""Values of one of them, two weeks at ten minutes each: the newest."""


def experiments(index: ReportIndex, policy: Policy, prices: PriceTable) -> Experiments:
    """The table of all jobs; other folders of the bucket, such as one with data, are none."""
    sums = _sums(index, policy, prices)
    rows = tuple(row_of(entry, sums) for entry in index.entries if entry.row.job and _is_job(entry))
    return Experiments(at=index.at, rows=rows, prices=sums.till.basis())


def _is_job(entry: IndexEntry) -> bool:
    """Whether anything says that the folder is a job's: as for commands, or a VM of its was up."""
    row = entry.row
    found = row.attempts or row.instances or row.links.script or row.exit_code or row.problem
    return bool(found or entry.cells)


def _sums(index: ReportIndex, policy: Policy, prices: PriceTable) -> Sums:
    today = index.at.date()
    return Sums(FleetQuery(today, today), policy, prices, days_in(index.timezone))


def job(
    index: ReportIndex,
    summary: Summary,
    policy: Policy,
    prices: PriceTable,
    forecaster: Forecaster | None = None,
) -> JobReport:
    """One job's page."""
    sums = _sums(index, policy, prices)
    moments = list(_moments(summary))
    looked = summary.entry.looked
    over = summary.entry.row.standing in OVER
    return JobReport(
        at=looked,
        experiment=row_of(summary.entry, sums),
        start=min(moments, default=None),
        end=max([*moments, *([] if over else [looked])]) if moments else None,
        bars=summary.story.bars,
        waits=summary.story.waits,
        marks=summary.story.marks,
        loads=tuple(_loads(summary))[-LOADS:],
        curves=beats.joined(summary.gathered.lines),
        signals=rows(summary.signals),
        entries=summary.gathered.entries,
        entries_left_out=summary.gathered.left_out,
        prices=sums.till.basis(),
        forecast=forecaster.of(summary.entry, sums.till, index.at) if forecaster else None,
    )


def _moments(summary: Summary) -> Iterator[datetime]:
    story = summary.story
    spans = [(bar.start, bar.end) for bar in story.bars] + [(wait.start, wait.end) for wait in story.waits]
    for start, end in spans:
        yield start
        if end:
            yield end
    yield from (mark.at for mark in story.marks)


def _loads(summary: Summary) -> Iterator[GpuLoad]:
    nodes = {bar.instance_id: bar.node for bar in summary.story.bars}
    for instance_id, node in nodes.items():
        if (loads := summary.gathered.loads.get(instance_id)) and loads.slots:
            yield load(instance_id, node, loads)


def load(instance_id: str, node: str, loads: KeptLoads) -> GpuLoad:
    """One VM's GPUs, without gaps in time: what was not reported is None."""
    last = max(map(int, loads.slots))
    first = max(min(map(int, loads.slots)), last - SLOTS + 1)
    start, end = slot(str(first))
    values = (loads.slots.get(str(number), -1.0) for number in range(first, last + 1))
    return GpuLoad(
        instance_id=instance_id,
        node=node,
        start=start,
        step=end - start,
        values=tuple(None if value < 0 else value for value in values),
    )


def named(index: ReportIndex, about: str) -> str:
    """The job of this name, or that of the VM of this id or name; "" for none that is on record."""
    for entry in index.entries:
        if about and about in (entry.row.job, *entry.row.instances, *entry.nodes):
            return entry.row.job
    return ""
