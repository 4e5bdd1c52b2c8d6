"""Stop a whole job: its ledger is closed first, so that nothing brings it back, then its VMs go."""

from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from msgspec.structs import replace

from spotwarden.model.action import Change, DeleteInstance, StopInstance, WriteAttempt
from spotwarden.model.attempt import CLOSED, Attempt, AttemptState, Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Status
from spotwarden.model.policy import Policy
from spotwarden.model.slice_action import DeleteGroup
from spotwarden.model.slices import SliceGroup
from spotwarden.model.spans import moment
from spotwarden.notify.links.reply import AnswerVerdict, OfferFacts, OfferStanding
from spotwarden.notify.links.standing import NOT_FOUND, asked, barred, names, settled
from spotwarden.notify.links.stopping import IN_TIME, reason
from spotwarden.recovery.instances.removal import asked_for
from spotwarden.recovery.observed.fates import GOING, KEPT, alive
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.requests.launching import stop_id
from spotwarden.recovery.requests.slice_groups import groups_of
from spotwarden.recovery.steps.begun import begun

_HIDDEN = "Compute Engine's list is incomplete ({}): a VM there may run"


def end(
    offer_facts: OfferFacts, policy: Policy, now: datetime, *, delete: bool = False, why: str = ""
) -> AnswerVerdict:
    """What stopping the job, or deleting its VMs, would do; nothing where it is over and nothing runs."""
    facts = offer_facts.job
    if facts is None or not (facts.ledger or facts.instances or facts.script or facts.watched):
        job = offer_facts.offer.job
        says = "No launch of this job is on record, and no VM has its label."
        return barred(
            f"Unknown job {job}",
            says,
            code=NOT_FOUND,
            instead="To list jobs, run:",
            command="spotwarden jobs",
        )
    # A slice is deleted as one: no VM of it is of any use alone, and none of a spot slice can be started.
    group = _group(facts)
    delete = delete or group is not None
    meant = _meant(facts, delete=delete)
    closing = _closing(offer_facts, facts, now, why)
    if not meant and not closing:
        return replace(_over_already(facts), head=_number(facts))
    if offer_facts.scratch and not policy.governance.discard_local_ssd and not delete and meant:
        return barred(
            f"{facts.job} has local SSDs",
            "A stop discards their data, and the policy doesn't allow that (governance.discard_local_ssd)."
            " Nothing was changed.",
            instead="To delete its VMs and discard the data, run:",
            command=f"spotwarden stop {facts.job} --delete",
        )
    head = closing[0].record.number if closing else _number(facts)
    return AnswerVerdict(
        standing=OfferStanding.OPEN,
        title=f"Stop {facts.job}?",
        says=" ".join(
            text
            for text in (
                f"{facts.job} will be closed as stopped, so that nothing restarts it." if closing else "",
                _says(meant, delete=delete) if meant else "None of its VMs is seen running.",
                "It is a TPU slice, which can only be deleted as a whole." if group else "",
            )
            if text
        ),
        notes=_notes(offer_facts, facts, meant, delete=delete),
        steps=(*closing, *_steps(offer_facts, meant, group, now, head, delete=delete)),
        done=_done(facts, meant, closed=bool(closing), delete=delete),
        head=head,
    )


def _number(facts: JobFacts) -> int:
    """The number of the newest record that was read; 0 where there is none."""
    return facts.newest.number if facts.newest else 0


def restarted_since(offer_facts: OfferFacts, closed: int, typed: datetime) -> AnswerVerdict | None:
    """The verdict that a person has asked for the job after the stop, which may have slept: it is let be.

    The stop was typed at `typed` and has written the record number `closed`, 0 for none yet. Within a minute
    clocks can't tell which came first, and the stop goes on.
    """
    newest = offer_facts.job.newest if offer_facts.job else None
    word = asked_for(newest) if newest and newest.state not in CLOSED else None
    if newest is None or word is None:
        return None
    if not (closed and newest.number > closed) and word <= typed + CLOCKS_APART:
        return None
    return barred(
        f"{newest.job} was restarted after this stop",
        f"Attempt {newest.number} was requested at {moment(word)}, and is left alone.",
        instead="To stop it, run:",
        command=f"spotwarden stop {newest.job}",
    )


def _meant(facts: JobFacts, *, delete: bool) -> list[Instance]:
    """Those that run; to be deleted are those that stand still as well."""
    return [
        instance for instance in facts.instances if alive(instance) or (delete and instance.status in KEPT)
    ]


def _closing(offer_facts: OfferFacts, facts: JobFacts, now: datetime, why: str) -> tuple[WriteAttempt, ...]:
    """The next record of the chain, which says that the job is over; none where it is over already."""
    offer = offer_facts.offer
    said = f"stopped by {offer.to}" + (f": {why}" if why else "")
    if number := begun(facts):
        # The record that a launch is about to write: it comes second, and launches nothing.
        return (_record(offer_facts, facts, said, now, number=number),)
    if facts.status_code is not None:
        return ()
    if not facts.ledger:
        # Its VM may be lost already, and no sweep have seen it.
        seen = {**facts.registrations, **{instance.name: instance.id for instance in facts.instances}}
        return (_record(offer_facts, facts, said, now, number=1, instances=seen),)
    newest = facts.ledger[-1].attempt
    if newest.state in CLOSED and not offer_facts.started and not _vanished(facts, newest):
        return ()
    # A job whose VM a person has started again is opened by the next sweep, be that VM gone or not.
    # The record that whoever brings it back would create: one of the two comes second, and starts nothing.
    # Of an attempt under way nobody has written down yet what runs: whoever starts that again opens the job.
    its = [fact for fact in facts.instances if alive(fact) or fact.attempt == newest.number]
    seen = {fact.name: fact.id for fact in sorted(its, key=alive)}
    left = {**newest.replaces, **seen, **newest.instances}
    return (_record(offer_facts, facts, said, now, number=newest.number + 1, replaces=left),)


def _vanished(facts: JobFacts, over: Attempt) -> bool:
    """Whether a VM that stood still as the job was closed is gone.

    Somebody has deleted it, or started it and it was preempted: the log may not tell yet, and in the second
    case the job comes back unless a stop is on record.
    """
    at_rest = {removal.instance_id for removal in over.removed.values() if removal.kind != "delete"}
    return not facts.unsure and not at_rest <= {instance.id for instance in facts.instances}


def _record(offer_facts: OfferFacts, facts: JobFacts, why: str, now: datetime, **ids: Any) -> WriteAttempt:  # noqa: ANN401 — number and ids
    """A new record that says that the job was stopped."""
    blank = Attempt(
        job=facts.job,
        state=AttemptState.STOPPED,
        created=now,
        updated=now,
        reason=why,
        owner=facts.owner,
        **ids,
    )
    return WriteAttempt(reason=asked(offer_facts.offer), record=blank, generation=0, after=facts.head)


def _over_already(facts: JobFacts) -> AnswerVerdict:
    how = f"ended with status {facts.status_code}" if facts.status_code is not None else _closed(facts)
    going = [instance.called for instance in facts.instances if instance.status in GOING]
    more = f", and {names(going)} is stopping" if going else ", and none of its VMs runs"
    if facts.unsure:
        more = f". {_HIDDEN.format(facts.unsure)}"
    says = f"There is nothing to stop: {facts.job} {how}{more}."
    return settled(f"{facts.job} is over", says, done=says)


def _closed(facts: JobFacts) -> str:
    """How it was closed: by whom, or why."""
    newest = facts.ledger[-1].attempt if facts.ledger else None
    if newest is None or not newest.closed:
        return "is closed"
    why = f": {newest.reason}" if newest.reason else ""
    return f"is closed since {moment(newest.updated)}{why}"


def _deleted(meant: list[Instance], *, delete: bool) -> list[Instance]:
    """Those that are deleted: a VM that waits for capacity can't be stopped, and would run later."""
    return [instance for instance in meant if delete or instance.status is Status.PENDING]


def _says(meant: list[Instance], *, delete: bool) -> str:
    gone = _deleted(meant, delete=delete)
    stopped = [instance.called for instance in meant if instance not in gone]
    said = [f"{names(stopped)} will be stopped."] if stopped else []
    why = "" if delete else ", for it waits for capacity and has no data"
    said += [f"{names([instance.called for instance in gone])} will be deleted{why}."] if gone else []
    return " ".join(said)


def _notes(
    offer_facts: OfferFacts, facts: JobFacts, meant: list[Instance], *, delete: bool
) -> tuple[str, ...]:
    notes = []
    if meant and offer_facts.scratch:
        notes.append("The data on their local SSDs is discarded.")
    left = meant if delete else [node for node in meant if node not in _deleted(meant, delete=False)]
    count, each = len(left), offer_facts.gb_kept if delete else offer_facts.gb
    if count and each:
        total = f"{count * each:,} GB of disks"
        if delete:
            notes.append(f"{total} stay and cost money until you delete them.")
        else:
            by = f"`spotwarden stop {facts.job} --delete`"
            notes.append(f"{total} are kept and cost money. {by} deletes the VMs too.")
    if facts.unsure:
        notes.append(f"{_HIDDEN.format(facts.unsure)}.")
    return tuple(notes)


def _done(facts: JobFacts, meant: list[Instance], *, closed: bool, delete: bool) -> str:
    said = [f"{facts.job} is closed as stopped"] if closed else []
    gone = _deleted(meant, delete=delete)
    for verb, some in (("stop", [node for node in meant if node not in gone]), ("delete", gone)):
        named = names([instance.called for instance in some])
        said += [f"Compute Engine was asked to {verb} {named}"] if some else []
    return "; ".join(said)


def _group(facts: JobFacts) -> tuple[Try, SliceGroup] | None:
    """The group of the job's slice that is filled, or may be; None for any other job."""
    found = next(((tried, group) for _, tried, group in groups_of(facts) if group.id), None)
    return found if found and found[0].refused is None else None


def _steps(
    offer_facts: OfferFacts,
    meant: list[Instance],
    group: tuple[Try, SliceGroup] | None,
    now: datetime,
    head: int,
    *,
    delete: bool,
) -> list[Change]:
    """A delete of the slice, whose VMs go with its group; a step for each of all other VMs."""
    if group is None:
        return [_step(offer_facts, node, now, head, delete=delete) for node in meant]
    tried, made = group
    offer = offer_facts.offer
    return [
        DeleteGroup(
            reason=asked(offer),
            job=offer.job,
            zone=tried.place,
            group=made.name,
            group_id=made.id,
            request_id=str(uuid5(NAMESPACE_URL, f"spotwarden/answers/{offer.id}/{made.id}")),
            before=now + IN_TIME,
        )
    ]


def _step(offer_facts: OfferFacts, instance: Instance, now: datetime, head: int, *, delete: bool) -> Change:
    """The same request however often it is asked for by one command."""
    offer = offer_facts.offer
    delete = bool(_deleted([instance], delete=delete))
    request = stop_id(offer.job, head, instance.id, f"{offer.id}/{delete}")
    if delete:
        return DeleteInstance(
            reason=asked(offer),
            job=offer.job,
            attempt=instance.attempt or 0,
            node=instance.name,
            zone=instance.zone,
            instance_id=instance.id,
            request_id=request,
            before=now + IN_TIME,
        )
    return StopInstance(
        reason=reason(offer_facts),
        job=offer.job,
        node=instance.name,
        zone=instance.zone,
        instance_id=instance.id,
        request_id=request,
        before=now + IN_TIME,
        discard_local_ssd=offer_facts.scratch,
    )
