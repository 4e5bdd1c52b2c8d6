"""What people may answer to a case, and what becomes of it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.governance.answering import answered
from spotwarden.governance.cases.history import history, standing
from spotwarden.governance.cases.observation import counting
from spotwarden.governance.cases.warning import may_act
from spotwarden.model.answer import Accepted, AnswerRefused, Approve, Extend, Keep, Release
from spotwarden.model.case import Approval, Case, CaseState, Remediation, Warned
from spotwarden.model.finding import Finding, Subject, Target
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.rule_limits import IdleLimits, JobCap
from spotwarden.model.tick import Tick

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
POLICY = Policy(
    version="t",
    mode=Mode.ENFORCE,
    governance=GovernanceLimits(longest_keep=timedelta(days=7)),
    job_cap=JobCap(max_runtime=20 * HOUR, longest=30 * HOUR),
)
SUBJECT = Subject(key="1", job="job", owner="ada", targets=(Target(id="1", name="vm", zone="z"),))
WARNED = Warned(
    level=1, at=NOW - HOUR, notice="n-1", remedy=Remedy.STOP, targets=("1",), delivered=NOW - HOUR
)


def case(state=CaseState.WARNED, **fields):
    """A case that was warned about an hour ago."""
    common = {"rule": "idle", "subject": SUBJECT, "opened": NOW - 2 * HOUR, "looked": NOW, "looks": 3}
    return Case(**{**common, "warnings": (WARNED,), "remedy": Remedy.STOP, **fields}, state=state)


def cap(**fields):
    """A case of a job at its limit."""
    return case(rule="job_cap", **fields)


def say(one, answer, policy=POLICY):
    """The answer to an answer."""
    return answered(one, answer, policy=policy, now=NOW)


def ripe(rule="idle"):
    """A finding that calls for the remedy."""
    return Finding(
        rule=rule,
        subject=SUBJECT,
        reason="idle",
        ripe=True,
        level=1,
        since=NOW - 2 * HOUR,
        limits=IdleLimits(remedy=Remedy.STOP),
    )


def acts(one, at):
    """Whether the sweep of that moment may act on it."""
    return may_act(one, ripe(), POLICY, Tick(function="f", sweep="s", now=at))


def test_a_veto_holds_until_its_moment():
    """Nothing may be done a second before; who and why stand in the case."""
    said = say(case(), Keep(by="ada", until=NOW + 8 * HOUR, why="debugging"))
    assert isinstance(said, Accepted)
    assert (said.case.keep_until, said.case.kept_by, said.case.kept_why) == (
        NOW + 8 * HOUR,
        "ada",
        "debugging",
    )
    assert said.reason == "ada keeps it until 2026-01-05 20:00 UTC: debugging"
    assert acts(case(), NOW)
    assert not acts(said.case, NOW + 8 * HOUR - SECOND)


def test_after_a_veto_a_new_warning_comes_first():
    """The warning from before it does not count any more, even once the veto is over."""
    said = say(case(), Keep(by="ada", until=NOW + HOUR))
    assert isinstance(said, Accepted)
    assert counting(said.case) == ()
    assert not acts(said.case, NOW + 9 * HOUR)


@pytest.mark.parametrize(
    ("until", "accepted"),
    [
        (NOW - SECOND, False),
        (NOW, False),
        (NOW + SECOND, True),
        (NOW + timedelta(days=7), True),
        (NOW + timedelta(days=7) + SECOND, False),
    ],
)
def test_a_veto_ends_in_time(until, accepted):
    """Not before now, and not later than the policy's longest."""
    assert isinstance(say(case(), Keep(by="ada", until=until)), Accepted) is accepted


def test_too_long_a_veto_is_refused_with_how_long_is_allowed():
    """And with where the limit stands, and what else there is."""
    said = say(case(), Keep(by="ada", until=NOW + timedelta(days=8)))
    assert isinstance(said, AnswerRefused)
    assert "until 2026-01-12 12:00 UTC at most (governance.longest_keep)" in said.why
    assert "exemption" in said.why


@pytest.mark.parametrize("state", set(CaseState) - {CaseState.ACTED})
def test_every_open_case_can_be_kept(state):
    """Also one of which nothing is known, and one that is due."""
    assert isinstance(say(case(state), Keep(by="ada", until=NOW + HOUR)), Accepted)


@pytest.mark.parametrize(
    ("remedy", "entry"),
    [(Remedy.STOP, "it was stopped"), (Remedy.DELETE, "it was deleted"), (Remedy.NONE, "it was acted on")],
)
@pytest.mark.parametrize("answer", [Keep(by="ada", until=NOW + HOUR), Extend(by="ada", hours=1)])
def test_it_is_too_late_for_what_was_acted_upon(remedy, entry, answer):
    """The refusal says what was done, and when."""
    said = say(cap(state=CaseState.ACTED, remedy=remedy), answer)
    assert said == AnswerRefused(why=f"it is too late: {entry} at 2026-01-05 12:00 UTC")


@pytest.mark.parametrize("answer", [Keep(by="ada", until=NOW + HOUR), Extend(by="ada", hours=1)])
@pytest.mark.parametrize(
    ("state", "error", "told"),
    [(CaseState.DUE, "", True), (CaseState.DUE, "quota: no", False), (CaseState.WARNED, "", False)],
)
def test_a_remedy_on_its_way_is_told(answer, state, error, told):
    """It was written down before the answer came and may have been sent; one that failed was not."""
    remediation = Remediation(target="1", request_id="r", at=NOW - SECOND, error=error)
    said = say(cap(state=state, remediations=(remediation,)), answer)
    assert isinstance(said, Accepted)
    assert bool(said.note) is told


def test_a_released_case_is_warned_anew():
    """The veto ends now; nothing is done on the strength of a warning from before it."""
    kept = case(keep_until=NOW + HOUR, kept_by="ada")
    said = say(kept, Release(by="bob", why="done"))
    assert isinstance(said, Accepted)
    assert (said.case.keep_until, said.case.kept_by) == (NOW, "bob")
    assert not acts(said.case, NOW + 9 * HOUR)


@pytest.mark.parametrize("until", [None, NOW - SECOND, NOW])
def test_only_a_veto_in_force_can_be_released(until):
    """One that is over, or never was, needs no release."""
    assert say(case(keep_until=until), Release(by="ada")) == AnswerRefused(why="it is not kept")


def test_more_time_is_added_up():
    """Hours upon hours; the warnings so far do not count against the new limit."""
    said = say(cap(extended=2.0), Extend(by="ada", hours=4))
    assert isinstance(said, Accepted)
    assert said.case.extended == 6
    assert said.reason == "ada extends it by 4 h, 6 h in all"
    assert said.case.warnings == (replace(WARNED, counts=False),)
    assert counting(said.case) == ()


@pytest.mark.parametrize(("hours", "accepted"), [(9.99, True), (10, True), (10.01, False)])
def test_more_time_than_the_ceiling_is_refused(hours, accepted):
    """20 h are the limit and 30 h the ceiling: ten more can be had."""
    assert isinstance(say(cap(), Extend(by="ada", hours=hours)), Accepted) is accepted


@pytest.mark.parametrize("hours", [0, -1, float("nan"), float("inf"), 366 * 24 + 1])
def test_no_time_is_no_extension(hours):
    """Nor is less than none, a number that is none, or more than a year even without a ceiling."""
    boundless = Policy(version="t")
    assert isinstance(say(cap(), Extend(by="ada", hours=hours), boundless), AnswerRefused)
    assert isinstance(say(cap(), Extend(by="ada", hours=1), boundless), Accepted)


def test_a_job_with_a_limit_of_its_own_has_the_more_room():
    """Its file says 2 h, the policy's ceiling is 30 h: 28 can be had, and not a minute more."""
    file = JobFile(max_runtime=2 * HOUR)

    def extended(hours):
        return answered(cap(), Extend(by="ada", hours=hours), policy=POLICY, now=NOW, file=file)

    assert isinstance(extended(28), Accepted)
    assert isinstance(extended(28.02), AnswerRefused)


def test_only_a_jobs_limit_can_be_extended():
    """The refusal says what helps instead."""
    said = say(case(), Extend(by="ada", hours=1))
    assert isinstance(said, AnswerRefused)
    assert "spotwarden cases keep" in said.why


ANSWERS = (
    st.builds(Keep, by=st.just("ada"), until=st.timedeltas(-HOUR, 200 * HOUR).map(lambda span: NOW + span))
    | st.builds(Release, by=st.just("ada"))
    | st.builds(Extend, by=st.just("ada"), hours=st.floats())
)


@given(
    st.sampled_from(CaseState),
    st.sampled_from(["idle", "job_cap"]),
    st.none() | st.timedeltas(-HOUR, HOUR).map(lambda span: NOW + span),
    ANSWERS,
    st.timedeltas(timedelta(), 300 * HOUR),
)
def test_no_answer_brings_a_remedy_nearer(state, rule, until, answer, later):
    """Whatever is answered, nothing may be done later that might not have been done without it."""
    before = case(state, rule=rule, keep_until=until)
    said = say(before, answer)
    if isinstance(said, Accepted) and acts(said.case, NOW + later):
        assert acts(before, NOW + later)


def test_a_history_is_told_in_the_order_of_time():
    """When it began, was suspected, warned, acted upon, and last looked at."""
    remediation = Remediation(target="1", request_id="r", at=NOW - SECOND, error="quota: no")
    told = history(case(CaseState.DUE, since=NOW - 3 * HOUR, remediations=(remediation,)))
    assert [one.what for one in told] == [
        "the trouble began",
        "first suspected",
        "warning 1 was accepted as notice n-1",
        "warning 1 arrived; its grace began",
        "stop 1 failed: quota: no",
        "last look on record, of 3",
    ]


@pytest.mark.parametrize(
    ("until", "stands"), [(NOW + SECOND, "kept until 2026-01-05 12:00"), (NOW, "warned"), (None, "warned")]
)
def test_a_case_stands_kept_only_while_it_is(until, stands):
    """A veto that is over is history."""
    assert standing(case(keep_until=until), NOW) == stands


ASKED = Approval(notice="n-2", asked=NOW - HOUR, remedy=Remedy.STOP, targets=("1",))


def test_an_approval_stands_in_the_case_with_who_gave_it_and_until_when():
    """For as long as the policy says; nothing else of the case changes."""
    said = say(case(approval=ASKED), Approve(by="ops", why="it hangs"))
    assert isinstance(said, Accepted)
    given = replace(ASKED, by="ops", at=NOW, until=NOW + 24 * HOUR, why="it hangs")
    assert said.case == case(approval=given)
    assert said.reason == "ops allows us to stop its 1 VMs until 2026-01-06 12:00 UTC: it hangs"


@pytest.mark.parametrize(("until", "by"), [(NOW + SECOND, "ada"), (NOW, None)], ids=["in force", "expired"])
def test_who_approves_again_changes_nothing(until, by):
    """The first word counts while it lasts; after that it is asked for anew."""
    given = case(approval=replace(ASKED, by="ada", at=NOW - HOUR, until=until))
    said = say(given, Approve(by="bob"))
    assert isinstance(said, Accepted if by else AnswerRefused)
    assert not isinstance(said, Accepted) or said.case == given


@pytest.mark.parametrize("answer", [Keep(by="ada", until=NOW + HOUR), Extend(by="ada", hours=2)])
def test_whoever_gives_more_time_takes_an_approval_back(answer):
    """After a veto, and after an extension, it is another remedy that would be applied."""
    given = cap(approval=replace(ASKED, by="ops", at=NOW, until=NOW + HOUR))
    said = say(given, answer)
    assert isinstance(said, Accepted)
    assert said.case.approval is None
