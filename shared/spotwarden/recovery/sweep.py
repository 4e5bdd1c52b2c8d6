"""A sweep over jobs: look, decide, apply, each job by itself; what decides is handed in."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from spotwarden.engine.advance import Parked, advance, stopped
from spotwarden.engine.executor import Applier
from spotwarden.engine.fan_out import Each, Swept, each, swept
from spotwarden.engine.metrics import pulse
from spotwarden.engine.settings import Settings
from spotwarden.model.action import Quarantine, Step, Survey, Tell, Wait
from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.marker import UnusableMarker
from spotwarden.model.outcome import Outcome
from spotwarden.model.placement import News
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud, UnansweredError
from spotwarden.recovery.gather import Seen, gather
from spotwarden.recovery.places import Learn, Places
from spotwarden.recovery.ran import read_what_ran
from spotwarden.recovery.surveying import survey_all

BATCH = 250
"""Jobs that share a list; with more the first claims, and their leases, wait too long for the last."""
FIRST_BATCH = 32
"""Fewer share the first list, so that the first requests of a storm are sent at once; then twice as many."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The pure functions that decide."""

    set_aside: Callable[[UnusableMarker], Iterable[Tell | Quarantine]]
    launch: Callable[[JobFacts], JobFacts]
    admit: Callable[[JobFacts], JobFacts]
    ran: Callable[[JobFacts, Mapping[str, Any]], JobFacts]
    places: Callable[[JobFacts], JobFacts]
    next_step: Callable[[JobFacts], Step | None]
    after: Callable[[JobFacts, Step, Outcome], JobFacts | None]
    news: Callable[[Attempt], Iterable[News]]
    learn: Learn


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What one sweep works with."""

    cloud: Cloud
    settings: Settings
    tick: Tick
    applier: Applier
    places: Places

    @classmethod
    def open(cls, cloud: Cloud, settings: Settings, policy: Policy, tick: Tick) -> "Work":
        """Everything for one sweep."""
        pulse().watch(cloud.calls)
        applier = Applier(cloud, settings.layout, policy, tick)
        places = Places(cloud, settings.layout, policy, tick)
        return cls(cloud=cloud, settings=settings, tick=tick, applier=applier, places=places)


def sweep_jobs(work: Work, rules: Rules) -> Swept:
    """Sweep over every job that needs a look; one bad marker or job never stops the others."""
    settings = work.settings
    seen = gather(work.cloud, settings.layout, work.tick, settings.workers)
    if seen.busy:
        # Whoever has the turn looks at this event's marker too, and asks for its own event again.
        return swept([Wait(reason="another sweep looks at everything", soon=False)], ())
    moved = _bring_back_all(work, rules, seen.jobs)
    rest = _rest(work, rules, seen)
    work.places.remember(work.applier.written, rules.news, rules.learn)
    seen.done(_whole(moved) and _whole(rest))
    return swept([*moved.results, *rest.results], (*moved.failures, *rest.failures))


def _rest(work: Work, rules: Rules, seen: Seen) -> Each[Wait]:
    """What no open job's marker says: its jobs first, then what is to be put aside."""
    looked = each([seen.rest], lambda look: look())
    waits, failures = [], list(looked.failures)
    for rest in looked.results:
        moved = _bring_back_all(work, rules, rest.jobs)
        aside: Each[None] = each(rest.unusable, partial(_put_aside, work, rules), work.settings.workers)
        if rest.left:
            waits.append(Wait(reason=f"{rest.left} markers of no open job wait unread", soon=False))
        waits += moved.results
        failures += [*rest.failures, *moved.failures, *aside.failures]
    return Each(waits, failures)


def _put_aside(work: Work, rules: Rules, marker: UnusableMarker) -> None:
    """Tell of it, then move it; where something rises it stays for the next sweep."""
    for action in rules.set_aside(marker):
        work.applier.apply(action)


def _whole(moved: Each[Wait]) -> bool:
    """Whether no job was broken off before what was seen of it could be written down.

    What is broken stays so until somebody mends it, and must not make every sweep read more of the log.
    """
    silent = any(isinstance(one, UnansweredError) for one in moved.failures)
    return not silent and not any(wait.broken_off for wait in moved.results)


def _bring_back_all(work: Work, rules: Rules, looks: Sequence[Callable[[], JobFacts]]) -> Each[Wait]:
    """Take every job as far as it goes, a batch at a time."""
    batches = [_bring_back(work, rules, some) for some in _batches(looks)]
    waits = [wait for done in batches for wait in done.results]
    return Each(waits, [one for done in batches for one in done.failures])


def _batches(looks: Sequence[Callable[[], JobFacts]]) -> Iterator[Sequence[Callable[[], JobFacts]]]:
    size, first = FIRST_BATCH, 0
    while first < len(looks):
        yield looks[first : first + size]
        first, size = first + size, min(2 * size, BATCH)


def _bring_back(work: Work, rules: Rules, looks: Sequence[Callable[[], JobFacts]]) -> Each[Wait]:
    """Those that need a list of instances wait for one that serves the whole batch."""
    workers = work.settings.workers
    go = partial(advance, next_step=rules.next_step, after=rules.after, apply=work.applier.apply, park=True)
    moved = each(looks, lambda look: go(know(work, rules, look())), workers)
    waits: list[Wait] = [one for one in moved.results if isinstance(one, Wait)]
    failures = list(moved.failures)
    while parked := [one for one in moved.results if isinstance(one, Parked)]:
        outcome = survey_all(work.cloud.compute, [one.survey for one in parked])
        moved = each(parked, partial(_go_on, rules, go, outcome), workers)
        waits += [one for one in moved.results if isinstance(one, Wait)]
        failures += moved.failures
    return Each(waits, failures)


def _go_on(
    rules: Rules,
    go: Callable[[JobFacts], Wait | Parked | None],
    outcome: Callable[[Survey], Outcome],
    one: Parked,
) -> Wait | Parked | None:
    seen = outcome(one.survey)
    learnt = rules.after(one.facts, one.survey, seen)
    return stopped(one.facts.job, seen) if learnt is None else go(learnt)


def know(work: Work, rules: Rules, facts: JobFacts) -> JobFacts:
    """The facts with how the job can be launched, and where."""
    facts = rules.admit(rules.launch(facts))
    if not isinstance(facts.launch, Launch):
        facts = rules.admit(rules.ran(facts, read_what_ran(work.cloud.store, work.settings.layout, facts)))
    return rules.places(work.places.recall(facts))
