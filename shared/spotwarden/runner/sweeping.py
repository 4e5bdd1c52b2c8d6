"""A sweep over jobs: look, decide, apply, each job by itself; what decides is handed in."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from spotwarden.model.action import Action, Outcome, Quarantine, Step, Tell, Wait
from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.marker import UnusableMarker
from spotwarden.model.placement import News
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from spotwarden.runner.advance import advance
from spotwarden.runner.apply import Applier
from spotwarden.runner.each import Swept, each, swept
from spotwarden.runner.gather import gather
from spotwarden.runner.places import Learn, Places
from spotwarden.runner.ran import read_what_ran
from spotwarden.runner.settings import Settings


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The pure functions that decide."""

    set_aside: Callable[[UnusableMarker], Iterable[Tell | Quarantine]]
    launch: Callable[[JobFacts], JobFacts]
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
        applier = Applier(cloud, settings.layout, policy, tick)
        places = Places(cloud, settings.layout, policy, tick)
        return cls(cloud=cloud, settings=settings, tick=tick, applier=applier, places=places)


def sweep_jobs(work: Work, rules: Rules) -> Swept:
    """Sweep over every job that needs a look; one bad marker or job never stops the others."""
    settings, apply = work.settings, work.applier.apply
    seen = gather(work.cloud, settings.layout, work.tick, settings.workers)
    if seen.busy:
        return swept([Wait(reason="another sweep looks at everything")], ())
    aside: Iterable[Action] = (one for marker in seen.unusable for one in rules.set_aside(marker))
    put_aside = each(aside, apply)  # type: ignore[arg-type]
    moved = each(seen.jobs, lambda look: _bring_back(work, rules, look()), settings.workers)
    work.places.remember(work.applier.written, rules.news, rules.learn)
    seen.done()
    return swept(moved.results, (*put_aside.failures, *moved.failures))


def _bring_back(work: Work, rules: Rules, facts: JobFacts) -> Wait | None:
    facts = know(work, rules, facts)
    return advance(facts, next_step=rules.next_step, after=rules.after, apply=work.applier.apply)


def know(work: Work, rules: Rules, facts: JobFacts) -> JobFacts:
    """The facts with how the job can be launched, and where."""
    facts = rules.launch(facts)
    if not isinstance(facts.launch, Launch):
        facts = rules.ran(facts, read_what_ran(work.cloud.store, work.settings.layout, facts))
    return rules.places(work.places.recall(facts))
