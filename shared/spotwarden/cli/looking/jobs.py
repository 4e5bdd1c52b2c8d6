"""`spotwarden jobs` and `spotwarden show`: what runs, and how it came there."""

from datetime import timedelta

import click
import msgspec

from spotwarden import clock
from spotwarden.cli.context import Context, open_context
from spotwarden.cli.table import duration, plain, render
from spotwarden.decide.experiments import Experiment, experiment, timeline
from spotwarden.layout import RESERVED_JOBS, Code, NotInLayoutError, job_problem
from spotwarden.model.facts import JobFacts
from spotwarden.runner import look_at_job

HEAD = ("JOB", "STATUS", "ATTEMPTS", "INSTANCE AND LOG ID", "ZONE", "OWNER", "RUNTIME", "CODE")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one list.")
def jobs(*, as_json: bool) -> None:
    """Print the experiment table: every job of the bucket."""
    context = open_context()
    rows = experiments(context)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    if not rows:
        click.echo(f"no jobs yet in gs://{context.settings.bucket}; `spotwarden submit` launches one")
        return
    click.echo(render(HEAD, [_cells(context, row) for row in rows]))


def experiments(context: Context) -> list[Experiment]:
    """One row for each job folder, by name."""
    settings, store = context.settings, context.cloud.store
    names = [name for name in store.folders(settings.layout.prefix) if _is_job(name)]
    facts = [look_at_job(store, settings.layout, name) for name in names]
    instances = context.cloud.compute.instances().items if facts else ()
    now = clock.now()
    return [experiment(one, instances, now) for one in facts if one.script or one.ledger or one.ended]


def _is_job(name: str) -> bool:
    return name not in RESERVED_JOBS and job_problem(name) is None


def _cells(context: Context, row: Experiment) -> tuple[str, ...]:
    runtime = duration(row.runtime) if row.runtime is not None else ""
    return (
        row.job,
        row.status,
        str(row.attempts),
        row.instance_id,
        row.zone,
        row.owner,
        runtime,
        f"gs://{context.settings.bucket}/{context.settings.layout.build(Code(job=row.job))}",
    )


@click.command()
@click.argument("job")
def show(job: str) -> None:
    """Print one job's timeline."""
    context = open_context()
    facts = _facts(context, job)
    row = experiment(facts, context.cloud.compute.instances().items, clock.now())
    click.echo(f"{job}: {row.status}, {row.attempts} attempt{'s' if row.attempts > 1 else ''}")
    moments = timeline(facts)
    for moment in moments:
        since = moment.at - moments[0].at
        click.echo(f"  {moment.at:%Y-%m-%d %H:%M:%S} UTC  +{_offset(since)}  {plain(moment.what)}")


def _offset(since: timedelta) -> str:
    return f"{duration(since):>8}"


def _facts(context: Context, job: str) -> JobFacts:
    try:
        facts = look_at_job(context.cloud.store, context.settings.layout, job)
    except NotInLayoutError as error:
        raise click.ClickException(f"{job!r} cannot be a job: {error.reason}") from error
    if not (facts.script or facts.ledger or facts.ended):
        raise click.ClickException(f"there is no job {job!r} in gs://{context.settings.bucket}")
    return facts
