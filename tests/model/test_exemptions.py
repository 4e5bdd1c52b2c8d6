"""Whom nothing is done to, on both sides of midnight."""

from datetime import UTC, date, datetime

import msgspec
import pytest

from spotwarden.model.exemptions import exempt
from spotwarden.model.governance import Calendar, Exemption, GovernanceLimits
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Policy

LAST = date(2026, 12, 31)
ON_THE_DAY = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
AFTER_IT = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture
def why(tick):
    """Why nothing may be done by the rule `idle`, at this moment."""

    def go(now=ON_THE_DAY, *, rule="idle", labels=None, owner="ada@x", file=None, **said):
        known = Policy(version="t", governance=GovernanceLimits(**said))
        at = msgspec.structs.replace(tick, now=now)
        return exempt(known, rule, at, labels=labels or {}, owner=owner, job_file=file or JobFile())

    return go


def test_an_ordinary_vm_is_not_exempt(why):
    """Labels of others, an owner, a job.toml: nothing of it keeps."""
    assert why(labels={"team": "x", "keep": "2027-01-01"}, file=JobFile(owner="ada@x")) == ""


def test_a_label_keeps_to_the_end_of_its_day(why):
    """And not a second longer."""
    labels = {"spotwarden-keep": "2026-12-31"}
    assert why(ON_THE_DAY, labels=labels) == "its label spotwarden-keep keeps it until 2026-12-31"
    assert why(AFTER_IT, labels=labels) == ""


def test_a_day_ends_where_the_calendar_is(why):
    """At 23:30 UTC it is tomorrow in Berlin, and still today in New York."""
    labels, late = {"spotwarden-keep": "2026-12-31"}, datetime(2026, 12, 31, 23, 30, tzinfo=UTC)
    assert why(late, labels=labels, calendar=Calendar(timezone="Europe/Berlin")) == ""
    assert why(late, labels=labels, calendar=Calendar(timezone="America/New_York"))
    assert why(AFTER_IT, labels=labels, calendar=Calendar(timezone="America/New_York"))


@pytest.mark.parametrize("said", ["", "true", "forever", "2026-13-01", "31-12-2026", "2026-12-31t10", "dec"])
def test_a_label_that_is_no_day_keeps_as_well_and_says_so(why, said):
    """Somebody wanted it kept; a wrong kill costs more than a missed one."""
    found = why(AFTER_IT, labels={"spotwarden-keep": said})
    assert repr(said) in found
    assert "is not a valid date" in found


def test_a_job_keeps_its_vms_to_the_end_of_the_day(why):
    """As its job.toml says."""
    file = JobFile(keep_until=LAST)
    assert why(ON_THE_DAY, file=file) == "its job.toml keeps it until 2026-12-31"
    assert why(AFTER_IT, file=file) == ""


def test_a_job_file_that_cannot_be_read_keeps(why):
    """It may say that the job is to be kept."""
    assert why(file=JobFile(problem="line 3")) == "its job.toml can't be read, so it is kept: line 3"


def test_what_a_job_says_about_a_rule_and_cannot_be_followed_keeps_from_that_rule(why):
    """It may have wanted more time; other rules are not meant."""
    file = JobFile(rules={"idle": {"act": "soon"}})
    assert "has an invalid value" in why(file=file)
    assert why(rule="stall", file=file) == ""
    assert "has an invalid value" in why(rule="stall", file=JobFile(rules={"idel": {}}))


def test_a_label_is_enough_where_the_job_says_nothing(why):
    """And a job where its VM says nothing; an old word does not undo a newer one."""
    file, labels = JobFile(keep_until=LAST), {"spotwarden-keep": "2020-01-01"}
    assert why(labels=labels, file=file) == "its job.toml keeps it until 2026-12-31"
    assert why(labels={"spotwarden-keep": "2026-12-31"}, file=JobFile(keep_until=date(2020, 1, 1)))


@pytest.mark.parametrize(
    ("owner", "rule", "now", "kept"),
    [
        ("ada@x", "idle", ON_THE_DAY, True),
        ("ADA@X", "idle", ON_THE_DAY, True),
        ("ada@x", "idle", AFTER_IT, False),
        ("ada@x", "stall", ON_THE_DAY, False),
        ("bob@x", "idle", ON_THE_DAY, False),
        ("", "idle", ON_THE_DAY, False),
    ],
)
def test_a_policy_exempts_an_owner_from_rules_until_a_day(why, owner, rule, now, kept):
    """Owner, rule and day must all fit."""
    one = Exemption(owner="a*@x", until=LAST, why="paper", rules=("idle", "orphan"))
    expected = "the policy exempts a*@x until 2026-12-31: paper" if kept else ""
    assert why(now, owner=owner, rule=rule, exemptions=(one,)) == expected


def test_an_exemption_that_names_no_rule_is_from_all(why):
    """Every one of them."""
    one = Exemption(owner="ada@x", until=LAST, why="paper")
    assert why(rule="owner_cap", exemptions=(one,))


def test_an_exemption_of_everybody_is_not_one_of_nobody(why):
    """A VM whose owner is unknown is kept by its label only."""
    one = Exemption(owner="*", until=LAST, why="holidays")
    assert why(owner="", exemptions=(one,)) == ""
    assert why(owner="who", exemptions=(one,))
