"""Whether a job has any time at all, by its deadline and its limits: asked before anything is sent."""

from datetime import datetime, timedelta

import click

from spotwarden.cli.table import duration
from spotwarden.model.jobfile import JobFile
from spotwarden.model.spans import moment

FAR = timedelta(days=366)
"""Of a deadline further off the year is probably mistyped."""


def check_timely(file: JobFile, now: datetime) -> None:
    """Refuse a deadline that is past and limits that leave nothing; tell of a deadline that is far off.

    A job behind its deadline takes on-demand VMs at once, so one that is past costs money for nothing.

    Raises:
        UsageError: says which setting, and what to write instead.
    """
    if problem := _of_limits(file) or _of_deadline(file, now):
        raise click.UsageError(f"{problem}. Nothing was sent.")
    if file.deadline is None:
        return
    left = file.deadline - now
    if left > FAR:
        click.echo(
            f"warning: the deadline {moment(file.deadline)} is {left.days} days away. Is the year right?",
            err=True,
        )
    elif file.work is not None and file.work > left:
        click.echo(
            f"warning: the deadline {moment(file.deadline)} is {duration(left)} away, and `work` is"
            f" {duration(file.work)}: it can't be met",
            err=True,
        )


def _of_limits(file: JobFile) -> str:
    spans = {"work": file.work, "max_runtime": file.max_runtime}
    if name := next((name for name, span in spans.items() if span is not None and not span), ""):
        return f"`{name}` of job.toml is 0: write a duration such as 8h, or leave it out"
    if file.budget is not None and not file.budget:
        return "`budget` of job.toml is 0, which pays for no VM: write an amount, or leave it out"
    return ""


def _of_deadline(file: JobFile, now: datetime) -> str:
    if file.deadline is None or file.deadline > now:
        return ""
    past = f"the deadline {moment(file.deadline)} is {duration(now - file.deadline)} ago"
    return f"{past}: write a later one (`run --deadline`, or `deadline` of job.toml), or leave it out"
