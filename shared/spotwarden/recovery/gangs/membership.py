"""The members of a gang that bends, as the next record of the chain says them to its nodes."""

from collections.abc import Mapping

from spotwarden.model.action import Step, Survey, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.tick import Tick
from spotwarden.recovery.instances.elastic import in_order
from spotwarden.recovery.kinds.machines import machine_key
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.steps.progress import UNANSWERED_AT_MOST
from spotwarden.recovery.telling import gang_notices


def members(facts: JobFacts, attempt: Attempt, ids: Mapping[str, str], tick: Tick) -> Attempt:
    """The next record: the same gang with these members."""
    return Attempt(
        job=attempt.job,
        number=attempt.number + 1,
        state=AttemptState.RUNNING,
        created=tick.now,
        updated=tick.now,
        instances=in_order(facts, ids),
        started=tick.now,
        lost=tick.now,
        owner=facts.owner,
        script=attempt.script,
        # Of what a developer has launched by hand it is not known before.
        machine=attempt.machine or (machine_key(facts.launch) if isinstance(facts.launch, Launch) else ""),
        gpus=attempt.gpus,
        removed=attempt.removed,
        # The place that they are in, and a request whose VMs may still come.
        tries=attempt.tries[-1:],
        bent=True,
        told=attempt.told,
    )


def tell_and_write(facts: JobFacts, changed: Attempt, tick: Tick) -> Step:
    """Tell the owner, then write the record down that the members read."""
    notice = gang_notices.bent(facts, changed, tick)
    if notice.id not in facts.told:
        return Tell(reason=changed.reason, notice=notice)
    return WriteAttempt(reason=changed.reason, record=changed, generation=0, after=facts.head)


def survey(facts: JobFacts, attempt: Attempt) -> Survey | Wait:
    """A list of the gang's instances that is newer than its record."""
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return Wait(reason="Compute Engine does not answer")
    names = {*(facts.launch.nodes if isinstance(facts.launch, Launch) else ()), *attempt.instances}
    names |= attempt.removed.keys()
    asked = attempt.tries[-1].at if attempt.tries else attempt.created
    return Survey(job=facts.job, names=tuple(sorted(names)), since=asked - CLOCKS_APART)
