"""Which case a finding is of, and which cases have become part of another finding."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.cases.pairing import paired
from spotwarden.model.case import Case, CaseState, Filed
from spotwarden.model.finding import Finding, Judged, Subject, Target
from spotwarden.model.rule_limits import IdleLimits

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def subject(key, *ids):
    """VMs of these ids, under this key."""
    targets = tuple(Target(id=each, name=f"vm-{each}", zone="z") for each in ids)
    return Subject(key=key, job="job", owner="ada", targets=targets)


def found(key, *ids, rule="idle"):
    """A finding about them."""
    return Finding(
        rule=rule, subject=subject(key, *ids), reason="idle", todo="", ripe=True, limits=IdleLimits()
    )


def about(key, *ids):
    """An open case about them."""
    case = Case(rule="idle", subject=subject(key, *ids), state=CaseState.WARNED, opened=NOW, looked=NOW)
    return Filed(case=case, generation=1)


@pytest.mark.parametrize(
    ("finding", "merged"),
    [
        (found("gang", "1", "2", "3"), True),
        (found("gang", "2", "3"), False),
        (found("gang", "1", "3"), False),
        (found("gang", "1", "2", "3", rule="stalled"), False),
    ],
)
def test_a_case_is_merged_into_a_finding_of_its_rule_that_has_all_its_vms(finding, merged):
    """One that has some of them is another matter, and so is another rule's."""
    judged = Judged(rules=("idle", "stalled"), findings=(found("other", "4"), finding))
    [facts] = [item for item in paired(judged, [about("pair", "1", "2")], NOW) if item.filed]
    assert (facts.finding, facts.merged) == (None, merged)


@pytest.mark.parametrize(
    ("exempt", "kept", "spared"),
    [
        ("", None, ""),
        ("", NOW, ""),
        ("", LATER, "its gang gang is kept until 2026-01-05 13:00 UTC by ada"),
        ("its label", None, "exempt: its label"),
    ],
)
def test_a_case_that_is_merged_says_why_nothing_is_done_about_the_other(exempt, kept, spared):
    """Its owner was warned, and hears no more of it: by the gang's case there is nothing to tell."""
    gang = about("gang", "1", "2", "3")
    gang = replace(gang, case=replace(gang.case, keep_until=kept, kept_by="ada" if kept else ""))
    judged = Judged(rules=("idle",), findings=(replace(found("gang", "1", "2", "3"), exempt=exempt),))
    facts = {item.key: item for item in paired(judged, [about("pair", "1", "2"), gang], NOW)}
    assert (facts["pair"].merged, facts["pair"].spared) == (True, spared)
    assert (facts["gang"].merged, facts["gang"].spared) == (False, "")


def test_a_case_with_a_finding_of_its_own_is_not_merged():
    """Whatever else is found about its VMs."""
    own = found("pair", "1", "2")
    judged = Judged(rules=("idle",), findings=(own, found("gang", "1", "2", "3")))
    [facts] = [item for item in paired(judged, [about("pair", "1", "2")], NOW) if item.filed]
    assert (facts.finding, facts.merged) == (own, False)
