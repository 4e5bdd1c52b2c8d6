"""A planned move: the next attempt of a job that runs, asked for in one place, while its VM goes on.

Where the place refuses, the job stays where it is, as that attempt. So it does where its VM is gone before
the place was asked: who took it must be known before anything is launched.
"""

from msgspec.structs import replace

from spotwarden.model.action import KeepWatch, Step, Survey, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState, Lease, Recorded, Try, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.ladder import VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.folder.lifecycle import AttemptEvent, follow
from spotwarden.recovery.kinds.bounds import MOVED
from spotwarden.recovery.kinds.machines import lost_on, machine_key
from spotwarden.recovery.observed.fates import alive
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.places.choosing import Choosing
from spotwarden.recovery.places.handover import asks_for_notice
from spotwarden.recovery.places.moving import CheaperPlace, destination, model_of
from spotwarden.recovery.requests.launching import request_id
from spotwarden.recovery.requests.second_name import other_name, second_name, with_second_names


def move(facts: JobFacts, policy: Policy, tick: Tick) -> Step | None:
    """The next step of moving a job that runs; None where it stays.

    That it is moving stands in the list of open jobs first: so many may be at a time.
    """
    target = destination(facts, policy, tick)
    if target is None or facts.newest is None or facts.watched is None:
        return None
    if not facts.surveyed:
        # What this sweep has seen may be a minute old: its owner may have stopped the job since.
        # Somebody else's VM may have the name that the job's second one would have.
        names = with_second_names(facts, (*facts.newest.instances, *map(second_name, facts.newest.instances)))
        return Survey(job=facts.job, names=names, since=tick.now - CLOCKS_APART)
    watch, number = facts.watched.watch, facts.newest.number + 1
    if not watch.moving:
        moving = replace(watch, moving=True)
        generation = facts.watched.generation
        return KeepWatch(reason="the job is moved", job=facts.job, watch=moving, generation=generation)
    record = _record(facts, facts.newest, target, policy, tick)
    return WriteAttempt(
        reason=f"{record.planned}: attempt {number} asks {target.place}",
        record=record,
        generation=0,
        after=facts.head,
    )


def _record(facts: JobFacts, newest: Attempt, target: CheaperPlace, policy: Policy, tick: Tick) -> Attempt:
    """Claim and first try in one: it is asked for under its lease, or by whoever takes that over."""
    launch, number = facts.launch, newest.number + 1
    ladder = bool(newest.tries and newest.tries[-1].model)
    old = next(item for item in facts.instances if item.id in newest.instances.values())
    here = old.zone
    model = VmModel.SPOT if ladder else None
    asked = Choosing(place=target.place, kind=TryKind.CREATE, spot=True, model=model)
    trying = Try(
        place=target.place,
        request_id=request_id(facts.job, number, target.place, 1),
        at=tick.now,
        model=model,
        notice=asks_for_notice(facts, newest, asked, policy.recovery, tick.now),
        vm=other_name(old) if target.place == here else "",
    )
    why = f"spot in {target.place} costs ${target.price:.2f} an hour, {_kind(newest, launch)} in {here}"
    why = f"{why} ${target.paid:.2f}"
    return Attempt(
        job=facts.job,
        number=number,
        state=AttemptState.PLACING,
        created=tick.now,
        updated=tick.now,
        reason=why,
        planned=why,
        lease=Lease(holder=tick.sweep, until=tick.now + policy.recovery.lease),
        tries=(trying,),
        replaces=newest.instances,
        owner=facts.owner,
        lost=tick.now,
        lost_in=here,
        fate=MOVED,
        early=True,
        script=launch.script if isinstance(launch, Launch) else None,
        machine=machine_key(launch) if isinstance(launch, Launch) else "",
        gpus=launch.gpus if isinstance(launch, Launch) else 0,
    )


def _kind(newest: Attempt, launch: object) -> str:
    model = model_of(newest, launch) if isinstance(launch, Launch) else VmModel.STANDARD
    return "on-demand" if model is VmModel.STANDARD else model.value


def stays(attempt: Attempt) -> bool:
    """Whether a refusal ends the attempt: of a move, also where the VM that it moves from was lost meanwhile.

    Then that one is judged as any other that is lost, by its own attempt's record.
    """
    return bool(attempt.planned)


def is_beside(facts: JobFacts, attempt: Attempt) -> bool:
    """Whether all that the attempt is to replace is alive; the instances were listed a moment ago."""
    running = {instance.id for instance in facts.instances if alive(instance)}
    return bool(attempt.replaces) and set(attempt.replaces.values()) <= running


def stay(facts: JobFacts, refused: Recorded, tick: Tick) -> WriteAttempt:
    """Go on where the job runs, as the attempt that was to move it: nothing was made for it."""
    attempt = refused.attempt
    before = facts.ledger[-2].attempt if len(facts.ledger) > 1 else attempt
    last = before.tries[-1] if before.tries else None
    kept = Try(
        place=attempt.lost_in,
        request_id="",
        at=tick.now,
        kind=TryKind.KEEP,
        spot=last.spot if last else True,
        turn=attempt.tries[-1].turn + 1,
        model=last.model if last else None,
        machine=lost_on(before),
    )
    running = replace(
        attempt,
        state=follow(attempt.state, AttemptEvent.STAY),
        tries=(*attempt.tries, kept),
        instances=attempt.replaces,
        started=tick.now,
        lease=None,
        updated=tick.now,
    )
    why = "refused" if attempt.tries[-1].error else "was not asked"
    reason = f"{attempt.tries[-1].place} {why}: the job stays in {attempt.lost_in}"
    return WriteAttempt(reason=reason, record=running, generation=refused.generation)
