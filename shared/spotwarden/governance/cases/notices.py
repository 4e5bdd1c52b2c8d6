"""What its owner is told about a case, in words; `ops_notices` has what only ops can see to."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256

from spotwarden.governance.fixed_end import fixed_end
from spotwarden.governance.units import (
    all_slices,
    only_slice,
    slice_named,
    slices_in,
    some_slices,
)
from spotwarden.model.case import Case
from spotwarden.model.finding import Finding, Target
from spotwarden.model.governance import Remedy
from spotwarden.model.notice import CaseRef, Notice, Severity, Way
from spotwarden.model.policy import RULES, Policy
from spotwarden.model.spans import moment
from spotwarden.model.tick import Tick
from spotwarden.model.values import written

REMEDY_PHRASES: Mapping[Remedy, tuple[str, str]] = {
    Remedy.NONE: ("", ""),
    Remedy.STOP: ("be stopped (its disks are kept)", "was stopped; its disks are kept"),
    Remedy.DELETE: ("be deleted", "was deleted"),
}
WITH_SLICES = (
    "be stopped (its disks are kept; its TPU slices are deleted, because a slice can't be stopped)",
    "was stopped; its disks are kept. Its TPU slices were deleted, because a slice can't be stopped",
)
"""The same for a stop of several VMs, some of which are parts of slices."""
WHOLE_SLICE = (
    "be deleted as a whole (a slice can't be stopped; disks set to auto-delete go too)",
    "was deleted as a whole",
)
"""The same for slices alone, whatever the policy says."""
DISCARDS = (
    "be stopped (the data on its local SSDs is discarded; its other disks are kept)",
    "was stopped; the data on its local SSDs is discarded, its other disks are kept",
)
"""The same for a stop of VMs with local SSDs, as far as the policy lets us."""
UNLESS = "disks are kept unless a preemption deletes it first"
"""What is true of a spot VM's disks once its stop was taken: that lasts a minute or two."""
OVER = frozenset({"orphan", "leftover"})
"""Rules whose jobs are over: there is nothing to start again."""
ENDED = OVER | {"early_stop"}
"""Rules that act once their job is closed: nothing brings it back."""
MOST_NAMED = 3
"""So many VMs are named in a sentence."""
MOST_INSTANCES = 256
"""So many VMs are named in a notice; a case about more is named by its job."""


def title_of(case: Case) -> str:
    """What is wrong, as the end of a sentence; a rule that is no more is called by its name."""
    return case.title or (RULES[case.rule].TITLE if case.rule in RULES else case.rule)


def warning(
    case: Case,
    finding: Finding,
    policy: Policy,
    tick: Tick,
    *,
    hindered: str,
    asks: int = 0,
    due: datetime,
    latest: datetime | None,
) -> Notice:
    """Say what is wrong, what will happen when, and how to prevent it.

    `latest` is from when on it may happen after an earlier warning, whether this one arrives or not. `asks`
    is for how many VMs, where those are so many that ops must allow it first; 0 for none.
    """
    phrase = remedy_phrases(case.remedy, case)[0]
    at = moment(due)
    if not phrase:
        then = "Spotwarden takes no action."
    elif hindered:
        then = f"no action is taken, because {hindered}. Otherwise it would {phrase} at {at}"
    elif asks:
        then = f"it will {phrase} at {at} or later, once ops approve it: that is {asks} VMs at once"
    else:
        then = f"it will {phrase} at {at} or later"
    keep = f"`spotwarden cases keep {case.rule} {case.key} --for {written(policy.notify.keep)}`"
    return case_notice(
        case,
        policy,
        tick,
        id=f"{base_id(case)}/warning-{len(case.warnings) + 1}-{_promise(case, hindered)}",
        kind=f"{case.rule}_warning",
        severity=Severity.URGENT if phrase and not hindered and finding.level > 1 else Severity.WARNING,
        what=f"{name_of(case)} {title_of(case)}",
        why=finding.reason,
        todo=_either(finding.todo, f"To keep it as it is, run {keep}" if phrase else ""),
        then=then,
        due=due if phrase and not hindered else None,
        grace=finding.limits.grace if phrase and not hindered else None,
        latest=latest if phrase and not hindered else None,
        evidence=finding.evidence,
        ways=_ways(case, policy) if phrase else (),
    )


def unknown(case: Case, finding: Finding, policy: Policy, tick: Tick) -> Notice:
    """Say that nobody can tell how it stands, and what would help."""
    return case_notice(
        case,
        policy,
        tick,
        id=f"{base_id(case)}/unknown",
        kind=f"{case.rule}_unknown",
        severity=Severity.INFO,
        what=f"We couldn't check whether {name_of(case)} {title_of(case)}",
        why=finding.reason,
        todo=finding.todo,
        then="Spotwarden takes no action, because it can't verify this.",
        evidence=finding.evidence,
    )


def begun_warnings(case: Case) -> tuple[str, ...]:
    """The ids of warnings that a sweep was about to give when it was cut off: they may have been accepted."""
    return tuple(name for name in case.told if name.startswith(f"{base_id(case)}/warning-"))


def acted(case: Case, policy: Policy, tick: Tick, *, sure: bool = True, gone: Collection[str] = ()) -> Notice:
    """Say what was done, and how to go on; unless `sure`, that it may have been us who did it.

    `gone` are the ids of VMs that were there no more when they were to be stopped: no disk of theirs is kept.
    """
    left = _left_before(case, gone)
    comes_back = left and bool(case.subject.job) and case.rule not in ENDED
    return case_notice(
        case,
        policy,
        tick,
        id=f"{base_id(case)}/acted-{len(case.warnings)}",
        kind=f"{case.rule}_acted",
        severity=Severity.URGENT,
        what=f"{name_of(case)} {_done(case, gone, sure=sure, left=left)}",
        why=case.reason,
        then="if Compute Engine took it, Spotwarden restarts the job" if comes_back else "",
        todo=_go_on(case, "if it was deleted, and the job is to go on" if comes_back else "to continue"),
        evidence={**case.evidence, "warned": _warned(case)},
        ways=(Way.RESTART,) if case.subject.job and case.rule not in OVER else (),
    )


def _left_before(case: Case, gone: Collection[str]) -> bool:
    """Whether nothing was left to stop: no stop makes a VM go, so somebody else had taken all of it."""
    targets = case.subject.targets
    return case.remedy is Remedy.STOP and bool(targets) and {target.id for target in targets} <= {*gone}


def _done(case: Case, gone: Collection[str], *, sure: bool, left: bool) -> str:
    if left:
        return "was gone before it could be stopped"
    if not sure:
        return "is gone: Spotwarden may have removed it"
    if gone and case.remedy is Remedy.STOP:
        return _with_gone(case, gone)
    done = remedy_phrases(case.remedy, case)[1] or "was acted upon"
    return done.replace("disks are kept", UNLESS) if may_be_taken(case.subject.targets) else done


def _with_gone(case: Case, gone: Collection[str]) -> str:
    """What was done where some of the VMs were gone already, each part by name or by number."""
    lost = [target.name for target in case.subject.targets if target.id in gone]
    left = [target.name for target in case.subject.targets if target.id not in gone]
    ssds = "the data on local SSDs is discarded, " if any(map(_has_ssds, case.subject.targets)) else ""
    one = len(lost) == 1
    unless = " unless a preemption deletes them first" if may_be_taken(case.subject.targets) else ""
    were = f"{_listed(lost)} {'was' if one else 'were'} gone already"
    return f"was stopped: {ssds}the disks of {_listed(left)} are kept{unless}; {were}"


def _has_ssds(target: Target) -> bool:
    return bool(target.local_ssds)


def may_be_taken(targets: Iterable[Target]) -> bool:
    """Whether Compute Engine may delete one of these VMs, with its disks, before its stop is over."""
    return any(target.spot and not target.group for target in targets)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} VMs"


def cleared(case: Case, why: str, policy: Policy, tick: Tick) -> Notice:
    """Say that an earlier warning no longer holds; a case may be warned about, and taken back, again."""
    return case_notice(
        case,
        policy,
        tick,
        id=f"{base_id(case)}/cleared-{len(case.warnings)}",
        kind=f"{case.rule}_cleared",
        severity=Severity.INFO,
        what=f"The warning about {name_of(case)} no longer applies",
        why=why,
    )


def remedy_phrases(remedy: Remedy, case: Case) -> tuple[str, str]:
    """What will be done to the VMs of a case, and what was, in words; "" where nothing is."""
    targets = case.subject.targets
    if remedy is not Remedy.NONE and all_slices(targets):
        return WHOLE_SLICE
    if remedy is Remedy.STOP and some_slices(targets):
        return WITH_SLICES
    discards = remedy is Remedy.STOP and any(target.local_ssds for target in targets)
    return DISCARDS if discards else REMEDY_PHRASES[remedy]


def name_of(case: Case) -> str:
    """What a person calls the subject: a slice, a VM by name, the job, the owner, or the whole project."""
    targets = case.subject.targets
    if group := only_slice(case.subject):
        return slice_named(case.subject.job or group.name, len(targets))
    if case.subject.job and len(targets) != 1:
        return case.subject.job
    if len(targets) > 1:
        # Those of an owner, perhaps of several jobs.
        return f"{targets[0].name} (and {len(targets) - 1} more)"
    return targets[0].name if targets else case.subject.job or case.subject.owner or "any VM"


def base_id(case: Case) -> str:
    """What the ids of all notices about a case begin with."""
    return f"{case.rule}/{case.key}/{case.opened:%Y%m%dT%H%M%S}"


def _promise(case: Case, hindered: str) -> str:
    """What tells one warning of a case from another that is its first as well.

    A sweep may be killed between telling and writing down that it told. What its successor tells is the same
    notice only where it says the same would be done, to the same VMs, and nobody has answered meanwhile:
    otherwise the message about the one would count as the message about the other.
    """
    ids = sorted(target.id for target in case.subject.targets)
    said = (case.remedy.value, bool(hindered), ids, str(case.keep_until), case.extended)
    return sha256(repr(said).encode()).hexdigest()[:8]


def _warned(case: Case) -> str:
    return ", ".join(f"{item.at:%Y-%m-%d %H:%M} UTC" for item in case.warnings)


def _ways(case: Case, policy: Policy) -> tuple[Way, ...]:
    """How its owner may answer a warning; no more time is offered that Compute Engine would not give."""
    ends = fixed_end(case.subject.targets, case.due, policy.notify.extend)
    more = (Way.EXTEND,) if case.rule == "job_cap" and ends is None else ()
    stop = (Way.STOP,) if case.subject.ours and case.subject.targets and case.rule != "leftover" else ()
    return (Way.KEEP, *more, *stop)


def _either(todo: str, keep: str) -> str:
    return ". ".join(text.rstrip(".") for text in (todo, keep) if text)


def _go_on(case: Case, where: str) -> str:
    if not case.subject.job or case.rule in OVER:
        return ""
    first = ""
    if case.rule == "job_cap":
        first = "first raise `max_runtime` or `budget` in its job.toml, up to the policy's limit. Then "
    return f"{where}, {first}run `spotwarden restart {case.subject.job}`"


def case_notice(case: Case, policy: Policy, tick: Tick, **said: object) -> Notice:
    """What every notice about a case has; what is not ours, and what nobody owns, goes to ops."""
    subject = case.subject
    ops = policy.governance.ops
    told = (subject.owner if subject.ours else "") or ops
    where = {
        "resource" if case.rule == "leftover" else "instances": ", ".join(
            target.id for target in subject.targets[:20]
        ),
        "zones": ", ".join(sorted({target.zone for target in subject.targets if target.zone})),
        "managed instance group": ", ".join(f"{group.name} ({group.id})" for group in slices_in(subject)),
    }
    evidence = {key: value for key, value in where.items() if value}
    given = said.pop("evidence", {})
    if isinstance(given, Mapping):
        evidence |= {str(key): str(value) for key, value in given.items() if value}
    fields: dict[str, object] = {
        "job": subject.job,
        "at": tick.now,
        "owner": told,
        "evidence": evidence,
        "title": case.title,
        "instances": subject.targets[:MOST_INSTANCES],
        "case": CaseRef(rule=case.rule, key=case.key, opened=case.opened),
        **said,
    }
    return Notice(**fields)  # type: ignore[arg-type]  # the fields of a notice, by name
