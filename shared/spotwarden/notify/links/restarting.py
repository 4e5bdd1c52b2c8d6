"""Start again: the next attempt of a job that is over is claimed; the ticks of recovery carry it on."""

from datetime import datetime
from hashlib import sha256

from msgspec.structs import replace

from spotwarden.model.action import Change, KeepWatch, WriteAttempt
from spotwarden.model.attempt import CLOSED, Attempt, AttemptState, Script
from spotwarden.model.facts import JobFacts
from spotwarden.model.governance import Mode
from spotwarden.model.instance import Instance, Status
from spotwarden.model.offer import Offer
from spotwarden.model.policy import Policy
from spotwarden.model.spans import moment
from spotwarden.model.watch import Watch
from spotwarden.notify.links.reply import AnswerVerdict, OfferFacts, OfferStanding
from spotwarden.notify.links.standing import NOT_FOUND, SILENT, asked, barred, names, settled
from spotwarden.recovery.attempts import IN_FLIGHT
from spotwarden.recovery.folder.chain import told
from spotwarden.recovery.folder.standing import is_broken
from spotwarden.recovery.kinds.bounds import SHORTEST_RUN, time_left
from spotwarden.recovery.observed.fates import GOING, KEPT, alive
from spotwarden.recovery.steps.begun import begin, reopen
from spotwarden.recovery.submission import ask_again, unplaced


def restart(offer_facts: OfferFacts, policy: Policy, now: datetime) -> AnswerVerdict:
    """What starting the job again would do; nothing where it runs, or cannot."""
    offer, facts = offer_facts.offer, offer_facts.job
    if facts is None or not facts.ledger:
        return barred(
            f"Unknown job {offer.job}",
            "No launch of this job is on record, so there is nothing to restart.",
            code=NOT_FOUND,
            instead="To launch it, run:",
            command=f"spotwarden submit --job {offer.job} create-instance.sh",
        )
    newest = told([recorded.attempt for recorded in facts.ledger])[-1]
    verdict = (
        _under_way(offer_facts, facts, newest, now)
        or _not_yet(facts, newest)
        or _asleep(facts)
        or _never(facts, newest, offer, policy, now)
    )
    return verdict or _open(offer_facts, facts, newest, now)


def _under_way(
    offer_facts: OfferFacts, facts: JobFacts, newest: Attempt, now: datetime
) -> AnswerVerdict | None:
    """The verdict on a job that runs, or will."""
    job, running = facts.job, [instance for instance in facts.instances if alive(instance)]
    title = f"{job} doesn't need a restart"
    # What was made, and of which nothing runs, may be gone again.
    if newest.state in IN_FLIGHT and facts.status_code is None and (running or not newest.in_line):
        return _in_flight(offer_facts, facts, newest, now)
    if is_broken(newest):
        return None
    if running and _is_left(facts, newest, running):
        return _left_over(facts, newest, running)
    if running:
        says = f"{names([vm.called for vm in running])} already runs."
        return settled(
            title, says, done=f"Nothing was changed: {job} already runs, as attempt {newest.number}"
        )
    return None


def _is_left(facts: JobFacts, newest: Attempt, running: list[Instance]) -> bool:
    """Whether the job is over although VMs of it run, none of which was started since."""
    over = newest.updated if newest.closed else facts.ended
    if over is None:
        return False
    return not any(vm.started is not None and vm.started > over for vm in running)


def _left_over(facts: JobFacts, newest: Attempt, running: list[Instance]) -> AnswerVerdict:
    """The verdict on a job that is over and whose VM still runs: it is not restarted beside that."""
    job, vms = facts.job, names([vm.called for vm in running])
    how = f"ended with status {facts.status_code}" if facts.status_code is not None else "is closed"
    why = f" ({newest.reason})" if newest.closed and newest.reason and facts.status_code is None else ""
    return barred(
        f"{job} is over, and {vms} still runs",
        f"{job} {how}{why}. Nothing was changed.",
        instead="Stop its VM first, then restart it:",
        command=f"spotwarden stop {job}\nspotwarden restart {job}",
    )


def _in_flight(offer_facts: OfferFacts, facts: JobFacts, newest: Attempt, now: datetime) -> AnswerVerdict:
    """The verdict on an attempt under way: recovery's own goes on by this word from now on.

    What anybody has removed before then does not end it. A claim that nobody watches is put on the list.
    """
    job = facts.job
    says = f"Attempt {newest.number} of {job} has already been requested."
    done = f"{job} is starting as attempt {newest.number}"
    asking = ask_again(facts, now)
    unwatched = facts.watched is None and (offer_facts.claimed or asking is not None)
    watch = (_watch(facts),) if unwatched else ()
    if asking is None:
        return replace(settled(f"{job} doesn't need a restart", says, done=done), steps=watch)
    return AnswerVerdict(
        standing=OfferStanding.OPEN,
        title=f"Restart {job}?",
        says=says,
        notes=("It continues even if its VM was stopped or deleted before now.",),
        facts=_facts(facts, newest),
        button="Restart",
        instead="Or run:",
        command=f"spotwarden restart {job}",
        steps=(*watch, asking),
        done=done,
    )


def _not_yet(facts: JobFacts, newest: Attempt) -> AnswerVerdict | None:
    """The verdict on a job that is not over yet, or that is not seen whole."""
    title = f"{facts.job} is not over yet"
    if facts.unsure:
        says = f"Compute Engine's list is incomplete ({facts.unsure}). Nothing was changed."
        return barred(f"We couldn't check {facts.job}", says, code=SILENT, instead="Try again in a minute.")
    if going := [instance for instance in facts.instances if instance.status in GOING]:
        says = f"{names([vm.called for vm in going])} is still being stopped. Nothing was changed."
        return barred(title, says, instead="Try again in a minute.")
    if newest.state not in CLOSED and facts.status_code is None and not is_broken(newest):
        says = "Its VM doesn't run, and recovery is still checking why. Nothing was changed."
        return barred(
            title,
            says,
            instead="Try again in a minute. To see its status, run:",
            command=f"spotwarden show {facts.job}",
        )
    return None


def _asleep(facts: JobFacts) -> AnswerVerdict | None:
    """The verdict on a job with a suspended VM: an attempt beside it would go on from an older state."""
    asleep = [instance for instance in facts.instances if instance.status is Status.SUSPENDED]
    if not asleep:
        return None
    says = f"{names([vm.called for vm in asleep])} is suspended with its memory kept."
    return barred(
        f"{facts.job} is suspended",
        f"{says} Nothing was changed.",
        instead="To continue where it was, resume it. Or delete it and try again.",
        command="\n".join(f"gcloud compute instances resume {vm.called} --zone={vm.zone}" for vm in asleep),
    )


def _never(
    facts: JobFacts, newest: Attempt, offer: Offer, policy: Policy, now: datetime
) -> AnswerVerdict | None:
    """The verdict on a job that must not be started by this link."""
    title = f"{facts.job} was not restarted"
    again = f"spotwarden submit --again --job {facts.job} create-instance.sh"
    if newest.started is not None and newest.started > offer.at:
        says = f"It was restarted after that message, at {moment(newest.started)}, and is over again."
        return barred(title, says, instead="Answer the newest message, or run:", command=again)
    if facts.script is None:
        return barred(
            title, "It has no stored create script.", instead="To launch it again, run:", command=again
        )
    if (cut := unplaced(facts)) is not None:
        says = (
            f"Attempt {cut.number} was interrupted before its files were in place. The stored files"
            " may be from"
            " two launches."
        )
        return barred(title, says, instead="To launch it again with all its files, run:", command=again)
    left = time_left(facts, now)
    if left is not None and left < SHORTEST_RUN:
        says = "It has used up the run time or the budget in its job.toml."
        return barred(title, says, instead=f"Raise it in {facts.job}/metadata/job.toml, then try again.")
    if policy.mode is Mode.OBSERVE:
        says = "This deployment only observes. It starts nothing, even on request."
        return barred(title, says, instead="To start it yourself, run:", command=again)
    return None


def _open(offer_facts: OfferFacts, facts: JobFacts, newest: Attempt, now: datetime) -> AnswerVerdict:
    number = facts.ledger[-1].attempt.number + 1
    last = {**newest.replaces, **newest.instances}
    kept = [
        instance
        for instance in facts.instances
        if instance.status in KEPT and last.get(instance.name) == instance.id
    ]
    return AnswerVerdict(
        standing=OfferStanding.OPEN,
        title=f"Restart {facts.job}?",
        says=f"{facts.job} restarts as attempt {number}, from its stored create script.",
        notes=(*_numbered(newest, number), *_notes(facts, newest, kept)),
        facts=_facts(facts, newest),
        button="Restart",
        instead="Or run:",
        command=f"spotwarden restart {facts.job}",
        steps=_steps(offer_facts, facts, newest, kept, now),
        done=f"{facts.job} restarts: attempt {number} is on record",
    )


def _numbered(newest: Attempt, number: int) -> list[str]:
    """Why the number is not the next one after that of the newest attempt, where a stop has taken that."""
    stops = ", ".join(map(str, range(newest.number + 1, number)))
    return [f"Its stop took the number {stops}: numbers count attempts and stops."] if stops else []


def _notes(facts: JobFacts, newest: Attempt, kept: list[Instance]) -> list[str]:
    notes = []
    if is_broken(newest):
        notes.append("What is left of its TPU slice is deleted first, then all of it is created again.")
    if facts.status_code is not None:
        notes.append(f"It ended with status {facts.status_code}. That status is removed first.")
    if len(kept) == 1:
        notes.append(f"Its stopped VM {kept[0].called} is started again with its disks.")
    if len(kept) > 1:
        notes.append(
            f"Its stopped VMs {names([recorded.called for recorded in kept])} are deleted first, then"
            " created again."
        )
    return [*notes, "It starts within a minute or two. A message tells you when it runs."]


def _facts(facts: JobFacts, newest: Attempt) -> tuple[tuple[str, str], ...]:
    said = {
        "Job": facts.job,
        "Status": f"attempt {newest.number} {newest.state.value}",
        "Why": newest.reason if newest.state in CLOSED else "",
        "Ended": f"with status {facts.status_code}" if facts.status_code is not None else "",
        "Last place": newest.tries[-1].place if newest.tries else "",
        "Checkpoint": facts.progress.checkpoint,
        "Owner": facts.owner,
    }
    return tuple((word, text) for word, text in said.items() if text)


def _steps(
    offer_facts: OfferFacts, facts: JobFacts, newest: Attempt, kept: list[Instance], now: datetime
) -> tuple[Change, ...]:
    """The job goes on the list of open ones first: the ticks find whatever is interrupted after that."""
    offer = offer_facts.offer
    reason = asked(offer)
    record = Attempt(
        job=facts.job,
        number=facts.ledger[-1].attempt.number + 1,
        state=AttemptState.CLAIMED,
        created=now,
        updated=now,
        reason=f"{offer.to} asked for it",
        replaces=newest.wanted if is_broken(newest) else {instance.name: instance.id for instance in kept},
        script=_script(facts),
        owner=newest.owner,
    )
    claim = WriteAttempt(reason=reason, record=record, generation=0, after=facts.head)
    return begin(facts, newest.owner), *reopen(facts, offer_facts.status, reason, now), claim


def _script(facts: JobFacts) -> Script | None:
    if facts.script is None:
        return None
    return Script(generation=facts.script.generation, sha256=sha256(facts.script.text).hexdigest())


def _watch(facts: JobFacts) -> KeepWatch:
    """A new generation of the entry: a sweep that saw the job closed does not take this one off the list."""
    generation = facts.watched.generation if facts.watched else 0
    return KeepWatch(
        reason="the job is open", job=facts.job, watch=Watch(job=facts.job), generation=generation
    )


def stopped_since(first: OfferFacts, now: OfferFacts) -> AnswerVerdict | None:
    """The verdict that somebody has stopped the job while it was being started: that word counts."""
    before = first.job.newest.number if first.job and first.job.newest else 0
    newest = now.job.newest if now.job else None
    if newest is None or newest.number <= before or newest.state is not AttemptState.STOPPED:
        return None
    says = f"Attempt {newest.number} was closed meanwhile: {newest.reason}."
    return barred(f"{newest.job} is not started", says, instead="To start it all the same, try again.")
