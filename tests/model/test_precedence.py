"""Whose limits hold: the policy's, then the team's, then the job's, each within the ceilings."""

from datetime import timedelta

import pytest

from spotwarden.model.governance import Mode, Remedy
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import RULES, Policy, Team
from spotwarden.model.precedence import LimitSource, everybodys, explain, limits, misread, team_of
from spotwarden.model.rule_limits import IdleLimits, JobCap, OrphanLimits, StallLimits

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def policy(*, team=None, ceilings=None, **said):
    """A policy; `team` is what the team of `*@x` says about idle VMs, `ceilings` those of the same rule."""
    teams = {"x": Team(owners=("*@x",), rules={"idle": team})} if team is not None else {}
    return Policy(version="t", teams=teams, ceilings={"idle": ceilings} if ceilings else {}, **said)


def idle(known, owner="ada@x", **job):
    """The limits for idle VMs of a job of hers whose file says this."""
    return limits(known, "idle", owner=owner, job_file=JobFile(rules={"idle": job} if job else {}))


@pytest.mark.parametrize("rule", RULES)
def test_where_nobody_says_anything_the_policy_holds(rule):
    """For a job, and for nobody in particular."""
    known = policy()
    assert limits(known, rule) == known.rule(rule)
    assert limits(known, rule, owner="ada@x", job_file=JobFile(owner="ada@x")) == known.rule(rule)


def test_there_is_no_other_rule():
    """A slip in our own code is no empty limit."""
    with pytest.raises(KeyError):
        limits(policy(), "idel")


def test_a_team_says_what_holds_for_its_owners_and_for_nobody_else():
    """In whichever direction, where there is no ceiling."""
    known = policy(team={"act": "9h", "threshold": 50})
    assert idle(known).act == 9 * HOUR
    assert idle(known).threshold == 50.0
    assert idle(known, owner="ada@y").act == 2 * HOUR
    assert idle(known, owner="").act == 2 * HOUR


def test_what_a_team_leaves_out_is_the_policys_own():
    """Not the default of the code."""
    known = policy(team={"act": "9h"}, idle=IdleLimits(grace=40 * MINUTE))
    assert idle(known).grace == 40 * MINUTE


@pytest.mark.parametrize(
    ("owner", "team"),
    [("ada@vision.org", "eyes"), ("ADA@Vision.org", "eyes"), ("ada@nlp.org", "words"), ("ada", ""), ("", "")],
)
def test_a_team_is_found_by_its_pattern(owner, team):
    """Addresses are alike in capitals and small letters; nobody is in no team, whatever its pattern."""
    teams = {"words": Team(owners=("*@nlp.org",)), "eyes": Team(owners=("*@vision.org", "bob@*"))}
    assert team_of(Policy(version="t", teams=teams), owner) == team


def test_of_two_teams_that_fit_the_first_by_name_counts():
    """In whichever order the file has them."""
    one, other = Team(owners=("ada@*",)), Team(owners=("*@x",))
    assert team_of(Policy(version="t", teams={"b": one, "a": other}), "ada@x") == "a"
    assert team_of(Policy(version="t", teams={"a": one, "b": other}), "ada@x") == "a"


def test_a_team_of_everybody_is_not_the_team_of_nobody():
    """A VM whose owner is unknown is in no team."""
    assert team_of(Policy(version="t", teams={"all": Team(owners=("*",))}), "") == ""


@pytest.mark.parametrize(("said", "holds"), [("239m", 239 * MINUTE), ("4h", 4 * HOUR), ("241m", 4 * HOUR)])
def test_a_team_goes_as_far_as_the_ceiling(said, holds):
    """And not a minute further."""
    assert idle(policy(team={"act": said}, ceilings={"act": "4h"})).act == holds


@pytest.mark.parametrize(("said", "holds"), [("239m", 239 * MINUTE), ("4h", 4 * HOUR), ("241m", 4 * HOUR)])
def test_a_job_goes_as_far_as_the_ceiling(said, holds):
    """And not a minute further."""
    assert idle(policy(ceilings={"act": "4h"}), act=said).act == holds


@pytest.mark.parametrize(("said", "holds"), [("119m", 119 * MINUTE), ("2h", 2 * HOUR), ("121m", 2 * HOUR)])
def test_without_a_ceiling_a_job_can_only_be_stricter(said, holds):
    """What its owner may have is for the policy to say."""
    assert idle(policy(), act=said).act == holds


@pytest.mark.parametrize(("said", "holds"), [(5.1, 5.1), (5, 5.0), (4.9, 5.0)])
def test_for_a_threshold_higher_is_stricter(said, holds):
    """More is idle below 5.1 % than below 5."""
    assert idle(policy(), threshold=said).threshold == holds


@pytest.mark.parametrize(("said", "holds"), [(3.1, 3.1), (3, 3.0), (2.9, 3.0)])
def test_a_ceiling_of_a_threshold_is_a_floor(said, holds):
    """It says how far in the lenient direction."""
    assert idle(policy(ceilings={"threshold": 3}), threshold=said).threshold == holds


def test_a_job_is_held_against_its_teams_value_not_the_policys():
    """Stricter than the team is stricter; between team and policy is more lenient."""
    known = policy(team={"act": "1h30m", "warn": ["1h"]})
    assert idle(known, act="80m").act == 80 * MINUTE
    assert idle(known, act="100m").act == 90 * MINUTE


def test_a_job_keeps_what_its_team_has_beyond_no_ceiling():
    """A team may be lenient; its jobs may have as much, and be stricter."""
    known = policy(team={"act": "9h"})
    assert idle(known, act="8h").act == 8 * HOUR
    assert idle(known, act="10h").act == 9 * HOUR


@pytest.mark.parametrize(
    ("policys", "ceiling", "said", "holds"),
    [
        (Remedy.NONE, None, "stop", Remedy.STOP),
        (Remedy.STOP, None, "none", Remedy.STOP),
        (Remedy.STOP, None, "delete", Remedy.DELETE),
        (Remedy.DELETE, "stop", "stop", Remedy.STOP),
        (Remedy.DELETE, "stop", "none", Remedy.STOP),
        (Remedy.DELETE, "none", "none", Remedy.NONE),
    ],
)
def test_of_remedies_none_is_the_most_lenient_and_delete_the_strictest(policys, ceiling, said, holds):
    """A job gets out of what is done in the end only as far as the ceiling lets it."""
    ceilings = {"orphan": {"remedy": ceiling}} if ceiling else {}
    known = Policy(version="t", orphan=OrphanLimits(remedy=policys), ceilings=ceilings)
    job = JobFile(rules={"orphan": {"remedy": said}})
    assert limits(known, "orphan", job_file=job).remedy is holds


def test_no_bound_is_the_most_lenient():
    """Where the policy caps nothing a job may cap itself; where it caps, no job may not."""
    job = JobFile(rules={"job_cap": {"max_runtime": "3h"}})
    assert limits(policy(), "job_cap", job_file=job).max_runtime == 3 * HOUR
    known = policy(job_cap=JobCap(max_runtime=2 * HOUR))
    assert limits(known, "job_cap", job_file=job).max_runtime == 2 * HOUR


@pytest.mark.parametrize("said", ["observe", "enforce"])
def test_no_job_switches_a_rule_off_or_on(said):
    """Not even where it is asked nicely."""
    for mode in Mode:
        assert idle(policy(idle=IdleLimits(mode=mode)), mode=said).mode is mode


def test_a_team_can_observe_while_the_others_enforce_and_the_reverse():
    """Ops roll a rule out team by team."""
    assert idle(policy(team={"mode": "observe"})).mode is Mode.OBSERVE
    known = policy(team={"mode": "enforce"}, idle=IdleLimits(mode=Mode.OBSERVE))
    assert idle(known).mode is Mode.ENFORCE
    assert idle(known, owner="ada@y").mode is Mode.OBSERVE


@pytest.mark.parametrize(
    ("name", "said"), [("looks", 9), ("warn", ["3h"]), ("lag", "1h"), ("coverage", 0.1), ("mode", "observe")]
)
def test_what_is_fixed_is_no_jobs_to_say(name, said):
    """It would not be more lenient or stricter, but wrong."""
    known = policy()
    assert idle(known, **{name: said}) == known.idle
    held = {one.name: one for one in explain(known, "idle", job_file=JobFile(rules={"idle": {name: said}}))}
    assert "no job can change it" in held[name].note


@pytest.mark.parametrize(
    ("act", "warn"),
    [
        ("110m", (60 * MINUTE, 105 * MINUTE)),
        ("105m", (60 * MINUTE,)),
        ("61m", (60 * MINUTE,)),
        ("60m", (45 * MINUTE,)),
        ("20m", (10 * MINUTE,)),
    ],
)
def test_a_job_that_acts_sooner_is_warned_before(act, warn):
    """Never without a warning: where none of the policy's comes in time, one does."""
    assert idle(policy(), act=act).warn == warn


def test_every_value_says_where_it_comes_from():
    """As `spotwarden policy explain` prints it."""
    known = policy(
        idle=IdleLimits(grace=20 * MINUTE),
        team={"looks": 2, "act": "9h"},
        ceilings={"act": "4h", "remedy": "none"},
    )
    job = JobFile(rules={"idle": {"threshold": 6, "grace": "1h", "remedy": 3}})
    held = {one.name: one for one in explain(known, "idle", owner="ada@x", job_file=job)}
    assert {name: one.source for name, one in held.items()} == {
        "mode": LimitSource.DEFAULT,
        "remedy": LimitSource.DEFAULT,
        "grace": LimitSource.POLICY,
        "looks": LimitSource.TEAM,
        "threshold": LimitSource.JOB,
        "warn": LimitSource.DEFAULT,
        "act": LimitSource.CEILING,
        "lag": LimitSource.DEFAULT,
        "coverage": LimitSource.DEFAULT,
    }
    assert held["act"].ceiling == 4 * HOUR
    assert held["act"].note == "the team says 9h"
    assert held["grace"].note == "job.toml says 1h, beyond the ceiling"
    assert held["remedy"].note.startswith("job.toml is invalid: it is 3; it must be")


@pytest.mark.parametrize(("said", "source"), [("239m", "own"), ("4h", "own"), ("241m", "ceiling")])
def test_at_the_ceiling_it_is_still_the_teams_or_jobs_own_word(said, source):
    """Only what is cut is the ceiling's."""
    job = JobFile(rules={"idle": {"act": said}})
    by_team = explain(policy(team={"act": said}, ceilings={"act": "4h"}), "idle", owner="ada@x")
    by_job = explain(policy(ceilings={"act": "4h"}), "idle", job_file=job)
    for held, own in ((by_team, LimitSource.TEAM), (by_job, LimitSource.JOB)):
        (act,) = [one for one in held if one.name == "act"]
        assert act.source is (own if source == "own" else LimitSource.CEILING)


def test_a_ceiling_never_keeps_a_job_from_being_stricter():
    """Not even one that is below the policy itself, which a file is refused for."""
    assert idle(policy(ceilings={"act": "1h"}), act="90m").act == 90 * MINUTE


def test_what_is_explained_is_what_holds():
    """Both are one."""
    known = policy(team={"act": "3h"}, ceilings={"act": "4h"})
    job = JobFile(rules={"idle": {"act": "30m", "threshold": 7}})
    held = limits(known, "idle", owner="ada@x", job_file=job)
    assert {one.name: one.value for one in explain(known, "idle", owner="ada@x", job_file=job)} == {
        name: getattr(held, name) for name in held.__struct_fields__
    }


def test_the_limits_of_everybody_are_the_policys_and_each_teams():
    """What has to be looked at hangs on all of them."""
    found = everybodys(policy(team={"threshold": 20}), "idle")
    assert [one.threshold for one in found] == [5.0, 20.0]
    assert everybodys(policy(), "orphan") == (OrphanLimits(),)


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ({}, ""),
        ({"idle": {"act": "3h"}}, ""),
        ({"stall": {"after": "soon"}}, ""),
        ({"idle": {"act": "soon"}}, "rules.idle.act: it is 'soon'; it must be a time such as 90s"),
        ({"idle": {"act": 3}}, "rules.idle.act: it is the bare number 3; write a time"),
        ({"idle": {"at": "3h"}}, "rules.idle.at: unknown value; did you mean `act`?"),
        ({"idel": {"act": "3h"}}, "rules.idel: unknown rule; did you mean `idle`?"),
    ],
)
def test_what_a_job_says_in_vain_is_known(rules, says):
    """Of this rule, or of one that may have been meant for it."""
    assert misread("idle", JobFile(rules=rules)).startswith(says)
    assert bool(misread("idle", JobFile(rules=rules))) == bool(says)


def test_two_policies_are_never_mixed_up():
    """What is kept for one says nothing of another."""
    for hours in (3, 4, 5):
        assert idle(policy(team={"act": f"{hours}h"})).act == hours * HOUR


DAY = timedelta(days=1)


def silence(known, owner="ada@x", **said):
    """How long a job whose file says this may be silent."""
    return limits(known, "stall", owner=owner, job_file=JobFile(rules={"stall": said})).after


def may_be_silent(*, ceiling=None, of_all=2 * HOUR, of_team=None):
    """A policy with these limits of silence."""
    teams = {"x": Team(owners=("*@x",), rules={"stall": {"after": of_team}})} if of_team else {}
    ceilings = {"stall": {"after": ceiling}} if ceiling else {}
    return Policy(version="t", stall=StallLimits(after=of_all), teams=teams, ceilings=ceilings)


@pytest.mark.parametrize(
    ("known", "said", "holds"),
    [
        (may_be_silent(), "9h", 9 * HOUR),
        (may_be_silent(), "24h", DAY),
        (may_be_silent(), "25h", DAY),
        (may_be_silent(), "1h", HOUR),
        (may_be_silent(ceiling="3h"), "9h", 3 * HOUR),
        (may_be_silent(ceiling="90d"), "9d", 9 * DAY),
        (may_be_silent(of_all=2 * DAY), "9d", 2 * DAY),
        (may_be_silent(of_team="3d"), "9d", 3 * DAY),
        (may_be_silent(of_team="3d"), "2d", 2 * DAY),
    ],
)
def test_a_job_may_ask_for_a_silence_of_a_day_without_a_ceiling_of_the_policy(known, said, holds):
    """Only its developer knows how long it thinks; where ops have a ceiling, that holds instead."""
    assert silence(known, after=said) == holds


def test_the_default_ceiling_is_none_for_a_team():
    """Ops write what a team may, and mean it."""
    assert limits(may_be_silent(of_team="3d"), "stall", owner="ada@x").after == 3 * DAY


def test_the_default_ceiling_is_shown_where_it_holds():
    """As one of the policy is, with what was said in vain."""
    file = JobFile(rules={"stall": {"after": "9d"}})
    [after] = [one for one in explain(may_be_silent(), "stall", job_file=file) if one.name == "after"]
    assert (after.value, after.source, after.ceiling) == (DAY, LimitSource.CEILING, DAY)
    assert after.note == "job.toml says 9d"
