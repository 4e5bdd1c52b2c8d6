"""When a case may be closed."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.cases.escalation import next_step
from spotwarden.model.action import CloseCase, FileCase, Tell
from spotwarden.model.case import Case, CaseFacts, CaseState, Filed, Remediation, Warned
from spotwarden.model.finding import Subject, Target
from spotwarden.model.governance import Remedy
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
ENFORCED = Policy(version="t", mode=Mode.ENFORCE)


def step_after(facts, **span):
    """What a sweep makes of a case so long after."""
    return next_step(facts, ENFORCED, Tick(function="sweep", sweep="s", now=NOW + timedelta(**span)))


@pytest.mark.parametrize(("later", "closes"), [(timedelta(0), True), (timedelta(seconds=1), False)])
def test_a_sweep_that_slept_closes_nothing_that_a_later_one_has_looked_at(later, closes):
    """Its facts are older than the case, or its clock is behind: the next sweep sees to it."""
    subject = Subject(key="1", job="job", owner="ada", targets=(Target(id="1", name="vm", zone="z"),))
    case = Case(rule="idle", subject=subject, state=CaseState.SUSPECTED, opened=NOW, looked=NOW + later)
    facts = CaseFacts(rule="idle", key="1", filed=Filed(case=case, generation=1))
    tick = Tick(function="flag_idle_gpus", sweep="s", now=NOW)
    assert (next_step(facts, ENFORCED, tick) is not None) is closes


@pytest.mark.parametrize(
    ("looked", "there", "kind"),
    [
        (NOW, False, "idle_acted"),
        (NOW + timedelta(seconds=1), False, "idle_cleared"),
        (NOW, True, "idle_cleared"),
    ],
)
def test_a_veto_that_comes_between_the_remedy_and_its_record_does_not_hide_it(looked, there, kind):
    """Nobody has seen the VM since it was to be stopped; one that was seen since went for another reason."""
    subject = Subject(key="1", job="job", owner="ada", targets=(Target(id="1", name="vm", zone="z"),))
    case = Case(
        rule="idle",
        subject=subject,
        state=CaseState.SUSPECTED,
        opened=NOW,
        looked=looked,
        warnings=(Warned(level=1, at=NOW, notice="w", counts=False),),
        remediations=(Remediation(target="1", request_id="r", at=NOW),),
    )
    step = step_after(
        CaseFacts(rule="idle", key="1", filed=Filed(case=case, generation=1), there=there), minutes=9
    )
    assert isinstance(step, Tell)
    assert step.notice.kind == kind


@pytest.mark.parametrize(
    ("operations", "spot", "what"),
    [
        (
            ["operation-1", "gone already"],
            False,
            "pair was stopped: the disks of pair-1 are kept; pair-2 was gone already",
        ),
        (
            ["operation-1", "gone already"],
            True,
            (
                "pair was stopped: the disks of pair-1 are kept unless a preemption deletes them first;"
                " pair-2 was gone already"
            ),
        ),
        (["operation-1", "operation-2"], False, "pair was stopped; its disks are kept"),
        (
            ["operation-1", "operation-2"],
            True,
            "pair was stopped; its disks are kept unless a preemption deletes it first",
        ),
    ],
)
def test_no_disk_is_said_to_be_kept_of_a_vm_that_was_gone_or_may_go(operations, spot, what):
    """Of a gang of which Compute Engine had taken a node, the others were stopped.

    The mail goes out as the stop was taken, and a preemption during it deletes a spot VM with its disks.
    """
    targets = tuple(Target(id=str(number), name=f"pair-{number}", zone="z", spot=spot) for number in (1, 2))
    subject = Subject(key="pair", job="pair", owner="ada", targets=targets)
    done = tuple(
        Remediation(target=target.id, request_id="r", at=NOW, operation=operation)
        for target, operation in zip(targets, operations, strict=True)
    )
    case = Case(
        rule="stall",
        subject=subject,
        state=CaseState.ACTED,
        remedy=Remedy.STOP,
        opened=NOW,
        looked=NOW,
        remediations=done,
    )
    step = step_after(CaseFacts(rule="stall", key="pair", filed=Filed(case=case, generation=1)), minutes=9)
    assert isinstance(step, Tell)
    assert step.notice.what == what


@pytest.mark.parametrize(
    ("rule", "then"),
    [("idle", "if Compute Engine took it, Spotwarden restarts the job"), ("early_stop", ""), ("orphan", "")],
)
def test_of_a_vm_that_was_gone_before_its_stop_nobody_says_that_it_was_stopped(rule, then):
    """Compute Engine may have preempted it a second before, and then recovery brings its job back."""
    subject = Subject(key="1", job="job", owner="ada", targets=(Target(id="1", name="vm", zone="z"),))
    gone = Remediation(target="1", request_id="r", at=NOW, operation="gone already")
    case = Case(
        rule=rule,
        subject=subject,
        state=CaseState.ACTED,
        remedy=Remedy.STOP,
        opened=NOW,
        looked=NOW,
        remediations=(gone,),
    )
    step = step_after(CaseFacts(rule=rule, key="1", filed=Filed(case=case, generation=1)), minutes=9)
    assert isinstance(step, Tell)
    assert (step.notice.what, step.notice.then) == ("vm was gone before it could be stopped", then)


@pytest.mark.parametrize("spared", ["", "its gang pair is kept until 2026-01-05 13:00 UTC by ada"])
def test_who_was_warned_about_a_vm_hears_that_its_gang_is_kept(spared):
    """The gang's case has the VM now. Where that one is warned of, it says what will be done, and when."""
    subject = Subject(key="1", job="pair", owner="ada", targets=(Target(id="1", name="pair-1", zone="z"),))
    case = Case(
        rule="compliance",
        subject=subject,
        state=CaseState.WARNED,
        opened=NOW,
        looked=NOW,
        warnings=(Warned(level=1, at=NOW, notice="w", counts=False),),
    )
    filed = Filed(case=case, generation=1)
    step = step_after(
        CaseFacts(rule="compliance", key="1", filed=filed, merged=True, spared=spared), minutes=13
    )
    if not spared:
        assert isinstance(step, CloseCase)
        return
    assert isinstance(step, Tell)
    assert (step.notice.kind, step.notice.why) == ("compliance_cleared", spared)


@pytest.mark.parametrize(
    ("minutes", "begun", "ends"),
    [((0,), False, "CloseCase"), ((0, 30), False, "idle_cleared"), ((0,), True, "idle_cleared")],
    ids=["the first warning alone", "a second one", "a second one, and the sweep was killed"],
)
def test_who_is_warned_again_after_a_remedy_hears_of_the_end_of_that_too(minutes, begun, ends):
    """Its VM was stopped, a person has started it again, and it goes before the new warning is over."""
    subject = Subject(key="1", job="job", owner="ada", targets=(Target(id="1", name="vm", zone="z"),))
    stopped = Remediation(
        target="1", request_id="r", at=NOW + timedelta(minutes=20), operation="o", error="still there"
    )
    case = Case(
        rule="idle",
        subject=subject,
        state=CaseState.DUE,
        remedy=Remedy.STOP,
        opened=NOW,
        looked=NOW + timedelta(minutes=30),
        warnings=tuple(Warned(level=1, at=NOW + timedelta(minutes=late), notice="w") for late in minutes),
        remediations=(stopped,),
        told=("idle/1/20260105T120000/acted-1", *(["idle/1/20260105T120000/warning-2-aa"] if begun else [])),
    )
    facts = CaseFacts(rule="idle", key="1", filed=Filed(case=case, generation=1), there=False)
    step = step_after(facts, hours=1)
    if isinstance(step, FileCase):
        assert step.reason == "its warnings no longer count"
        facts = replace(facts, filed=Filed(case=step.case, generation=2))
        step = step_after(facts, hours=1)
    assert (step.notice.kind if isinstance(step, Tell) else type(step).__name__) == ends
