"""From instances that exist to an attempt that runs: ids first, then the news, then the ledger."""

from collections.abc import Mapping

from msgspec.structs import replace

from spotwarden.model.action import Step, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, Recorded, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.launch import Launch
from spotwarden.model.notice import Notice
from spotwarden.model.tick import Tick
from spotwarden.recovery.folder.lifecycle import AttemptEvent, follow
from spotwarden.recovery.folder.registering import registration
from spotwarden.recovery.instances.elastic import in_order, lacking_of
from spotwarden.recovery.kinds.flexible import is_flexible, waiting
from spotwarden.recovery.observed.fates import alive
from spotwarden.recovery.observed.inserts import of_requests
from spotwarden.recovery.observed.reopening import is_persons_start
from spotwarden.recovery.telling import notices


def finish(
    facts: JobFacts,
    newest: Recorded,
    ids: Mapping[str, str],
    tick: Tick,
    event: AttemptEvent = AttemptEvent.CREATED,
) -> Step:
    """The next step of an attempt whose instances are there, by node: it waits for what has no room yet."""
    attempt = newest.attempt
    if is_flexible(facts) and waiting(facts.instances, ids.values()):
        return Wait(reason=f"attempt {attempt.number} waits for capacity (Flex-start)", soon=False)
    for node, instance_id in ids.items():
        if node not in facts.registered:
            reason = f"attempt {attempt.number} is instance {instance_id}"
            return registration(facts, node, instance_id, reason)
    notice = _notice(facts, attempt, ids, tick, event)
    if notice.id not in facts.told:
        return Tell(reason=attempt.reason, notice=notice)
    least = attempt.tries[-1].least if attempt.tries else 0
    running = replace(
        attempt,
        state=follow(attempt.state, event),
        instances=in_order(facts, ids) if least else dict(ids),
        lacking=lacking_of(facts, ids, tick.now) if least else {},
        started=tick.now,
        lease=None,
        not_before=None,
        updated=tick.now,
        registered={node: facts.registered_at.get(node, 0) for node in ids},
    )
    return WriteAttempt(reason="the instances exist", record=running, generation=newest.generation)


def _notice(
    facts: JobFacts, attempt: Attempt, ids: Mapping[str, str], tick: Tick, event: AttemptEvent
) -> Notice:
    """What its owner hears: a move that had to ask elsewhere, or whose VM is gone, was no move any more."""
    gone = _gone(facts, ids)
    if attempt.planned and not gone and len({tried.place for tried in attempt.tries}) == 1:
        return notices.moved(attempt, ids, tick)
    found = _found(facts, attempt, ids) if event is AttemptEvent.REVIVED else ""
    return notices.started(attempt, ids, tick, gone=gone, found=found)


def _found(facts: JobFacts, attempt: Attempt, ids: Mapping[str, str]) -> str:
    """What it runs on that was not asked for: unless anybody has launched or started it, it just came back.

    Compute Engine restarts some VMs by itself; and of a start that the log does not tell yet nothing is said.
    """
    started = {node.instance_id for node in facts.nodes for done in node.history if is_persons_start(done)}
    back = all(name == attempt.replaces.get(node) and name not in started for node, name in ids.items())
    if not back:
        return notices.BY_HAND
    return "the VM that it had before" if len(ids) == 1 else "the VMs that it had before"


def _gone(facts: JobFacts, ids: Mapping[str, str]) -> list[str]:
    """The nodes that Compute Engine, asked a moment ago, does not show alive: they were lost unseen.

    Of one that an incomplete answer does not show at all nobody knows.
    """
    if not facts.surveyed:
        return []
    shown = {instance.id: alive(instance) for instance in facts.instances}
    return sorted(node for node, name in ids.items() if not shown.get(name, bool(facts.unsure)))


def made(facts: JobFacts, attempt: Attempt, *, dead: bool = False) -> dict[str, str]:
    """The instances of the attempt's newest try that are alive, or with `dead` all of them, by node.

    What a failed try has left behind is none of them, even where it bears a name that is missing here.
    """
    mine = (attempt.job, attempt.number, attempt.tries[-1].turn if attempt.tries else 0)
    return {
        instance.name: instance.id
        for instance in facts.instances
        if (instance.job, instance.attempt, instance.turn) == mine and (dead or alive(instance))
    }


def made_and_gone(facts: JobFacts, attempt: Attempt) -> dict[str, str]:
    """The instances of the newest try, with those of them that only the log still tells of, by node."""
    there = {instance.id for instance in (*facts.instances, *facts.namesakes)}
    gone = {node: name for node, name in inserted(facts, attempt).items() if name not in there}
    return {**gone, **made(facts, attempt, dead=True)}


def inserted(facts: JobFacts, attempt: Attempt) -> dict[str, str]:
    """What the log says that the request of the newest try has made, by node."""
    made = of_requests(facts.inserts, {attempt.tries[-1].request_id})
    return {insert.target_name: insert.target_id for insert in made if not insert.error}


def came_of(facts: JobFacts, attempt: Attempt) -> dict[str, str]:
    """What there is of the newest try, whose operation nobody knows any more, by node.

    Of a gang only what is there: in the log an earlier try of the same minute looks the same.
    """
    if attempt.tries[-1].kind is TryKind.START:
        running = {instance.id for instance in facts.instances if alive(instance)}
        return {node: name for node, name in attempt.replaces.items() if name in running}
    gang = isinstance(facts.launch, Launch) and facts.launch.gang
    return made(facts, attempt, dead=True) if gang else made_and_gone(facts, attempt)


def whole(facts: JobFacts, ids: Mapping[str, str], least: int = 0) -> bool:
    """Whether every node of the job is among them; of a gang that bends, `least` of its nodes."""
    if isinstance(facts.launch, Launch) and facts.launch.gang:
        if least:
            return len(set(facts.launch.nodes) & set(ids)) >= least
        return set(facts.launch.nodes) <= set(ids)
    return bool(ids)


def revived(facts: JobFacts, attempt: Attempt) -> dict[str, str]:
    """Instances that run although we have not started them yet: their developer did, by hand.

    Of a gang only all of its nodes count: half of the old one running is what a loss looks like, and half
    of a new one is still being launched.
    """
    if attempt.early:
        return {}
    if not isinstance(facts.launch, Launch) or not facts.launch.gang:
        return {
            instance.name: instance.id
            for instance in facts.instances
            if alive(instance) and _by_hand(facts, instance, attempt)
        }
    running = {instance.id for instance in facts.instances if alive(instance)}
    old = {node: name for node, name in sorted(_past(facts, attempt)) if name in running}
    new = {item.name: item.id for item in launched_anew(facts, attempt)}
    return next((ids for ids in (new, old) if whole(facts, ids)), {})


def revived_instead(facts: JobFacts, attempt: Attempt) -> dict[str, str]:
    """What runs by a person's hand where the newest try is to be sent: what that try starts is its own."""
    again = revived(facts, attempt)
    asked = attempt.replaces.values() if attempt.tries[-1].kind is TryKind.START else ()
    return {} if set(asked) & {*again.values()} else again


def started_beside(facts: JobFacts, attempt: Attempt) -> list[Instance]:
    """A gang's earlier nodes that somebody has started since its owner asked for this attempt.

    A preemption's survivors, which go before the gang is made anew, have run since before the claim.
    """
    gang = isinstance(facts.launch, Launch) and facts.launch.gang
    if not gang or attempt.lost is not None:
        return []
    past = _past(facts, attempt)
    return [
        instance
        for instance in facts.instances
        if alive(instance)
        and (instance.name, instance.id) in past
        and instance.started is not None
        and instance.started >= attempt.created
    ]


def launched_anew(facts: JobFacts, attempt: Attempt) -> list[Instance]:
    """Instances under the names of a gang's nodes that its developer has launched beside the old ones."""
    old = set(attempt.replaces.values())
    names = facts.launch.nodes if isinstance(facts.launch, Launch) and facts.launch.gang else ()
    return [
        instance
        for instance in facts.instances
        if instance.name in names and instance.job is None and alive(instance) and instance.id not in old
    ]


def _by_hand(facts: JobFacts, instance: Instance, attempt: Attempt) -> bool:
    """Started again under its old id, or launched anew under the node's name without our labels."""
    past = _past(facts, attempt)
    if instance.job is None:
        return instance.name in {node for node, _ in past}
    mine = (instance.name, instance.id)
    since = attempt.lost is not None and instance.started is not None and instance.started > attempt.lost
    return instance.job == attempt.job and (mine in past or (since and mine in _before(facts, attempt)))


def _past(facts: JobFacts, attempt: Attempt) -> set[tuple[str, str]]:
    """The nodes and ids that the attempt stands in for: where a person asked for it, all that there were."""
    stood_for = set(attempt.replaces.items())
    return stood_for if attempt.lost is not None else stood_for | _before(facts, attempt)


def _before(facts: JobFacts, attempt: Attempt) -> set[tuple[str, str]]:
    """The nodes and ids of all attempts before it, whose VMs may still be there, stopped."""
    before = (recorded.attempt for recorded in facts.ledger if recorded.attempt.number < attempt.number)
    return {pair for old in before for pair in old.instances.items()}
