"""The VM of an earlier attempt that a person starts while the newest attempt's own one is down."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.launch import Launch
from spotwarden.recovery.observed.fates import alive, cause_of
from spotwarden.recovery.observed.reopening import is_persons_start


class LostAgain(msgspec.Struct, frozen=True, kw_only=True):
    """A VM of an earlier attempt that a person has started, and that is down again."""

    started: datetime
    node: str
    instance_id: str


def older_started(facts: JobFacts) -> dict[str, Instance]:
    """The VM of an earlier attempt that was started again since, where the newest attempt's own one is down.

    Nobody but a person does that. No second VM is made beside it, so the job goes on there.
    """
    newest = _down(facts)
    if newest is None or newest.started is None:
        return {}
    past, began = _past(facts, newest), newest.started
    return {
        instance.name: instance
        for instance in facts.instances
        if instance.id in past and alive(instance) and instance.started and instance.started > began
    }


def older_lost(facts: JobFacts) -> LostAgain | None:
    """Such a VM that no sweep has seen run: it was lost before, so what befell it is the job's fate.

    By the log alone a person may have started it beside the newest attempt's own one, or before that began.
    It counts only from that one's end on, which the log has to tell, too.
    """
    newest = _down(facts)
    ended = _ended(facts, newest) if newest else None
    if newest is None or ended is None:
        return None
    started = [found for found in _starts(facts, _past(facts, newest)) if found.started > ended]
    return max(started, key=lambda found: found.started, default=None)


def _down(facts: JobFacts) -> Attempt | None:
    """The newest attempt of a single VM which had begun to run, where nothing of it does any more."""
    newest = facts.newest
    gang = isinstance(facts.launch, Launch) and facts.launch.gang
    if newest is None or newest.state is not AttemptState.RUNNING or newest.started is None:
        return None
    own = newest.instances.values()
    if gang or facts.unsure or any(item.id in own and alive(item) for item in facts.instances):
        return None
    return newest


def _past(facts: JobFacts, newest: Attempt) -> set[str]:
    """The ids of the attempts before."""
    past = {name for fact in facts.ledger[:-1] for name in fact.attempt.instances.values()}
    return past - {*newest.instances.values()}


def _ended(facts: JobFacts, newest: Attempt) -> datetime | None:
    """When the last of its VMs ended, by the log; None where that does not tell of each."""
    nodes = {node.instance_id: node for node in facts.nodes}
    own = [nodes.get(name) for name in newest.instances.values()]
    causes = [cause_of(node) if node else None for node in own]
    moments = [cause.at if cause else None for cause in causes]
    return max((at for at in moments if at), default=None) if all(moments) else None


def _starts(facts: JobFacts, past: set[str]) -> Iterator[LostAgain]:
    for node in facts.outlived:
        if node.instance_id in past:
            for operation in filter(is_persons_start, node.history):
                if operation.at is not None:
                    yield LostAgain(started=operation.at, node=node.node, instance_id=node.instance_id)
