"""Whether what people were told was true, and whether they were told before anything was done."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from spotwarden.model.instance import Status
from spotwarden.model.notice import Notice
from spotwarden.model.policy import Policy
from tests.fakes.fate import is_flexible
from tests.fakes.vms import Vm
from tests.simulation.plane.jobs import CAP, OPS, PlaneJob, violates
from tests.simulation.plane.judged import JudgedWorld
from tests.simulation.plane.mailroom import Arrived
from tests.simulation.plane.taken_back import still_holds
from tests.simulation.plane.waits import not_waiting

if TYPE_CHECKING:
    from tests.simulation.plane.oracle import Oracle

WARNING, ACTED, CLEARED = "_warning", "_acted", "_cleared"
CLOSED = {"stopped", "ended"}
LATE = timedelta(minutes=21)
"""Work that is newer than this may not have been seen: metrics are late, and heartbeats come each 5 min."""
MINUTE = timedelta(minutes=1)
GIVEN_UP = "its owner was told that it is given up"
MOMENT = timedelta(minutes=10)
DEEDS = {"stop": "be stopped", "delete": "be deleted"}
"""What a warning says that will be done."""
FOR_OPS = ("_failing", "quarantined", "blast_radius")
BUSY = 5.0
UP = {Status.PROVISIONING, Status.STAGING, Status.RUNNING}
AT_REST = {Status.TERMINATED, Status.STOPPED, Status.SUSPENDED}


class MailJudge:
    """Judges notices as they are published and mails as they arrive."""

    def __init__(self, world: JudgedWorld, oracle: "Oracle") -> None:
        self._world = world
        self._oracle = oracle
        self._told: set[tuple[str, str]] = set()

    def _job(self, notice: Notice) -> PlaneJob | None:
        return next((job for job in self._world.jobs if job.name == notice.job), None)

    # Whether a VM may go.

    def unwarned(self, job: PlaneJob, vm: Vm, rules: Sequence[str], policy: Policy, call: str) -> str:
        """Why a function must not act on this VM now; "" where its owner was told in time, and rightly."""
        reasons = [why for rule in rules if (why := self._against(job, vm, rule, policy, call))]
        return "" if len(reasons) < len(rules) else "; ".join(reasons) or "no rule may do that"

    def _against(self, job: PlaneJob, vm: Vm, rule: str, policy: Policy, call: str) -> str:
        now = self._world.now()
        mails = [mail for mail in self._world.mailroom.arrived if mail.notice.kind == f"{rule}{WARNING}"]
        promised = [mail for mail in mails if DEEDS[call] in mail.notice.then]
        heard = [mail for mail in promised if mail.to == job.owner or not job.owner or self._for_ops(mail)]
        named = [mail for mail in heard if vm.seen.id in {one.id for one in mail.notice.instances}]
        if not named:
            return f"no {rule} warning of it has arrived"
        due = [mail for mail in named if _in_time(mail, now)]
        if not due:
            return f"no {rule} warning has arrived its grace earlier, or it named a later moment"
        key = due[-1].notice.case
        if key and self._oracle.keeps.get((rule, key.key), now) > now:
            return f"a person keeps it from {rule}"
        if self._world.oracle.policies and policy.rule(rule).remedy.value == "none":
            return f"the policy only tells of {rule}"
        return self._not_so(rule, job, vm, [mail for mail in due if not self._cleared(mail)], policy)

    def _cleared(self, mail: Arrived) -> bool:
        """Whether what it said was taken back since, at the latest when it arrived."""
        return self._followed(mail, CLEARED)

    def _followed(self, mail: Arrived, kind: str) -> bool:
        """Whether a notice of this kind about the same case was written after the mail's."""
        case = mail.notice.case
        # A sweep that slept for longer than a function lives writes of what was so before the mail.
        return any(
            other.kind.endswith(kind)
            and other.case == case
            and at > mail.notice.at
            and other.at >= mail.notice.at
            for at, other in self._oracle.notices.values()
        )

    def _not_so(self, rule: str, job: PlaneJob, vm: Vm, mails: Sequence[Arrived], policy: Policy) -> str:
        """Why what the warnings say does not hold, as the world knows it."""
        if not mails:
            return f"every {rule} warning was taken back"
        # A VM that was stopped as announced, and that somebody has started again, was warned about anew.
        mails = [mail for mail in mails if not self._followed(mail, ACTED)] or mails
        told, now = min(mail.notice.at for mail in mails), self._world.now()
        if rule == "orphan" and job.forged and not job.mute and self._moved(job, now - LATE, now):
            return "only a word that another VM may have written says that it has ended, and it goes on"
        if why := self._measured(rule, job, vm, policy):
            return why
        if job.deceived or job.doubtful:
            return ""
        last = max(mail.notice.at for mail in mails)
        against = {
            "idle": (self._worked(vm, last, now - LATE), "its GPU worked after it was warned"),
            "stall": (self._moved(job, told, now - LATE), "its job made progress after it was warned"),
            "orphan": (
                not job.over and self._oracle.is_newest(job, vm) and not self._oracle.is_replaced(job, vm),
                "its job is open, and it is its newest VM",
            ),
        }
        wrong, why = against.get(rule, (False, ""))
        return why if wrong else ""

    def _measured(self, rule: str, job: PlaneJob, vm: Vm, policy: Policy) -> str:
        """Why what nobody can lie about does not hold: how a VM is made, and how long it has been up."""
        now = self._world.now()
        up = now - (vm.seen.started or self._oracle.began.get(vm.seen.id, now))
        most, longest = policy.instance_cap.max_uptime, policy.job_cap.longest
        job_most = CAP + self._oracle.extended(job)
        job_most = min(job_most, longest) if longest else job_most
        against = {
            "instance_cap": (most is None or up + MINUTE < most, f"it has been up for {up} of {most}"),
            "job_cap": (
                not job.capped or self._oracle.up_for(job) + MINUTE < job_most,
                f"its job has been up for {self._oracle.up_for(job)} of {job_most if job.capped else None}",
            ),
            "compliance": (not violates(vm), "it is as the policy wants it"),
        }
        wrong, why = against.get(rule, (False, ""))
        return why if wrong else ""

    def _worked(self, vm: Vm, since: datetime, until: datetime) -> bool:
        return until > since and self._world.metrics.busy_between(vm.seen.id, since, until, BUSY)

    def _moved(self, job: PlaneJob, since: datetime, until: datetime) -> bool:
        vms = self._oracle.there(job)
        return any(self._world.guests.moved_between(one.seen.id, since, until) for one in vms)

    # Whether what is told is true.

    def published(self, notice: Notice) -> None:
        """Hold a notice against the world as it is written."""
        job = self._job(notice)
        if notice.kind.endswith((WARNING, ACTED, CLEARED)):
            self._of_case(notice, job)
        elif notice.kind in {"recovered", "launched", "moved"}:
            self._runs(notice, job)
        elif notice.kind == "name_taken":
            for vm_id in self._world.mine.keys() & set(notice.evidence.values()):
                self._false(notice, f"{vm_id} is a VM of a job")
        elif notice.kind == "node_removed":
            self._without(notice, job)
        elif notice.kind == "gave_up" and job and not job.over:
            self._world.close(job, GIVEN_UP)
        elif job and (why := self._of_job(notice, job)):
            self._false(notice, why)

    def _of_job(self, notice: Notice, job: PlaneJob) -> str:
        """What is not true of what a notice says of a job as a whole; "" for nothing."""
        if notice.kind == "waits_for_room" and not job.doubtful:
            return not_waiting(notice, job, self._world)
        if notice.kind == "script_differs" and not job.version:
            return "its owner has stored no other script"
        if notice.kind in CLOSED and not self._may_be_over(job):
            return f"nobody has stopped {job.name}, and it has not ended"
        if notice.kind in {"not_recoverable", "end_doubted"} and not self._was_taken(job):
            return f"Compute Engine has taken nothing of {job.name}"
        return ""

    def _of_case(self, notice: Notice, job: PlaneJob | None) -> None:
        if notice.kind.endswith(WARNING):
            self._warning(notice, job)
        elif notice.kind.endswith(ACTED):
            self._acted(notice)
        elif job and (why := still_holds(notice, job, self._world, self._oracle)):
            self._false(notice, why)

    def _ended(self, vm: Vm, otherwise: datetime) -> datetime:
        """When it went; one that was started since then is going for another reason."""
        ended = self._oracle.ended.get(vm.seen.id, otherwise)
        return otherwise if _started(vm, ended) > ended else ended

    def _without(self, notice: Notice, job: PlaneJob | None) -> None:
        """A gang goes on without nodes of its own, which have not run for a while."""
        for vm_id in notice.evidence.values():
            vm = self._oracle.seen.get(vm_id)
            if vm is None or self._world.mine.get(vm_id) is not job:
                self._false(notice, f"{vm_id} is no VM of {notice.job}")
            elif vm.seen.status is Status.RUNNING and _started(vm, notice.at) < notice.at - MOMENT:
                self._false(notice, f"{vm.seen.name} {vm_id[-4:]} runs on")

    def _may_be_over(self, job: PlaneJob) -> bool:
        """Whether it is over, or was until a moment ago: a sweep tells of what it has read."""
        heard = MOMENT + self._world.compute.lag
        opened = job.said is not None and self._world.now() - self._first_look(job.said) < heard
        return bool(job.over) or job.doubtful or job.told_by_person or opened

    def _first_look(self, since: datetime) -> datetime:
        """When a tick of recovery first came after that moment: until then nobody could hear of it."""
        return min((at for at in self._oracle.ticks if at >= since), default=self._world.now())

    def _false(self, notice: Notice, why: str) -> None:
        self._oracle.fault(f"the notice {notice.id} ({notice.what}) is not true: {why}")

    def _was_taken(self, job: PlaneJob) -> bool:
        lost = self._oracle.lost
        return job.hurt or job.doubtful or any(self._world.mine.get(vm_id) is job for vm_id in lost)

    def _warning(self, notice: Notice, job: PlaneJob | None) -> None:
        """A warning names VMs of the job that are there, and a moment that is still to come."""
        for target in notice.instances:
            vm = self._oracle.seen.get(target.id)
            if vm is None or (target.id not in self._world.mine and notice.due is not None):
                self._false(notice, f"{target.name} is no VM of a job, and something is to be done to it")
        grace = notice.grace if notice.latest is None else None
        if notice.due is not None and grace is not None and notice.due < notice.at + grace - MINUTE:
            self._false(notice, "it leaves less time than the grace")
        rule = notice.kind.removesuffix(WARNING)
        open_still = job is not None and not (job.over or job.doubtful)
        if job and (rule != "orphan" or open_still) and (waits := self._waiting(notice)):
            self._false(notice, f"{waits} waits for room, and has not run")
        if job is None or job.deceived or job.doubtful:
            return
        if why := self._untrue(rule, notice, job):
            self._false(notice, why)

    def _waiting(self, notice: Notice) -> str:
        vms = (self._oracle.seen.get(target.id) for target in notice.instances)
        return ", ".join(vm.seen.name for vm in vms if vm and vm.seen.status is Status.PENDING)

    def _untrue(self, rule: str, notice: Notice, job: PlaneJob) -> str:
        now = self._world.now()
        vms = [vm for target in notice.instances if (vm := self._oracle.seen.get(target.id))]
        # Thirty minutes without work by a clock that may be a minute ahead.
        if rule == "idle" and any(self._worked(vm, now - LATE - 8 * MINUTE, now - LATE) for vm in vms):
            return "its GPU worked until just before"
        if rule == "stall" and self._moved(job, now - LATE - 9 * MINUTE, now - LATE):
            return "its job made progress until just before"
        if rule == "orphan" and not job.over and any(self._oracle.is_newest(job, vm) for vm in vms):
            return "its job is open, and it is its newest VM"
        if rule == "compliance" and not any(violates(vm) for vm in vms):
            return "the VM is as the policy wants it"
        return ""

    def _acted(self, notice: Notice) -> None:
        """What we say that we did, we did."""
        done = {removal.vm: removal.at for removal in self._oracle.removals}
        if "may have removed it" in notice.what or "gone before it could be stopped" in notice.what:
            there = [vm for target in notice.instances if (vm := self._oracle.seen.get(target.id))]
            if any(vm.seen.status is Status.RUNNING for vm in there):
                self._false(notice, "it runs")
            return
        for target in notice.instances:
            vm = self._oracle.seen.get(target.id)
            if target.id not in done and target.id.isdecimal():
                self._false(notice, f"we did nothing to {target.name} {target.id[-4:]}")
            elif vm and vm.seen.status is Status.RUNNING and _started(vm, notice.at) <= done[target.id]:
                self._false(notice, f"{target.name} {target.id[-4:]} runs on")

    def _runs(self, notice: Notice, job: PlaneJob | None) -> None:
        """The VMs of which it is said that they run are the job's, and have run there."""
        ids = [one for one in notice.evidence.get("instance_id", "").split(", ") if one]
        if not ids:
            self._false(notice, "it names no VM")
        for vm_id in ids:
            vm = self._oracle.seen.get(vm_id)
            if vm is None or self._world.mine.get(vm_id) is not job:
                self._false(notice, f"{vm_id} is no VM of {notice.job}")
            elif _said_gone(notice, vm.seen.name):
                continue
            elif is_flexible(vm.body) and vm_id not in self._oracle.began:
                self._false(notice, f"{vm.seen.name} {vm_id[-4:]} waits for room, and has not run")
            elif notice.at - self._ended(vm, notice.at) > MOMENT and vm.seen.status not in UP:
                self._false(notice, f"{vm.seen.name} {vm_id[-4:]} has run no more for long")
            elif not vm.seen.zone.startswith(notice.evidence.get("zone", "")):
                self._false(notice, f"{vm.seen.name} is in {vm.seen.zone}")

    def arrived(self, mail: Arrived) -> None:
        """Hold a mail against what it tells of, and to whom."""
        notice, job = mail.notice, self._job(mail.notice)
        if notice.due is not None:
            if mail.alone and f"{notice.due:%H:%M}" not in mail.text:
                self._untold(mail, f"it does not say {notice.due:%H:%M}")
            soonest = mail.at + notice.grace - MINUTE if notice.grace else notice.due
            if notice.due < min(soonest, notice.latest or soonest).replace(second=0, microsecond=0):
                self._untold(mail, f"it comes at {mail.at:%H:%M} and says {notice.due:%H:%M}")
        if job is not None and notice.job not in mail.text:
            self._untold(mail, "it does not name the job")
        if (notice.id, mail.to) in self._told and "may already have this message" not in mail.text:
            self._untold(mail, f"{notice.id} was told to {mail.to} before")
        self._told.add((notice.id, mail.to))
        if job is not None and job.owner and mail.to == OPS and not self._for_ops(mail):
            self._untold(mail, f"it is {job.owner} who should hear of {job.name}")
        people = {OPS, *([job.owner] if job and job.owner else [])}
        if job is not None and mail.to not in people:
            self._untold(mail, f"it went to {mail.to}, who is not asked about {job.name}")

    def _for_ops(self, mail: Arrived) -> bool:
        return mail.notice.owner == OPS or mail.notice.kind.endswith(FOR_OPS) or "instead of" in mail.text

    def _untold(self, mail: Arrived, why: str) -> None:
        self._oracle.fault(f"the mail {mail.subject!r}: {why}")


def _started(vm: Vm, otherwise: datetime) -> datetime:
    """When it last began to run."""
    return vm.seen.started or otherwise


def _said_gone(notice: Notice, name: str) -> bool:
    """Whether it says itself that this VM is gone again."""
    lost = notice.what.partition("; ")[2]
    return "gone again" in lost and (name in lost or "its " in lost)


def _in_time(mail: Arrived, now: datetime) -> bool:
    """Whether its grace is over, and the moment that it names, by a clock that may be a minute off."""
    notice, now = mail.notice, now + MINUTE
    return notice.due is not None and notice.due <= now and mail.at + (notice.grace or timedelta(0)) <= now
