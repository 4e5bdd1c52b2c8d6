"""What commands ask of a job, by the very code that takes the answers given by links in messages."""

from typing import NamedTuple

import click
from msgspec.structs import replace

from spotwarden.cli.context import Context, default_owner, new_tick, open_context
from spotwarden.cli.next_steps import next_step
from spotwarden.cli.table import plain
from spotwarden.engine.context import SweepContext
from spotwarden.layout import job_problem
from spotwarden.model.notice import Way
from spotwarden.model.offer import Offer
from spotwarden.model.policy import Mode, Policy
from spotwarden.notify.links.carrying import Carried
from spotwarden.notify.links.reply import AnswerVerdict, OfferStanding


class JobCommand(NamedTuple):
    """One command about one job: where it works, by which policy, and what it asks for."""

    context: Context
    sweep: SweepContext
    offer: Offer
    policy: Policy


def open_command(command: str, job: str, way: Way) -> JobCommand:
    """Open the cloud for a command; a name that cannot be a job's is refused first."""
    if problem := job_problem(job):
        raise click.ClickException(plain(problem))
    context, tick = open_context(), new_tick(command)
    sweep = SweepContext(
        cloud=context.cloud,
        settings=context.settings,
        policy=context.policy,
        tick=tick,
        executor=context.executor(tick),
    )
    # A command answers no notice, and its offer is good for itself alone.
    offer = Offer(
        id=tick.sweep, way=way, notice="", to=default_owner(), job=job, at=tick.now, expires=tick.now
    )
    # What a developer types is meant, unless the deployment is told to observe: then nothing would follow.
    mode = context.settings.mode or Mode.ENFORCE
    return JobCommand(context, sweep, offer, replace(context.agreed(), mode=mode))


def say(verdict: AnswerVerdict) -> None:
    """Print what would be done, and what to know of it."""
    click.echo(plain(verdict.says))
    for note in verdict.notes:
        click.echo(plain(note))


def refuse(verdict: AnswerVerdict) -> click.ClickException:
    """Why it cannot be done, and what can be instead."""
    instead = " ".join(part for part in (verdict.instead, verdict.command) if part)
    said = [f"{verdict.title}: {verdict.says}", verdict.changed, instead]
    return click.ClickException("\n".join(plain(name) for name in said if name))


def report(carried: Carried) -> None:
    """Print what came of it; raise where not all of it was done."""
    verdict = carried.verdict
    if carried.unsure:
        why = plain(carried.unsure)
        raise click.ClickException(
            f"we couldn't confirm that everything was done ({why}); run the command again"
        )
    if carried.refusal:
        step = next_step(carried.refusal)
        raise click.ClickException(f"{refuse(verdict).message}{step}\nThen run the command again")
    if verdict.standing is OfferStanding.BARRED:
        raise refuse(verdict)
    click.echo(plain(verdict.done))
