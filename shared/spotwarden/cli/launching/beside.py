"""Whether something of a job is still there, before its next attempt is launched."""

import click

from spotwarden.cli.context import Context, new_tick
from spotwarden.engine.context import SweepContext
from spotwarden.model.facts import JobFacts
from spotwarden.recovery import submission
from spotwarden.recovery.own_instances import with_own_instances


def refuse_beside(context: Context, facts: JobFacts) -> None:
    """Refuse to launch a job beside a VM of its own; `ClickException` says which, and what to do.

    An attempt under way is gone on with, and a job of which nothing is stored has no VM: nobody looks then.
    """
    if submission.in_flight(facts) or not (facts.ledger or facts.script):
        return
    tick = new_tick("submit")
    sweep = SweepContext(
        cloud=context.cloud,
        settings=context.settings,
        policy=context.policy,
        tick=tick,
        executor=context.executor(tick),
    )
    if problem := submission.beside(with_own_instances(sweep, facts)):
        raise click.ClickException(problem)
