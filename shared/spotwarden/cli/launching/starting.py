"""A job whose script is stored → its instances."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import NamedTuple

import click
from msgspec.structs import replace

from spotwarden.cli.context import Context, new_tick
from spotwarden.cli.interrupted import so_far
from spotwarden.cli.launching.beside import with_instances
from spotwarden.cli.launching.in_place import overtaken, put_in_place
from spotwarden.cli.launching.started import has_run, holders, refuse_if_over, waits_for_name
from spotwarden.cli.launching.storing import look
from spotwarden.create_script.request.cache import with_machines, with_places
from spotwarden.engine.advance import advance
from spotwarden.engine.executor import Executor
from spotwarden.layout import StatusCode
from spotwarden.model.action import Survey, Wait
from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.outcome import Lost, Outcome, Unanswered
from spotwarden.model.tick import Tick
from spotwarden.ports import BrokenError, UnansweredError
from spotwarden.recovery import submission
from spotwarden.recovery.attempts import next_step
from spotwarden.recovery.folder.chain import told as told_ledger
from spotwarden.recovery.kinds.admission import admit_others
from spotwarden.recovery.kinds.complying import comply, within
from spotwarden.recovery.kinds.price_file import with_prices
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.places.memory import PlaceMemory
from spotwarden.recovery.places.passed_over import why_not_home
from spotwarden.recovery.requests.refusals import lacks_notice
from spotwarden.recovery.steps.begun import begin, reopen
from spotwarden.recovery.steps.progress import after

FIRST_LOOK_SECONDS = 0.05
LOOK_EVERY_SECONDS = 0.5
TIMEOUT_SECONDS = 120
"""In the public traces 99 % of the insert operations end within 76 s."""
ROOM_WITHIN_SECONDS = 20
"""How long room for a Flex-start VM is waited for here; the functions wait on, for hours."""
AT_WORK_SECONDS = 20
"""How long a sweep that is at work on an attempt is waited for; most are done with it within seconds."""
OPENINGS = 3
"""How often the entry of a job is written anew that a sweep changes at the same moment."""


class Starting(NamedTuple):
    """What one launch is recorded with."""

    context: Context
    executor: Executor
    launch: Launch
    owner: str
    tick: Tick
    staged: str


def start(context: Context, first: JobFacts, launch: Launch, owner: str, staged: str) -> JobFacts:
    """Claim the attempt, or carry on with one that was claimed, and take it as far as an instance.

    `first` is the job as it was before anything was sent: whoever launches or stops it since is first.
    `staged` names what was sent, which is put in place once the attempt is ours.
    """
    tick = new_tick("submit")
    executor = context.executor(tick)
    facts = look(context, first.job, script=True)
    if problem := submission.overtaken(first, facts):
        raise click.ClickException(problem)
    launch = _as_stored(launch, facts)
    number = first.ledger[-1].attempt.number if submission.in_flight(first) else _next(facts)
    with _letting_go(context, executor, facts.job, tick):
        if submission.in_flight(first):
            ask_again(context, executor, facts.job, tick)
        else:
            _record(Starting(context, executor, launch, owner, tick, staged), facts)
        facts = _in_place(context, executor, facts.job, number, tick)
        so_far(
            f"attempt {number} of {facts.job} is on record; each minute's tick continues it. "
            f"`spotwarden show {facts.job}` shows its status, `spotwarden stop {facts.job}` ends it"
        )
        return _carry_on(Starting(context, executor, launch, owner, tick, staged), facts, number)


def ask_again(context: Context, executor: Executor, job: str, tick: Tick) -> None:
    """Put on record that a person asks for the attempt that recovery has begun, if it has begun one.

    A sweep that is at work on it is waited for: it would lose what it is about to write.
    """
    until = time.monotonic() + AT_WORK_SECONDS
    while step := submission.ask_again(facts := look(context, job), tick.now):
        if submission.is_worked_on(facts, tick.now) and time.monotonic() < until:
            time.sleep(LOOK_EVERY_SECONDS)
            continue
        outcome = executor.apply(step)
        if isinstance(outcome, Unanswered):
            raise UnansweredError(outcome.detail)
        if not isinstance(outcome, Lost):
            return


def _in_place(context: Context, executor: Executor, job: str, number: int, tick: Tick) -> JobFacts:
    """The job once the files of this attempt are where its VMs look for them."""
    facts = look(context, job)
    newest = facts.ledger[-1].attempt
    if newest.number != number:
        raise overtaken(replace(newest, number=number), newest)
    if not newest.staged:
        return facts
    so_far(
        f"attempt {number} of {job} is on record, its files are not all in place, and nothing was launched; "
        "the same command continues, and without it the job counts as stopped ten minutes later"
    )
    put_in_place(context, executor, facts, tick)
    return look(context, job)


def _next(facts: JobFacts) -> int:
    return (facts.ledger[-1].attempt.number if facts.ledger else 0) + 1


def _record(starting: Starting, facts: JobFacts) -> None:
    """Put the job on the list of open ones, take its last end back, and claim the attempt, in this order.

    Whatever is interrupted after the first of these is found by the next tick (`recovery/steps/begun.py`).
    """
    so_far(
        f"all files of {facts.job} are sent, but we couldn't check whether it is launched. Run the"
        f" same command to continue, or `spotwarden show {facts.job}` to see its status"
    )
    number = _next(facts)
    for _ in range(OPENINGS):
        if not any(isinstance(outcome, Lost) for outcome in _recording(starting, facts)):
            return
        # A sweep has taken an older entry off the list, or has just closed the job; or it is somebody else.
        facts = look(starting.context, facts.job)
        if _next(facts) != number:
            break
    raise click.ClickException(
        f"{facts.job} was launched or stopped by somebody else at the same moment. Nothing was launched "
        f"here, and nothing that it has stored was replaced; `spotwarden show {facts.job}` tells more"
    )


def _recording(starting: Starting, facts: JobFacts) -> Iterator[Outcome]:
    """The outcomes, up to the first that was lost."""
    context, executor, launch, owner, tick, staged = starting
    stored = None
    if facts.status_code is not None:
        stored = context.cloud.store.entry(name := context.settings.layout.build(StatusCode(job=facts.job)))
    status = (name, stored.generation) if stored else None
    claim = submission.claim(facts, launch, owner, context.policy.recovery, tick, staged=staged)
    for step in (begin(facts, owner), *reopen(facts, status, "launched again", tick.now), claim):
        outcome = executor.apply(step)
        if isinstance(outcome, Unanswered):
            raise UnansweredError(outcome.detail)
        yield outcome
        if isinstance(outcome, Lost):
            return


def _carry_on(starting: Starting, known: JobFacts, number: int) -> JobFacts:
    context, executor, launch, _, tick, _ = starting
    decide = partial(next_step, policy=context.policy, tick=tick)
    places = PlaceMemory(
        context.cloud, context.settings.layout, context.policy, tick, workers=context.settings.workers
    )
    told, until, pause = "", time.monotonic() + TIMEOUT_SECONDS, FIRST_LOOK_SECONDS
    is_placed = False
    patient = time.monotonic() + ROOM_WITHIN_SECONDS
    job, policy = known.job, context.deployed()
    while time.monotonic() < until:
        allowed = with_machines(replace(known, launch=launch))
        allowed = comply(admit_others(allowed, policy.admission, context.settings.project), policy, tick)
        reachable = with_places(places.recall(allowed), context.policy.placement)
        reachable = within(reachable, policy, tick)
        known = with_prices(reachable, context.settings.prices_file, context.policy.placement)
        waiting = advance(known, next_step=decide, after=after, apply=executor.apply)
        # Each write of a step names the generation that was read here, so one look a turn is enough.
        known = look(context, job)
        if isinstance(waiting, Wait) and waiting.broken_off:
            known = _listed(executor, known, launch)
        newest = told_ledger([recorded.attempt for recorded in known.ledger])[-1]
        if newest.number != number:
            raise overtaken(replace(newest, number=number), newest)
        if newest.tries and not is_placed:
            _tell_of_home(context, reachable, newest, launch)
            is_placed = True
        if has_run(newest):
            # Whoever launches the next one need not be refused for the same.
            places.remember(record for record in executor.written if any(map(lacks_notice, record.tries)))
            return known
        refuse_if_over(newest, held=_held(context, newest, launch), out=_last_out(reachable))
        if isinstance(waiting, Wait) and waiting.reason != told:
            click.echo(waiting.reason, err=True)
            told = waiting.reason
        if launch.flexible and newest.in_line and time.monotonic() > patient:
            return known
        time.sleep(pause)
        pause = min(2 * pause, LOOK_EVERY_SECONDS)
    raise click.ClickException(f"{job} is still being created. To see its status: spotwarden show {job}")


def _last_out(facts: JobFacts) -> datetime | None:
    """When one of the job's places was last known to have no room for it: another job may have heard that."""
    launch, places = facts.launch, facts.places
    if not isinstance(launch, Launch) or places is None:
        return None
    known = [places.availability.get(choice.place) for choice in launch.choices]
    return max((zone.out for zone in known if zone and zone.out), default=None)


def _held(context: Context, newest: Attempt, launch: Launch) -> tuple[str, ...]:
    """Who holds a name that an attempt waits for; nothing of one that waits for something else."""
    if not waits_for_name(newest):
        return ()
    return holders(with_instances(context, look(context, newest.job, script=True)), newest, launch)


def _tell_of_home(context: Context, facts: JobFacts, newest: Attempt, launch: Launch) -> None:
    """Say why another place was asked first than the script says: `facts` are what that was decided by.

    Who has the name there is said of a first launch, if that was seen before it was asked there. Whoever
    launches a job again has heard of it before anything was sent.
    """
    asked, first = {tried.place for tried in newest.tries}, newest.tries[0]
    if why := why_not_home(facts, first, context.policy.placement, newest.created):
        click.echo(f"{first.place} is asked before {launch.place}: {why}", err=True)
        return
    if newest.number > 1 or launch.place in asked:
        return
    at_home = replace(launch, choices=launch.choices[:1])
    seen = with_instances(context, look(context, newest.job, script=True))
    # Without its tries: where it was asked for, the VM of that name is its own.
    for held in holders(seen, replace(newest, tries=()), at_home):
        click.echo(f"{held}: it is launched in {newest.tries[-1].place}", err=True)


def _listed(executor: Executor, facts: JobFacts, launch: Launch) -> JobFacts:
    """The facts with the job's VMs: somebody may have started one meanwhile."""
    if facts.newest is None:
        return facts
    question = Survey(job=facts.job, names=launch.nodes, since=facts.newest.created - CLOCKS_APART)
    return after(facts, question, executor.apply(question)) or facts


@contextmanager
def _letting_go(context: Context, executor: Executor, job: str, tick: Tick) -> Iterator[None]:
    """Whoever goes on with the attempt need not wait until our lease on it is over.

    A request that is under way now is sent again with the same id, so it makes nothing twice.
    """
    try:
        yield
    except KeyboardInterrupt:
        with suppress(UnansweredError, BrokenError, click.ClickException):
            if step := submission.let_go(look(context, job), tick):
                executor.apply(step)
        raise


def _as_stored(launch: Launch, facts: JobFacts) -> Launch:
    """The launch, with the generation that its script has in the bucket now."""
    generation = facts.script.generation if facts.script else 0
    version = launch.script and replace(launch.script, generation=generation)
    return replace(launch, script=version)
