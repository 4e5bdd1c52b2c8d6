"""How a notice about a case can be answered: only what makes sense is offered."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.cases import notices
from spotwarden.model.case import Case, CaseState
from spotwarden.model.finding import Finding, Subject, Target
from spotwarden.model.governance import GovernanceLimits, Limits, Mode, Remedy
from spotwarden.model.notice import Way
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
POLICY = Policy(version="1", mode=Mode.ENFORCE, governance=GovernanceLimits(ops="ops@x.org"))
TICK = Tick(function="reap_vms", sweep="s", now=NOW)
VM = Subject(key="1", job="job", owner="ada@x.org", targets=(Target(id="1", name="vm", zone="z"),))


def case(rule: str, subject: Subject, remedy: Remedy) -> Case:
    """A case that is open."""
    return Case(rule=rule, subject=subject, state=CaseState.SUSPECTED, opened=NOW, looked=NOW, remedy=remedy)


@pytest.mark.parametrize(
    ("rule", "remedy", "ways"),
    [
        ("idle", Remedy.STOP, (Way.KEEP, Way.STOP)),
        ("orphan", Remedy.DELETE, (Way.KEEP, Way.STOP)),
        ("job_cap", Remedy.STOP, (Way.KEEP, Way.EXTEND, Way.STOP)),
        ("leftover", Remedy.DELETE, (Way.KEEP,)),
        ("idle", Remedy.NONE, ()),
    ],
)
def test_a_warning_offers_what_prevents_or_hastens_what_will_happen(rule, remedy, ways):
    """A limit can be extended, a disk cannot be stopped, and where nothing follows nothing is asked."""
    finding = Finding(rule=rule, subject=VM, reason="why", limits=Limits(remedy=remedy))
    said = notices.warning(case(rule, VM, remedy), finding, POLICY, TICK, hindered="", due=NOW, latest=None)
    assert said.ways == ways


@pytest.mark.parametrize(("hours", "offered"), [(3, False), (4, True), (None, True)])
def test_more_time_is_offered_only_where_compute_engine_gives_it(hours, offered):
    """A VM that ends by the run time that it was launched with is not kept by an extension of 4 h."""
    ends = None if hours is None else NOW + timedelta(hours=hours)
    subject = replace(VM, targets=(replace(VM.targets[0], ends=ends),))
    finding = Finding(rule="job_cap", subject=subject, reason="why", limits=Limits(remedy=Remedy.STOP))
    capped = replace(case("job_cap", subject, Remedy.STOP), due=NOW)
    said = notices.warning(capped, finding, POLICY, TICK, hindered="", due=NOW, latest=None)
    assert (Way.EXTEND in said.ways) is offered


def test_nobody_can_stop_what_is_no_jobs_by_a_link():
    """A stranger's VM is told about, and is nobody's to stop."""
    stranger = Subject(key="1", targets=VM.targets, ours=False)
    finding = Finding(rule="idle", subject=stranger, reason="why", limits=Limits(remedy=Remedy.STOP))
    said = notices.warning(
        case("idle", stranger, Remedy.STOP), finding, POLICY, TICK, hindered="", due=NOW, latest=None
    )
    assert Way.STOP not in said.ways


@pytest.mark.parametrize(
    ("rule", "subject", "ways"),
    [
        ("idle", VM, (Way.RESTART,)),
        ("stall", VM, (Way.RESTART,)),
        ("orphan", VM, ()),
        ("leftover", VM, ()),
        ("instance_cap", Subject(key="1", targets=VM.targets), ()),
    ],
)
def test_what_was_stopped_can_be_started_again_where_a_job_goes_on(rule, subject, ways):
    """Not one that is over, and not what is no job."""
    assert notices.acted(case(rule, subject, Remedy.STOP), POLICY, TICK).ways == ways


def test_who_is_at_a_limit_is_told_to_raise_it_before_a_restart():
    """A restart by itself is refused for as long as what it may use is used up."""
    subject = Subject(key="train", job="train", targets=(Target(id="4711", name="vm", zone="z"),))
    said = [
        notices.acted(case(rule, subject, Remedy.STOP), POLICY, TICK).todo for rule in ("idle", "job_cap")
    ]
    assert said[0] == "to continue, run `spotwarden restart train`"
    assert said[1].startswith("to continue, first raise")
    assert said[1].endswith("Then run `spotwarden restart train`")
