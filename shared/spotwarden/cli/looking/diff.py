"""`spotwarden diff`: in what two jobs differ, and how each of them went."""

import sys
from collections.abc import Iterator

import click

from spotwarden import clock
from spotwarden.cli.complaints import complaint
from spotwarden.cli.completing import job_names
from spotwarden.cli.context import Context, open_context
from spotwarden.cli.json_text import json_text
from spotwarden.cli.looking.comparing import Difference, JobSide, difference
from spotwarden.cli.looking.details import read_details
from spotwarden.cli.looking.show import figure
from spotwarden.cli.looking.sparks import BARS, PLAIN
from spotwarden.cli.table import coloured, duration, plain, render
from spotwarden.layout import Code
from spotwarden.recovery.folder.standing import JobSummary, experiment, worded
from spotwarden.report.model.experiments import MetricSummary

DIFFERENT = 1


class DiffProblem(click.ClickException):
    """What keeps the two from being held against each other; 1 would mean that they differ."""

    exit_code = 2


@click.command()
@click.argument("name", metavar="JOB", shell_complete=job_names)
@click.argument("other", metavar="OTHER", shell_complete=job_names)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object.")
@click.pass_context
def diff(ctx: click.Context, name: str, other: str, *, as_json: bool) -> None:
    """Compare two jobs: scripts, settings and metrics.

    Names, launch times and owners are ignored. As with diff, the exit status is 0 if the jobs are the
    same, 1 if they differ, 2 after an error.

    \b
    Examples:
      spotwarden diff exp-1 exp-2
      spotwarden diff exp-1 exp-2 --json
    """
    try:
        context = open_context()
        sides = _side(context, name), _side(context, other)
    except click.ClickException as error:
        raise DiffProblem(error.message) from error
    except Exception as error:
        if said := complaint(error):
            raise DiffProblem(said) from error
        raise
    found = difference(*sides, bars=_bars())
    if as_json:
        click.echo(json_text(_fields(sides, found)))
    else:
        for line in _page(sides, found):
            click.echo(line)
    ctx.exit(0 if found.same else DIFFERENT)


def _side(context: Context, job: str) -> JobSide:
    details = read_details(context, job)
    instances = context.cloud.compute.instances().items
    name = context.settings.layout.build(Code(job=job))
    code = next((held.crc32c for held in context.files().held(name) if held.name == name), "")
    return JobSide(
        row=experiment(details.facts, instances, clock.now(), tags=details.tags), details=details, code=code
    )


def _bars() -> str:
    encoding = (sys.stdout.encoding or "").lower()
    return BARS if encoding.startswith("utf") else PLAIN


def _page(sides: tuple[JobSide, JobSide], found: Difference) -> Iterator[str]:
    names = tuple(side.row.job for side in sides)
    yield from (_painted(line) for line in found.script)
    if found.script:
        yield ""
    yield render(("HOW THEY WENT", *names), list(_ways(sides)))
    if found.settings:
        yield ""
        yield render(("SETTING", *names), [(name, *values) for name, values in found.settings.items()])
    if found.metrics:
        yield ""
        yield render(("METRIC", "JOB", "LAST", "BEST", "VALUES", "CURVE"), list(_curves(sides, found)))
    if found.same:
        yield ""
        yield "no difference"


def _painted(line: str) -> str:
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
    return coloured(plain(line), colour)


def _ways(sides: tuple[JobSide, JobSide]) -> Iterator[tuple[str, str, str]]:
    """What came of each; no two jobs are alike in it, so it is no difference."""
    job, other = (side.row for side in sides)
    yield "status", worded(job), worded(other)
    yield "attempts", str(job.attempts), str(other.attempts)
    yield "runtime", _ran(job), _ran(other)
    first, second = (side.details.beat for side in sides)
    yield "step", figure(first.step if first else None), figure(second.step if second else None)


def _ran(row: JobSummary) -> str:
    return duration(row.runtime) if row.runtime is not None else ""


def _curves(sides: tuple[JobSide, JobSide], found: Difference) -> Iterator[tuple[str, ...]]:
    for metric in found.metrics:
        for turn, side in enumerate(sides):
            measure = metric.measures[turn]
            yield (
                metric.name if turn == 0 else "=" if metric.same else "≠" if _bars() == BARS else "!=",
                side.row.job,
                *_figures(measure),
                str(metric.points[turn]),
                metric.sparks[turn],
            )


def _figures(measure: MetricSummary | None) -> tuple[str, str]:
    return (figure(measure.last), figure(measure.best)) if measure else ("", "")


def _fields(sides: tuple[JobSide, JobSide], found: Difference) -> dict[str, object]:
    return {
        "jobs": [side.row for side in sides],
        "same": found.same,
        "script": found.script,
        "settings": found.settings,
        "metrics": [
            {"name": metric.name, "same": metric.same, "values": metric.points, "measures": metric.measures}
            for metric in found.metrics
        ],
    }
