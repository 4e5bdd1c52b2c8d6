"""What people are told, in words."""

from collections.abc import Mapping, Sequence

from spotwarden.model.attempt import Attempt, AttemptState, Removal, Try
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.ladder import VmModel
from spotwarden.model.marker import UnusableMarker
from spotwarden.model.notice import Notice, Severity, Way
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.kinds.machines import on_machine
from spotwarden.recovery.observed.ended_by import DONE, NAMED

BY_HAND = "a VM started by hand"


def started(
    attempt: Attempt, ids: Mapping[str, str], tick: Tick, *, gone: Sequence[str] = (), found: str = ""
) -> Notice:
    """Say that a job is back, or launched, perhaps on VMs that it has `found`, and which are `gone` again."""
    again = attempt.number > 1
    last = attempt.tries[-1] if attempt.tries and not found else None
    place = last.place if last else ""
    where = f" in {place}{on_machine(last)}{_kind_of(last)}" if last and place else f" on {found or BY_HAND}"
    runs = "ran" if len(gone) == len(ids) else "runs"
    lost = f"; {_its_vm(gone, ids)} gone again" if gone else ""
    return Notice(
        id=f"started/{attempt.job}/{attempt.number}",
        kind="recovered" if again else "launched",
        severity=Severity.INFO,
        job=attempt.job,
        at=tick.now,
        what=f"{attempt.job} {runs} {'again ' if again else ''}as attempt {attempt.number}{where}{lost}",
        why=attempt.reason,
        owner=attempt.owner,
        evidence={"instance_id": ", ".join(ids.values()), "zone": place, "attempt": str(attempt.number)},
    )


def moved(attempt: Attempt, ids: Mapping[str, str], tick: Tick) -> Notice:
    """Say that a job that ran goes on where it costs less, what it costs, and how to keep it where it is."""
    place = attempt.tries[-1].place
    goes = f"returns to spot in {place}" if place == attempt.lost_in else f"moves to {place}"
    return Notice(
        id=f"started/{attempt.job}/{attempt.number}",
        kind="moved",
        severity=Severity.INFO,
        job=attempt.job,
        at=tick.now,
        what=f"{attempt.job} {goes} as attempt {attempt.number}",
        why=attempt.planned,
        then=f"its VM in {attempt.lost_in} hands over and deletes itself",
        todo="no action needed. To keep the job where it runs, set move = false in"
        f" {attempt.job}/metadata/job.toml",
        owner=attempt.owner,
        evidence={"instance_id": ", ".join(ids.values()), "zone": place, "attempt": str(attempt.number)},
    )


def _kind_of(asked: Try) -> str:
    """What it was asked for as, where that is not what its script says."""
    if asked.model is None:
        return "" if asked.spot else " on demand"
    return {VmModel.SPOT: " as spot", VmModel.FLEX: " on Flex-start", VmModel.STANDARD: " on demand"}[
        asked.model
    ]


def _its_vm(gone: Sequence[str], ids: Mapping[str, str]) -> str:
    """The VMs that are gone, with their verb; of many nodes no more are named than a line holds."""
    if len(ids) == 1:
        return "its VM is"
    if len(gone) == 1:
        return f"{gone[0]} is"
    return f"{', '.join(gone)} are" if len(gone) <= NAMED else f"{len(gone)} of its {len(ids)} VMs are"


def not_recoverable(facts: JobFacts, node: NodeFacts, reason: str, tick: Tick) -> Notice:
    """Say that a preempted job cannot be started again, and what would help."""
    about = node.instance_id or (node.marker.generation if node.marker else node.node)
    return Notice(
        id=f"not-recoverable/{facts.job}/{about}",
        kind="not_recoverable",
        severity=Severity.URGENT,
        job=facts.job,
        at=tick.now,
        what=f"{facts.job} was preempted and can't be restarted",
        why=reason,
        todo=f"fix the cause below, then run `spotwarden quarantine retry {node.node}`",
        owner=facts.owner,
        evidence={"node": node.node, "instance_id": node.instance_id},
    )


def gave_up(facts: JobFacts, attempt: Attempt, reason: str, tick: Tick) -> Notice:
    """Say that another launch is pointless, with all that a person needs to take over."""
    never_ran = attempt.number == 1 and attempt.started is None
    return Notice(
        id=f"gave-up/{attempt.job}/{attempt.number}",
        kind="gave_up",
        severity=Severity.URGENT,
        job=attempt.job,
        at=tick.now,
        what=f"{attempt.job} couldn't be launched"
        if never_ran
        else f"{attempt.job} couldn't be restarted after attempt {attempt.number}",
        why=reason,
        todo=f"fix the cause below, then run {_resume(facts)}",
        owner=facts.owner,
        evidence=state_of(facts, attempt),
        ways=(Way.RESTART,),
    )


def forbidden(facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick) -> Notice:
    """Tell ops that a job cannot be brought back for want of a right, while there is time to mend that."""
    since = attempt.forbidden_since or tick.now
    until = since + policy.recovery.forbidden_for
    return Notice(
        id=f"forbidden/{attempt.job}/{attempt.number}/{since:%Y%m%dT%H%M%S}",
        kind="launch_failing",
        severity=Severity.URGENT,
        job=attempt.job,
        at=tick.now,
        what=f"Compute Engine denied permission to restart {attempt.job}",
        why=attempt.tries[-1].error,
        todo="grant recover_spot's service account the permission named below. A grant takes a few"
        " minutes to apply",
        then=f"Spotwarden keeps trying. If permission is still denied at {until:%Y-%m-%d %H:%M} UTC,"
        " it gives up"
        " on the job",
        due=until,
        owner=policy.governance.ops or facts.owner,
        evidence=state_of(facts, attempt),
    )


def closed(facts: JobFacts, blank: Attempt, why: str, state: AttemptState, tick: Tick) -> Notice:
    """Say that a job is over and will not be restarted."""
    number = facts.newest.number if facts.newest else 1
    return Notice(
        id=f"closed/{facts.job}/{number}",
        kind=state.value.replace(" ", "_"),
        severity=Severity.URGENT if state is AttemptState.GAVE_UP else Severity.WARNING,
        job=facts.job,
        at=tick.now,
        what=f"{facts.job} has stopped and won't be restarted",
        why=why,
        todo=f"to continue the job, run {_resume(facts)}{_once_raised(facts)}",
        owner=facts.owner,
        evidence={**blank.replaces, **state_of(facts, blank)},
        ways=(Way.RESTART,),
    )


def end_doubted(facts: JobFacts, attempt: Attempt, why: str, tick: Tick) -> Notice:
    """Say that a job is not brought back for a status code that may not be its own."""
    written = f"{facts.ended:%Y-%m-%d %H:%M} UTC" if facts.ended else "an unknown time"
    return Notice(
        id=f"end-doubted/{attempt.job}/{attempt.number}",
        kind="end_doubted",
        severity=Severity.URGENT,
        job=attempt.job,
        at=tick.now,
        what=f"{attempt.job} wasn't restarted: its status code {facts.status_code} may be from another run",
        why=f"the status code was written at {written}; {why}",
        todo=f"if the job hasn't finished, run {_resume(facts)}. It resumes from its output",
        owner=facts.owner,
        evidence=state_of(facts, attempt),
        ways=(Way.RESTART,),
    )


def node_removed(facts: JobFacts, attempt: Attempt, gone: Mapping[str, Removal], tick: Tick) -> Notice:
    """Say that a gang goes on without nodes that somebody has removed, before anything of it is touched."""
    left = [node for node in attempt.wanted if node not in gone]
    names, operations = ", ".join(gone), "/".join(sorted(removal.operation for removal in gone.values()))
    users = {node: removal.user or "the VM itself" for node, removal in gone.items()}
    return Notice(
        id=f"node-removed/{facts.job}/{attempt.number}/{operations}",
        kind="node_removed",
        severity=Severity.WARNING,
        job=facts.job,
        at=tick.now,
        what=f"{facts.job} continues without {names}",
        why="; ".join(
            f"{node} was {DONE.get(removal.kind, removal.kind)} by {users[node]}"
            for node, removal in gone.items()
        ),
        then=f"The remaining nodes keep running: {', '.join(left)}. If another node is lost,"
        " Spotwarden closes the"
        " job instead of restarting it",
        todo=f"{_start_again(facts, gone)}to get all nodes back, run `spotwarden stop {facts.job}`, then"
        f" {_resume(facts)}",
        owner=facts.owner,
        evidence={node: removal.instance_id for node, removal in gone.items()},
    )


def _start_again(facts: JobFacts, gone: Mapping[str, Removal]) -> str:
    """What brings a stopped node of a gang that bends back."""
    stopped = [node for node, removal in gone.items() if removal.kind not in {"delete", "suspend"}]
    if not stopped or not facts.file.nodes:
        return ""
    return f"to have {', '.join(stopped)} join again, start the VM (`gcloud compute instances start`). Or "


def differs(facts: JobFacts, attempt: Attempt, differences: Sequence[str], tick: Tick) -> Notice:
    """Say that the stored script would not make again what runs."""
    return Notice(
        id=f"differs/{facts.job}/{attempt.number}",
        kind="script_differs",
        severity=Severity.WARNING,
        job=facts.job,
        at=tick.now,
        what=f"{facts.job} runs on a VM that differs from its stored create script",
        why="; ".join(differences),
        todo="a restart uses the stored script. To keep this VM's settings, submit the script you"
        " launched it with",
        owner=facts.owner,
    )


def unreadable_file(facts: JobFacts, tick: Tick) -> Notice:
    """Say that a job's own settings could not be read, so that the policy's hold."""
    return Notice(
        id=f"job-toml/{facts.job}/{facts.file.problem}",
        kind="job_toml",
        severity=Severity.WARNING,
        job=facts.job,
        at=tick.now,
        what=f"{facts.job}: job.toml is invalid, so only the policy's limits apply",
        why=facts.file.problem,
        todo=f"fix {facts.job}/metadata/job.toml in the bucket",
        owner=facts.owner,
    )


def _resume(facts: JobFacts) -> str:
    return f"`spotwarden restart {facts.job}`"


def _once_raised(facts: JobFacts) -> str:
    """What a restart of a job with limits of its own may need first: it is refused once one is used up."""
    limits = {"max_runtime": facts.file.max_runtime, "budget": facts.file.budget}
    told = " or ".join(f"`{name}`" for name, limit in limits.items() if limit is not None)
    return f", after you have raised {told} in its job.toml if that is used up" if told else ""


def state_of(facts: JobFacts, attempt: Attempt) -> dict[str, str]:
    """What a person who takes over asks first: the last error, the last checkpoint, the last place."""
    tries = attempt.tries or (facts.newest.tries if facts.newest else ())
    known = {
        "last_error": tries[-1].error if tries else "",
        "last_place": tries[-1].place if tries else "",
        "last_checkpoint": facts.progress.checkpoint,
        "last_progress": f"{facts.progress.at:%Y-%m-%d %H:%M:%S} UTC" if facts.progress.at else "",
    }
    return {key: value for key, value in known.items() if value}


def unusable(marker: UnusableMarker, tick: Tick) -> Notice:
    """Say that a marker belongs to no job that we know."""
    return Notice(
        id=f"quarantined/{marker.name}/{marker.generation}",
        kind="quarantined",
        severity=Severity.WARNING,
        job="",
        at=tick.now,
        what=f"Spotwarden quarantined the marker {marker.name!r}: it couldn't be used",
        why=marker.reason,
        todo="run `spotwarden quarantine list` for the reason. If its job should continue, restart the job",
    )
