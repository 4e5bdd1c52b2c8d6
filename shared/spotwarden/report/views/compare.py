"""Two to four jobs beside each other."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from spotwarden.report.model.experiments import Experiment
from spotwarden.report.model.job import Comparison
from spotwarden.report.views import curving
from spotwarden.report.views.asking import common_metrics, measure
from spotwarden.report.views.experiments import progress
from spotwarden.report.views.frame import PageFrame
from spotwarden.report.views.rendering import render
from spotwarden.report.views.text import NONE, UNKNOWN, Words

LEAST, MOST = 2, 4
Row = tuple[str, tuple[Markup, ...], bool]


def compare(comparison: Comparison, frame: PageFrame) -> str:
    """The page; with fewer than two jobs, or more than four, it says how to choose."""
    frame = frame.at("compare")
    jobs = tuple(job.experiment for job in comparison.jobs[:MOST])
    say = Words(zone=frame.zone)
    return render(
        "compare",
        frame,
        jobs=jobs,
        names=[job.job for job in jobs] or ["jobs"],
        missing=comparison.missing,
        trouble=_trouble(len(comparison.jobs) + len(comparison.missing)),
        rows=tuple(_rows(jobs, say)),
        drawn=curving.of_jobs(comparison.jobs[:MOST]),
        asked=[("job", job.job) for job in jobs],
    )


def _trouble(count: int) -> str:
    if count < LEAST:
        return "Select two to four jobs in the table of experiments, then press Compare."
    return f"At most four jobs can be compared. These are the first four of {count}." if count > MOST else ""


def _rows(jobs: Sequence[Experiment], say: Words) -> Iterator[Row]:
    """Each figure of all jobs, and whether it is the same for all."""
    for name, cells in _figures(jobs, say):
        yield name, cells, len(set(cells)) == 1


def _figures(jobs: Sequence[Experiment], say: Words) -> Iterator[tuple[str, tuple[Markup, ...]]]:
    yield "Status", tuple(escape(job.standing.value) for job in jobs)
    yield "Owner", tuple(say.text(job.owner, "no owner") for job in jobs)
    yield "Machines", tuple(say.text(", ".join(job.machines)) for job in jobs)
    yield "Zones", tuple(say.text(", ".join(job.zones)) for job in jobs)
    yield "Attempts", tuple(escape(f"{job.attempts:,}") if job.attempts else UNKNOWN for job in jobs)
    yield "Preempted", tuple(escape(f"{job.preemptions:,}") if job.attempts else UNKNOWN for job in jobs)
    yield "Started", tuple(say.when(job.started) for job in jobs)
    yield "Runtime, h", tuple(say.hours(job.runtime) for job in jobs)
    yield "VMs up, h", tuple(say.hours(job.up_time) for job in jobs)
    yield "GPU time, h", tuple(say.hours(job.gpu_time) for job in jobs)
    yield "Cost, USD", tuple(say.cost(job, job.cost) for job in jobs)
    yield "On demand, USD", tuple(say.cost(job, job.on_demand) for job in jobs)
    yield "Done", tuple(progress(job.advance) for job in jobs)
    for tag in sorted({tag for job in jobs for tag in job.tags}):
        yield f"Tag {tag}", tuple(say.text(job.tags.get(tag, ""), "none") for job in jobs)
    for metric in common_metrics(jobs):
        found = [measure(job, metric) for job in jobs]
        yield f"{metric}, last", tuple(say.number(match.last) if match else NONE for match in found)
        yield f"{metric}, best", tuple(say.number(match.best) if match else NONE for match in found)
