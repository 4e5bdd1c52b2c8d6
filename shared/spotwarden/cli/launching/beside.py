"""Whether something of a job is still there, before its next attempt is launched."""

import time

import click

from spotwarden import clock
from spotwarden.cli.context import Context, new_tick
from spotwarden.engine.context import SweepContext
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.recovery import submission
from spotwarden.recovery.own_instances import with_own_instances

LEAVES_SECONDS = 90
"""How long a VM that goes by itself is waited for; a shutdown takes 30 s, or the 90 s of a regular stop."""
LOOK_EVERY_SECONDS = 2


def refuse_beside(context: Context, facts: JobFacts, launch: Launch) -> None:
    """Refuse to launch a job beside a VM of its own; `ClickException` says which, and what to do.

    One that goes by itself, as those of a job that has ended do, is waited for. Of one at rest that keeps the
    job out of the zone that was asked for its owner is told. An attempt under way is gone on with, and a job
    of which nothing is stored has no VM: nobody looks then.
    """
    if submission.in_flight(facts) or not (facts.ledger or facts.script):
        return
    if sent := submission.unsent_until(facts, clock.now()):
        raise click.ClickException(
            f"a request for VMs of {facts.job} may still be sent until {sent:%H:%M:%S} UTC, and a new attempt"
            " would run beside them. Nothing was stored or launched; try again then"
        )
    until, told = time.monotonic() + LEAVES_SECONDS, ""
    while problem := submission.beside(seen := _with_instances(context, facts)):
        leaving = submission.leaving(seen)
        if not leaving or time.monotonic() >= until:
            raise click.ClickException(problem)
        if leaving != told:
            click.echo(f"waiting until {leaving} of {facts.job} is gone", err=True)
            told = leaving
        time.sleep(LOOK_EVERY_SECONDS)
    _tell_of_names(seen, launch)


def _tell_of_names(facts: JobFacts, launch: Launch) -> None:
    """Say which VMs have the job's names where it was to be; only its own are its owner's to delete."""
    for there in (*facts.instances, *facts.namesakes):
        if there.name not in launch.nodes or there.zone != launch.place:
            continue
        free = f"To free the name: gcloud compute instances delete {there.name} --zone={there.zone}"
        advice = free if there in facts.instances else f"That VM is not one of {facts.job}"
        click.echo(
            f"{there.zone} already has a VM {there.name} (ID {there.id}), so {facts.job} is launched"
            f" in another zone. {advice}",
            err=True,
        )


def _with_instances(context: Context, facts: JobFacts) -> JobFacts:
    tick = new_tick("submit")
    sweep = SweepContext(
        cloud=context.cloud,
        settings=context.settings,
        policy=context.policy,
        tick=tick,
        executor=context.executor(tick),
    )
    return with_own_instances(sweep, facts)
