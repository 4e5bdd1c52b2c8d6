"""Two to four jobs beside each other."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from spotwarden.report.model.experiments import Experiment
from spotwarden.report.model.job import Comparison
from spotwarden.report.views import curving
from spotwarden.report.views.asking import common_metrics, measure
from spotwarden.report.views.experiments import progress
from spotwarden.report.views.frame import Frame
from spotwarden.report.views.rendering import render
from spotwarden.report.views.text import NONE, UNKNOWN, Words

LEAST, MOST = 2, 4
Row = tuple[str, tuple[Markup, ...], bool]


def compare(comparison: Comparison, frame: Frame) -> str:
    """The page; with fewer than two jobs, or more than four, it says how to choose."""
    frame = frame.at("compare")
    jobs = tuple(one.experiment for one in comparison.jobs[:MOST])
    say = Words(zone=frame.zone)
    return render(
        "compare",
        frame,
        jobs=jobs,
        names=[one.job for one in jobs] or ["jobs"],
        missing=comparison.missing,
        trouble=_trouble(len(comparison.jobs) + len(comparison.missing)),
        rows=tuple(_rows(jobs, say)),
        drawn=curving.of_jobs(comparison.jobs[:MOST]),
        asked=[("job", one.job) for one in jobs],
    )


def _trouble(count: int) -> str:
    if count < LEAST:
        return "Tick two to four jobs in the table of experiments, then press Compare."
    return f"Four jobs can be compared at once: these are the first of {count}." if count > MOST else ""


def _rows(jobs: Sequence[Experiment], say: Words) -> Iterator[Row]:
    """Each figure of all jobs, and whether it is the same for all."""
    for name, cells in _figures(jobs, say):
        yield name, cells, len(set(cells)) == 1


def _figures(jobs: Sequence[Experiment], say: Words) -> Iterator[tuple[str, tuple[Markup, ...]]]:
    yield "Status", tuple(escape(one.standing.value) for one in jobs)
    yield "Owner", tuple(say.text(one.owner, "nobody") for one in jobs)
    yield "Machines", tuple(say.text(", ".join(one.machines)) for one in jobs)
    yield "Zones", tuple(say.text(", ".join(one.zones)) for one in jobs)
    yield "Attempts", tuple(escape(f"{one.attempts:,}") if one.attempts else UNKNOWN for one in jobs)
    yield "Preempted", tuple(escape(f"{one.preemptions:,}") if one.attempts else UNKNOWN for one in jobs)
    yield "Started", tuple(say.when(one.started) for one in jobs)
    yield "Runtime, h", tuple(say.hours(one.runtime) for one in jobs)
    yield "VMs up, h", tuple(say.hours(one.up_time) for one in jobs)
    yield "GPU time, h", tuple(say.hours(one.gpu_time) for one in jobs)
    yield "Cost, USD", tuple(say.cost(one, one.cost) for one in jobs)
    yield "On demand, USD", tuple(say.cost(one, one.on_demand) for one in jobs)
    yield "Done", tuple(progress(one.advance) for one in jobs)
    for tag in sorted({tag for one in jobs for tag in one.tags}):
        yield f"Tag {tag}", tuple(say.text(one.tags.get(tag, ""), "none") for one in jobs)
    for metric in common_metrics(jobs):
        found = [measure(one, metric) for one in jobs]
        yield f"{metric}, last", tuple(say.number(one.last) if one else NONE for one in found)
        yield f"{metric}, best", tuple(say.number(one.best) if one else NONE for one in found)
