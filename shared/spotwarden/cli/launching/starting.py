"""A job whose script is stored → its instances."""

import time
from functools import partial

import click
from msgspec.structs import replace

from spotwarden.cli.context import Context, new_tick
from spotwarden.cli.launching.storing import look
from spotwarden.decide import submission
from spotwarden.decide.attempts import next_step
from spotwarden.decide.progress import after
from spotwarden.model.action import Wait
from spotwarden.model.attempt import Attempt, State
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.outcome import Lost
from spotwarden.runner import Places, advance
from spotwarden.script.known import with_places

FIRST_LOOK_SECONDS = 0.05
LOOK_EVERY_SECONDS = 0.5
PATIENCE_SECONDS = 120
"""In the public traces 99 % of the insert operations end within 76 s."""


def start(context: Context, facts: JobFacts, launch: Launch, owner: str) -> JobFacts:
    """Claim the attempt, or carry on with one that was claimed, and take it as far as an instance."""
    tick = new_tick("submit")
    applier = context.applier(tick)
    launch = _as_stored(launch, facts)
    if not submission.in_flight(facts):
        first = submission.claim(facts, launch, owner, context.policy.recovery, tick)
        if isinstance(applier.apply(first), Lost):
            raise click.ClickException(f"{facts.job} was submitted by somebody else at the same moment")
    decide = partial(next_step, policy=context.policy, tick=tick)
    places = Places(context.cloud, context.settings.layout, context.policy, tick)
    told, until, pause = "", time.monotonic() + PATIENCE_SECONDS, FIRST_LOOK_SECONDS
    known = look(context, facts.job)
    while time.monotonic() < until:
        known = with_places(places.recall(replace(known, launch=launch)), context.policy.placement)
        waiting = advance(known, next_step=decide, after=after, apply=applier.apply)
        # Each write of a step names the generation that was read here, so one look a turn is enough.
        known = look(context, facts.job)
        if known.ledger[-1].attempt.state in {State.RUNNING, State.ENDED}:
            return known
        _stop_if_refused(known.ledger[-1].attempt)
        if isinstance(waiting, Wait) and waiting.reason != told:
            click.echo(waiting.reason, err=True)
            told = waiting.reason
        time.sleep(pause)
        pause = min(2 * pause, LOOK_EVERY_SECONDS)
    raise click.ClickException(
        f"{facts.job} is still being created; `spotwarden show {facts.job}` tells more"
    )


def _as_stored(launch: Launch, facts: JobFacts) -> Launch:
    """The launch, with the generation that its script has in the bucket now."""
    generation = facts.script.generation if facts.script else 0
    version = launch.script and replace(launch.script, generation=generation)
    return replace(launch, script=version)


def _stop_if_refused(attempt: Attempt) -> None:
    error = attempt.tries[-1].error if attempt.tries else ""
    if attempt.state is State.GAVE_UP:
        raise click.ClickException(f"Compute Engine refuses it: {error or attempt.reason}")
    if attempt.state is State.BACKING_OFF:
        hint = f"each minute's tick goes on trying; `spotwarden show {attempt.job}` tells how it stands"
        raise click.ClickException(f"Compute Engine has no room for it now: {error}; {hint}")


def told(attempt: Attempt) -> str:
    """Where the attempt runs, in a sentence."""
    ids = ", ".join(attempt.instances.values())
    return f"{attempt.job}: attempt {attempt.number} runs in {attempt.tries[-1].place} as instance {ids}"
