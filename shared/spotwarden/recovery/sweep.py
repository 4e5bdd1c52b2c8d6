"""A sweep over jobs: gather, decide, apply, each job by itself."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from spotwarden.create_script.request.cache import with_ran
from spotwarden.create_script.request.stored import with_launch
from spotwarden.engine.advance import Parked, advance, stopped
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Each, Swept, each, swept
from spotwarden.engine.kept_objects import KeptObjects
from spotwarden.model.action import Change, ClearMarker, Question, ShareOut, Survey, Wait
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.marker import UnusableMarker
from spotwarden.model.outcome import Done, Outcome, Rejected
from spotwarden.ports import UnansweredError
from spotwarden.recovery.attempts import next_step
from spotwarden.recovery.folder.ran import read_what_ran
from spotwarden.recovery.kinds.admission import admit
from spotwarden.recovery.kinds.allowed import as_allowed, where_allowed
from spotwarden.recovery.kinds.price_file import with_prices
from spotwarden.recovery.look.gather import GatheredJobs, SweepWidth, gather
from spotwarden.recovery.look.sharing import SharedJobs
from spotwarden.recovery.look.surveying import survey_all
from spotwarden.recovery.places.memory import PlaceMemory
from spotwarden.recovery.steps.progress import after
from spotwarden.recovery.telling.quarantine import set_aside

Apply = Callable[[Change | Question], Outcome]
Item = TypeVar("Item")
BATCH = 250
"""Jobs that share a list; with more the first claims, and their leases, wait too long for the last."""
FIRST_BATCH = 32
"""Fewer share the first list, so that the first requests of a storm are sent at once; then twice as many."""
REFUSED_FOR = timedelta(minutes=10)
"""How long no other instance is asked for once that was refused: ops must mend a topic, or a right."""
_REFUSED: GenerationCache[datetime] = GenerationCache()


def sweep(context: SweepContext) -> Swept:
    """Sweep over every job that needs a look; one bad marker or job never stops the others."""
    settings, tick = context.settings, context.tick
    kept = replace(context.cloud, store=KeptObjects(context.cloud.store))
    context = SweepContext.open(kept, settings, context.policy, tick)
    places = PlaceMemory(context.cloud, settings.layout, context.policy, tick, workers=settings.workers)
    limits = context.policy.placement
    width = SweepWidth(settings.workers, settings.share_from, limits.moves if limits.move else 0)
    seen = gather(context.cloud, settings.layout, tick, width, partial(know, context, places))
    if seen.busy:
        # Whoever has the turn looks at this event's marker too, and asks for its own event again.
        return swept([Wait(reason="another sweep is running", soon=False)], ())
    shared = seen.shared if seen.shared and _shared_out(context, seen.shared) else None
    waits, failures = list[Wait](), list[Exception]()
    try:
        # One object of the audit for all of it: what a sweep that is killed has done stands in the records.
        with context.executor.together():
            looks = shared.own if shared else seen.jobs
            for look in (
                partial(_bring_back_all, context, places, looks),
                partial(_rest, context, places, seen),
            ):
                moved = look()
                waits += moved.results
                failures += moved.failures
    except UnansweredError as error:
        failures.append(error)
    places.remember(context.executor.written)
    if shared:
        shared.done()
        waits.append(Wait(reason="other instances of the function check the jobs", soon=shared.soon))
    else:
        seen.done(_whole(Each(waits, failures)))
    return swept(waits, failures)


def _shared_out(context: SweepContext, shared: SharedJobs) -> bool:
    """Whether further instances were asked to look; where nobody can be asked that is not tried for a while.

    Whatever else comes of it: they may have been asked, and this sweep looks at all jobs as well.
    """
    tick, topic = context.tick, context.settings.layout.open_jobs()
    refused = _REFUSED.get(topic, 0)
    if refused is not None and refused <= tick.now < refused + REFUSED_FOR:
        return False
    if not shared.messages:
        return True
    jobs = sum(len(named) for named in shared.messages)
    outcome = context.executor.apply(ShareOut(reason=f"{jobs} jobs at once", messages=shared.messages))
    if isinstance(outcome, Rejected):
        _REFUSED.keep(topic, 0, tick.now)
    return isinstance(outcome, Done)


def _rest(context: SweepContext, places: PlaceMemory, seen: GatheredJobs) -> Each[Wait]:
    """What no open job's marker says: its jobs first, then what is to be put aside."""
    looked = each([seen.rest], lambda look: look())
    waits, failures = [], list(looked.failures)
    for rest in looked.results:
        moved = _bring_back_all(context, places, rest.jobs)
        aside: Each[None] = each(rest.unusable, partial(_put_aside, context), context.settings.workers)
        if rest.left:
            waits.append(Wait(reason=f"{rest.left} markers of no open job wait unread", soon=False))
        waits += moved.results
        failures += [*rest.failures, *moved.failures, *aside.failures]
    return Each(waits, failures)


def _put_aside(context: SweepContext, marker: UnusableMarker) -> None:
    """Tell of it, then move it; where something rises it stays for the next sweep."""
    for action in set_aside(marker, context.tick):
        context.executor.apply(action)


def _whole(moved: Each[Wait]) -> bool:
    """Whether no job was broken off before what was seen of it could be written down.

    What is broken stays so until somebody mends it, and must not make every sweep read more of the log.
    """
    silent = any(isinstance(failure, UnansweredError) for failure in moved.failures)
    return not silent and not any(wait.broken_off for wait in moved.results)


def _bring_back_all(
    context: SweepContext, places: PlaceMemory, looks: Sequence[Callable[[], JobFacts]]
) -> Each[Wait]:
    """Take every job as far as it goes, a batch at a time.

    What a batch has written for later comes after the requests of the next one: an object takes one write a
    second, and nobody waits for that while others are to be asked for.
    """
    waits: Each[Wait] = Each([], [])
    batches, later = _batches(looks), list[Parked]()
    while (some := next(batches, ())) or later:
        done = [_bring_back(context, places, some), _written(context, later)]
        later = [result for moved in done for result in moved.results if isinstance(result, Parked)]
        for moved in done:
            waits.results.extend(result for result in moved.results if isinstance(result, Wait))
            waits.failures.extend(moved.failures)
    return waits


def _batches(looks: Sequence[Callable[[], JobFacts]]) -> Iterator[Sequence[Callable[[], JobFacts]]]:
    size, first = FIRST_BATCH, 0
    while first < len(looks):
        yield looks[first : first + size]
        first, size = first + size, min(2 * size, BATCH)


def _bring_back(
    context: SweepContext, places: PlaceMemory, looks: Sequence[Callable[[], JobFacts]]
) -> Each[Wait | Parked]:
    """Take each as far as it goes, to a write for later at most."""
    moved = _moved(context, looks, lambda apply, look: _go(context, apply, know(context, places, look())))
    return _surveyed(context, moved)


def _written(context: SweepContext, later: Sequence[Parked]) -> Each[Wait | Parked]:
    """Make the writes for later, and go on from there."""

    def write(apply: Apply, parked: Parked) -> Wait | Parked | None:
        return _go_on(context, apply, parked, apply(parked.step))

    return _surveyed(context, _moved(context, later, write))


def _surveyed(context: SweepContext, moved: Each[Wait | Parked]) -> Each[Wait | Parked]:
    """Go on with those that need what is done for many at once: one list of instances, and last one delete.

    Nobody waits for a marker to go while others are to be asked for.
    """
    done: Each[Wait | Parked] = Each([], [])
    markers: list[Parked] = []
    while True:
        done.failures.extend(moved.failures)
        lists: list[Parked] = []
        for result in moved.results:
            step = result.step if isinstance(result, Parked) else None
            if isinstance(result, Parked) and isinstance(step, Survey | ClearMarker):
                (lists if isinstance(step, Survey) else markers).append(result)
            else:
                done.results.append(result)
        if lists:
            moved = _answered(context, lists, _list_for)
        elif markers:
            moved, markers = _answered(context, markers, _clear_for), []
        else:
            return done


def _answered(
    context: SweepContext,
    parked: Sequence[Parked],
    ask: Callable[[SweepContext, Sequence[Parked]], Callable[[Parked], Outcome]],
) -> Each[Wait | Parked]:
    """Go on with each from what is asked, or done, once for all of them."""
    try:
        outcome = ask(context, parked)
    except UnansweredError as error:
        return Each([], [error])
    return _moved(context, parked, lambda apply, job: _go_on(context, apply, job, outcome(job)))


def _list_for(context: SweepContext, parked: Sequence[Parked]) -> Callable[[Parked], Outcome]:
    surveys = {job.facts.job: job.step for job in parked if isinstance(job.step, Survey)}
    seen = survey_all(context.cloud.compute, [*surveys.values()])
    return lambda job: seen(surveys[job.facts.job])


def _clear_for(context: SweepContext, parked: Sequence[Parked]) -> Callable[[Parked], Outcome]:
    clears = {job.facts.job: job.step for job in parked if isinstance(job.step, ClearMarker)}
    cleared = context.executor.clear([*clears.values()])
    return lambda job: cleared(clears[job.facts.job])


def _moved(
    context: SweepContext, items: Sequence[Item], go: Callable[[Apply, Item], Wait | Parked | None]
) -> Each[Wait | Parked]:
    """Take each as far as it goes; of what is done for all of them the audit keeps few objects."""
    moved: Each[Wait | Parked] = Each([], [])
    try:
        with context.executor.together() as apply:
            moved = each(items, partial(go, apply), context.settings.workers)
    except UnansweredError as error:
        moved.failures.append(error)
    return moved


def _go(context: SweepContext, apply: Apply, facts: JobFacts) -> Wait | Parked | None:
    """Take one job as far as it goes, or to its next survey."""
    decide = partial(next_step, policy=context.policy, tick=context.tick)
    return advance(facts, next_step=decide, after=after, apply=apply, park=True)


def _go_on(context: SweepContext, apply: Apply, parked: Parked, seen: Outcome) -> Wait | Parked | None:
    learnt = after(parked.facts, parked.step, seen)
    return stopped(parked.facts.job, seen) if learnt is None else _go(context, apply, learnt)


def know(context: SweepContext, places: PlaceMemory, facts: JobFacts) -> JobFacts:
    """The facts with how the job can be launched, and where."""
    project, policy = context.settings.project, context.policy
    read = with_launch(facts, project, policy.recovery.gcloud_version)
    facts = admit(read, policy.admission, project)
    if not isinstance(facts.launch, Launch):
        ran = read_what_ran(context.cloud.store, context.settings.layout, facts)
        facts = admit(with_ran(replace(facts, fresh=False), ran), policy.admission, project)
    facts = as_allowed(facts, policy, context.tick, project)
    if isinstance(facts.launch, Launch) and facts.launch.nodes != (facts.job,):
        # A gang's nodes have names that were not looked for.
        facts = replace(facts, surveyed=False)
    reached = places.reached(where_allowed(places.recall(facts), policy, context.tick))
    return with_prices(reached, context.settings.prices_file, policy.placement)
