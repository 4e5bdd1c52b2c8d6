"""What the tests of decisions share: ordinary facts, the default policy, a tick, and a walk of steps."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from spotwarden.model.action import LaunchInstances, StartInstance, Step, Survey, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState, Lease, Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instances
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.outcome import Done, Outcome
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.attempts import next_step
from spotwarden.recovery.steps.progress import after
from tests.recovery import facts
from tests.recovery.facts import NOW


@pytest.fixture
def some() -> SimpleNamespace:
    """Builders of ordinary facts."""
    return SimpleNamespace(
        marker=facts.marker,
        instance=facts.instance,
        operation=facts.operation,
        node=facts.node,
        attempt=facts.attempt,
        job=facts.job,
        quiet=facts.quiet,
        gang_job=facts.gang_job,
        watched=facts.watched,
        launch=facts.launch,
        gang=facts.gang,
        surveyed=facts.surveyed,
        ran=facts.ran,
        home=facts.HOME,
    )


@pytest.fixture
def limits() -> RecoveryLimits:
    """The default limits."""
    return RecoveryLimits()


@pytest.fixture
def policy(limits: RecoveryLimits) -> Policy:
    """The default policy, enforced."""
    return Policy(version="test", mode=Mode.ENFORCE, recovery=limits)


@pytest.fixture
def tick() -> Tick:
    """A tick at noon, of the sweep `this-sweep`."""
    return Tick(function="recover_spot", sweep="this-sweep", now=NOW)


@pytest.fixture
def ours() -> Lease:
    """The lease of this very sweep."""
    return Lease(holder="this-sweep", until=NOW + timedelta(minutes=5))


@pytest.fixture
def asked() -> Callable[..., Try]:
    """A try of the script's zone."""

    def build(**said: object) -> Try:
        return replace(Try(place=facts.HOME, request_id="r-1", at=NOW), **said)

    return build


@pytest.fixture
def step(policy: Policy, tick: Tick) -> Callable[[JobFacts], Step | None]:
    """The next step from facts."""
    return lambda known: next_step(known, policy, tick)


@pytest.fixture
def walk(policy: Policy, tick: Tick) -> Callable[..., tuple[list[Step], JobFacts]]:
    """Take steps as a sweep does, until it waits or has nothing to do; gives them, and what is then known.

    An outcome may be given for each type of step; all others are done, a request is accepted, and a
    survey shows what was known before.
    """
    accepted = Done(operation=facts.operation("insert", name="op-2", done=False))

    def go(
        known: JobFacts, answers: dict[type, Outcome] | None = None, *, most: int = 50
    ) -> tuple[list[Step], JobFacts]:
        answers = {LaunchInstances: accepted, StartInstance: accepted, **(answers or {})}
        steps: list[Step] = []
        while (one := next_step(known, policy, tick)) is not None and len(steps) < most:
            steps.append(one)
            if isinstance(one, Wait):
                break
            usual: dict[Any, Any] = {Survey: Done(instances=Instances(items=known.instances))}
            told = usual | answers
            outcome = told.get(type(one), Done(generation=900 + len(steps)))
            learnt = after(known, one, outcome)
            if learnt is None:
                break
            known = learnt
        assert len(steps) < most, steps[-2:]
        return steps, known

    return go


@pytest.fixture
def claim_of(step: Callable[[JobFacts], Step | None]) -> Callable[[JobFacts], Step | None]:
    """The next step once the instances were looked at again, which shows what was known before."""

    def look(known: JobFacts) -> Step | None:
        asked = step(known)
        if not isinstance(asked, Survey):
            return asked
        learnt = after(known, asked, Done(instances=Instances(items=known.instances)))
        return step(learnt) if learnt else None

    return look


@pytest.fixture
def claimed(claim_of: Callable[[JobFacts], Step | None]) -> Callable[[JobFacts], Attempt]:
    """The record with which the next attempt of a job is claimed: with its first try, if that is next."""

    def claim(known: JobFacts) -> Attempt:
        one = claim_of(known)
        assert isinstance(one, WriteAttempt), one
        assert one.record.state in {AttemptState.CLAIMED, AttemptState.PLACING}
        assert (one.generation, one.after) == (0, known.head)
        return one.record

    return claim
