"""What a VM may be, on both sides of every limit."""

from datetime import UTC, date, datetime, timedelta

import pytest

from spotwarden.governance.compliance.facts import ComplianceFacts, JobWord
from spotwarden.governance.compliance.rule import judge, suspects
from spotwarden.model.brief import Brief
from spotwarden.model.finding import Reading
from spotwarden.model.fleet import Machine
from spotwarden.model.governance import GovernanceLimits, Remedy, Scope
from spotwarden.model.instance import Status
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Policy, Team
from spotwarden.model.rule_limits import ComplianceLimits
from spotwarden.model.tick import Tick

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
ADA = JobWord(owner="ada@x")


def vm(number=1, **said):
    """A VM of the job `job` that is a day old."""
    usual = {
        "id": str(1000 + number),
        "name": f"vm-{number}",
        "zone": "us-central1-a",
        "status": Status.RUNNING,
        "created": NOW - 24 * HOUR + number * SECOND,
        "machine_type": "g2-standard-4",
        "gpus": 1,
        "provisioning": "SPOT",
        "labels": {"spotwarden-job": "job", "team": "eyes"},
    }
    return Machine(**{**usual, **said})


def facts(*machines, jobs=None, **said):
    """All of them are their label's."""
    whose = {one.id: one.job for one in machines if one.job}
    jobs = dict.fromkeys(whose.values(), ADA) if jobs is None else jobs
    return ComplianceFacts(machines=machines, whose=whose, jobs=jobs, **said)


def brief(limits, *, about="", teams=None, ceilings=None, **governance):
    """A policy with these limits, at noon."""
    policy = Policy(
        version="t",
        compliance=limits,
        teams=teams or {},
        ceilings=ceilings or {},
        governance=GovernanceLimits(**governance),
    )
    tick = Tick(function="check_compliance", sweep="s", now=NOW, about=about)
    return Brief(policy=policy, tick=tick, steady=NOW - HOUR)


def found(limits, *machines, **said):
    """The findings about these VMs of her job, by VM."""
    judged = judge(facts(*machines), brief(limits, **said))
    return {one.subject.key: one for one in judged.findings}


def test_a_policy_that_names_nothing_allows_everything():
    """The default."""
    assert found(ComplianceLimits(), vm(), vm(2, labels={"spotwarden-job": "job"}, machine_type="x")) == {}


@pytest.mark.parametrize(
    ("limits", "machine", "says"),
    [
        ({"labels": ("team",)}, {}, ""),
        ({"labels": ("team", "cost-center")}, {}, "its label cost-center is missing"),
        (
            {"labels": ("team",)},
            {"labels": {"spotwarden-job": "job", "team": ""}},
            "its label team is missing",
        ),
        ({"machine_types": ("g2-*", "a2-*")}, {}, ""),
        ({"machine_types": ("g2-standard-4",)}, {}, ""),
        ({"machine_types": ("g2-standard-8",)}, {}, "its machine type is g2-standard-4"),
        ({"machine_types": ("g2",)}, {}, "its machine type is g2-standard-4"),
        ({"machine_types": ("a2-highgpu-[12]g",)}, {"machine_type": "a2-highgpu-2g"}, ""),
        ({"machine_types": ("a2-highgpu-[12]g",)}, {"machine_type": "a2-highgpu-4g"}, "is a2-highgpu-4g"),
        ({"regions": ("us-central1",)}, {}, ""),
        ({"regions": ("us-*",)}, {}, ""),
        ({"regions": ("us-central1",)}, {"zone": "us-central2-b"}, "its region is us-central2"),
        ({"regions": ("europe-*",)}, {}, "its region is us-central1"),
        ({"provisioning": ("SPOT",)}, {}, ""),
        ({"provisioning": ("SPOT", "FLEX_START")}, {"provisioning": "FLEX_START"}, ""),
        ({"provisioning": ("SPOT",)}, {"provisioning": "STANDARD"}, "its provisioning model is STANDARD"),
    ],
)
def test_a_vm_is_what_is_allowed_or_is_told_what_it_is(limits, machine, says):
    """Nothing of what fits is told."""
    findings = found(ComplianceLimits(**limits), vm(**machine))
    assert [one.reason.partition(": ")[2] for one in findings.values()] == ([f"{says}."] if says else []) or (
        says and says in findings["1001"].reason
    )


def test_one_finding_tells_all_that_is_wrong_with_a_vm():
    """With what is allowed, and what its owner can do."""
    limits = ComplianceLimits(labels=("cost-center",), regions=("europe-*",), remedy=Remedy.STOP)
    (finding,) = found(limits, vm()).values()
    assert finding.subject.job == "job"
    assert finding.subject.owner == "ada@x"
    assert [(one.id, one.name, one.zone) for one in finding.subject.targets] == [
        ("1001", "vm-1", "us-central1-a")
    ]
    assert finding.reason == (
        "vm-1 violates the policy: its label cost-center is missing; its region is us-central1."
    )
    assert finding.evidence == {
        "label cost-center": "is missing; allowed: any value",
        "region": "us-central1; allowed: europe-*",
    }
    assert finding.todo == (
        "run `gcloud compute instances add-labels vm-1 --zone=us-central1-a --labels=cost-center=…`;"
        " launch it again with values that the policy allows"
    )
    assert (finding.level, finding.ripe, finding.exempt) == (1, True, "")
    assert finding.limits == limits
    assert finding.since == vm().created


@pytest.mark.parametrize(("most", "too_many"), [(3, []), (2, ["1003"]), (1, ["1002", "1003"]), (None, [])])
def test_of_too_many_vms_the_newest_are_too_many(most, too_many):
    """In whichever order they are listed."""
    limits = ComplianceLimits(most_vms_per_job=most)
    machines = (vm(3), vm(1), vm(2))
    assert sorted(found(limits, *machines)) == too_many
    assert sorted(found(limits, *reversed(machines))) == too_many


@pytest.mark.parametrize(
    ("most", "too_many"), [(16, []), (15, ["1003"]), (8, ["1003"]), (7, ["1001", "1003"])]
)
def test_of_too_many_gpus_those_of_the_newest_vms_are_too_many(most, too_many):
    """A VM without GPUs takes none."""
    machines = (vm(1, gpus=8), vm(2, gpus=0), vm(3, gpus=8))
    assert sorted(found(ComplianceLimits(most_gpus_per_job=most), *machines)) == too_many


def test_of_vms_of_one_age_it_is_always_the_same_that_are_too_many():
    """The nodes of a gang are made in one moment."""
    machines = [vm(number, created=NOW - HOUR) for number in (1, 2, 3)]
    limits = ComplianceLimits(most_vms_per_job=2)
    assert list(found(limits, *machines)) == list(found(limits, *reversed(machines))) == ["1003"]


def test_each_job_is_counted_by_itself():
    """Two jobs of two VMs are not one of four."""
    others = [vm(number, labels={"spotwarden-job": "other"}) for number in (3, 4)]
    assert found(ComplianceLimits(most_vms_per_job=2), vm(1), vm(2), *others) == {}
    assert list(found(ComplianceLimits(most_vms_per_job=2), vm(1), vm(2), vm(5), *others)) == ["1005"]


def test_a_team_may_have_what_others_may_not():
    """And the reverse."""
    teams = {"eyes": Team(owners=("ada@*",), rules={"compliance": {"regions": ["us-*"]}})}
    limits = ComplianceLimits(regions=("europe-*",))
    assert found(limits, vm(), teams=teams) == {}
    assert found(limits, vm(zone="europe-west4-a"), teams=teams)
    bob = facts(vm(), jobs={"job": JobWord(owner="bob@x")})
    assert judge(bob, brief(limits, teams=teams)).findings


def test_a_job_may_have_more_vms_as_far_as_the_ceiling_lets_it():
    """What it is made of is not for a job to say."""
    file = JobFile(rules={"compliance": {"most_vms_per_job": 3, "regions": ["us-*"]}})
    known = facts(vm(1), vm(2), vm(3), vm(4), jobs={"job": JobWord(owner="ada@x", file=file)})
    limits = ComplianceLimits(most_vms_per_job=1)
    ceilings = {"compliance": {"most_vms_per_job": 2}}

    def keys(*said, **more):
        return [one.subject.key for one in judge(known, brief(*said, **more)).findings]

    assert keys(limits) == ["1002", "1003", "1004"]
    assert keys(limits, ceilings=ceilings) == ["1003", "1004"]
    assert len(keys(ComplianceLimits(regions=("europe-*",)))) == 4


@pytest.mark.parametrize(
    ("machine", "word"),
    [
        ({"labels": {"spotwarden-job": "job", "spotwarden-keep": "2026-11-21"}}, ADA),
        ({"labels": {"spotwarden-job": "job", "spotwarden-keep": "please"}}, ADA),
        ({}, JobWord(owner="ada@x", file=JobFile(keep_until=date(2026, 11, 21)))),
        ({}, JobWord(owner="ada@x", file=JobFile(problem="line 3"))),
    ],
)
def test_what_is_exempt_is_told_and_says_why(machine, word):
    """Its label, its job's file, or a file that nobody can read."""
    known = facts(vm(**machine), jobs={"job": word})
    (finding,) = judge(known, brief(ComplianceLimits(regions=("europe-*",)))).findings
    assert finding.exempt


def test_a_record_that_cannot_be_read_makes_a_vm_unknown():
    """Nobody knows whose limits hold."""
    known = facts(vm(), jobs={"job": JobWord(problem="no answer")})
    (finding,) = judge(known, brief(ComplianceLimits(regions=("europe-*",)))).findings
    assert finding.reading is Reading.UNKNOWN
    assert not finding.ripe
    assert finding.evidence == {"problem": "no answer"}


def test_a_vm_of_nobody_is_told_about_only_where_the_policy_looks_at_the_whole_project():
    """And is never ours to touch; how many of them there are is nobody's count."""
    limits = ComplianceLimits(regions=("europe-*",), most_vms_per_job=1)
    strangers = (vm(1, labels={"owner": "eve"}), vm(2, labels={}))
    assert found(limits, *strangers) == {}
    told = found(limits, *strangers, scope=Scope.PROJECT)
    assert [(one.subject.ours, one.subject.owner) for one in told.values()] == [(False, "eve"), (False, "")]
    assert found(ComplianceLimits(most_vms_per_job=1), *strangers, scope=Scope.PROJECT) == {}


@pytest.mark.parametrize(("age", "told"), [(599, False), (600, True)])
def test_a_young_vm_of_an_unknown_owner_is_left_until_its_team_is_known(age, told):
    """Its job's record may be written a moment after it; without teams nothing hangs on it."""
    limits = ComplianceLimits(regions=("europe-*",))
    known = facts(vm(created=NOW - age * SECOND), jobs={"job": JobWord()})
    teams = {"eyes": Team(owners=("ada@*",))}
    assert bool(judge(known, brief(limits, teams=teams)).findings) is told
    assert judge(known, brief(limits)).findings
    hers = facts(vm(created=NOW), jobs={"job": ADA})
    assert judge(hers, brief(limits, teams=teams)).findings


def test_of_an_event_only_its_own_vm_is_told_and_the_others_count():
    """The look is not whole: what it does not find may be there."""
    limits = ComplianceLimits(most_vms_per_job=1)
    known = facts(vm(1), vm(2), vm(3), only=frozenset({"1002"}))
    judged = judge(known, brief(limits, about="vm-2"))
    assert [one.subject.key for one in judged.findings] == ["1002"]
    assert not judged.whole
    assert judge(facts(vm(1)), brief(limits)).whole


def test_of_an_event_only_its_own_vm_is_unknown():
    """Of the others nobody has asked."""
    word = {"job": JobWord(problem="no answer")}
    known = facts(vm(1), vm(2), jobs=word, only=frozenset({"1002"}))
    found = judge(known, brief(ComplianceLimits(), about="vm-2")).findings
    assert [one.subject.key for one in found] == ["1002"]


def test_what_was_looked_at_is_said():
    """For the share of the blast radius, and for cases whose VM is gone or hidden."""
    known = facts(vm(1), vm(2, labels={}), unreachable=("us-east4-a",))
    judged = judge(known, brief(ComplianceLimits()))
    assert judged.rules == ("compliance",)
    assert judged.present == {"1001", "1002"}
    assert judged.fleet == 1
    assert judged.hidden == ("us-east4-a",)


@pytest.mark.parametrize(
    ("limits", "team", "asked"),
    [
        ({}, {}, set()),
        ({"regions": ("us-*",)}, {}, set()),
        ({"regions": ("europe-*",)}, {}, {"job"}),
        ({}, {"regions": ["europe-*"]}, {"job"}),
        ({"most_vms_per_job": 2}, {}, set()),
        ({"most_vms_per_job": 1}, {}, {"job"}),
        ({"most_vms_per_job": 2}, {"most_vms_per_job": 1}, {"job"}),
    ],
)
def test_only_of_jobs_that_may_be_at_fault_more_is_asked(limits, team, asked):
    """By the policy's limits, or by those of any team."""
    teams = {"eyes": Team(owners=("ada@*",), rules={"compliance": team})} if team else {}
    policy = brief(ComplianceLimits(**limits), teams=teams).policy
    assert suspects(facts(vm(1), vm(2), vm(9, labels={}, zone="asia-east1-a")), policy) == asked


def test_of_jobs_that_nothing_was_asked_of_nothing_is_told():
    """They were content by anybody's limits."""
    assert judge(facts(vm(), jobs={}), brief(ComplianceLimits(regions=("europe-*",)))).findings == ()


# --- gangs ---

STOP_A2 = ComplianceLimits(remedy=Remedy.STOP, machine_types=("g2-*",))


def gang(*machines, **said):
    """What is known of a gang of these VMs, whose owner is ada."""
    word = JobWord(owner="ada@x", nodes=frozenset(machine.id for machine in machines))
    return facts(*machines, jobs={"job": word}, **said)


def of_gang(*machines, limits=STOP_A2, **said):
    """The findings about a gang of these VMs."""
    return judge(gang(*machines, **said), brief(limits)).findings


def test_a_gang_that_is_to_be_stopped_is_one_finding_about_all_its_nodes():
    """One node of three is at fault; without it the others come to nothing."""
    [finding] = of_gang(vm(1), vm(2, machine_type="a2-highgpu-1g"), vm(3))
    assert finding.subject.key == "job"
    assert {target.id for target in finding.subject.targets} == {"1001", "1002", "1003"}
    assert finding.reason.startswith("vm-2 violates the policy")
    assert finding.evidence["nodes"] == "3"
    assert finding.evidence["nodes at fault"] == "vm-2"
    assert finding.ripe


def test_of_a_gang_that_is_only_told_of_each_vm_that_is_at_fault_is_named():
    """Where nothing is done there is nothing to do by halves."""
    limits = ComplianceLimits(machine_types=("g2-*",))
    found = of_gang(vm(1), vm(2, machine_type="a2-x"), vm(3, machine_type="a2-x"), limits=limits)
    assert [finding.subject.key for finding in found] == ["1002", "1003"]


def test_a_gang_without_a_fault_is_no_finding():
    """As any VM."""
    assert of_gang(vm(1), vm(2)) == ()


def test_a_vm_that_a_gang_has_left_behind_is_judged_by_itself():
    """Of an attempt before: it is none of the present one's nodes, and takes none of them with it."""
    old = vm(9, machine_type="a2-x")
    seen = gang(vm(1), vm(2))
    seen = ComplianceFacts(
        machines=(*seen.machines, old), whose={**seen.whose, old.id: "job"}, jobs=seen.jobs
    )
    [finding] = judge(seen, brief(STOP_A2)).findings
    assert finding.subject.key == old.id
    assert [target.id for target in finding.subject.targets] == [old.id]


def test_one_node_that_is_kept_keeps_its_gang():
    """Though it is not the one that is at fault."""
    kept = vm(1, labels={"spotwarden-job": "job", "spotwarden-keep": "2999-12-31"})
    [finding] = of_gang(kept, vm(2, machine_type="a2-x"))
    assert "keeps it" in finding.exempt


def test_while_a_zone_is_hidden_a_gang_is_not_acted_upon():
    """A node of it may be there; a job of one VM has none that could be."""
    bad = vm(2, machine_type="a2-x")
    [finding] = of_gang(vm(1), bad, unreachable=("us-central1-b",))
    [alone] = judge(facts(bad, unreachable=("us-central1-b",)), brief(STOP_A2)).findings
    assert (finding.ripe, alone.ripe) == (False, True)


def test_what_was_warned_before_a_node_of_the_gang_began_is_no_warning():
    """The newest of them counts."""
    [finding] = of_gang(vm(1, machine_type="a2-x"), vm(2, created=NOW - HOUR))
    assert finding.since == NOW - HOUR


def test_a_gang_of_which_one_node_is_left_is_still_one():
    """Its case is the gang's: the others may be on their way back."""
    word = JobWord(owner="ada@x", nodes=frozenset(("1001", "1002")))
    [finding] = judge(facts(vm(1, machine_type="a2-x"), jobs={"job": word}), brief(STOP_A2)).findings
    assert finding.subject.key == "job"


@pytest.mark.parametrize(("lacking", "targets"), [((), {"1002"}), (("vm-1",), {"1001", "1002"})])
def test_a_gang_that_bends_is_one_with_what_it_asks_for_again(lacking, targets):
    """A node that was told of its end has left the record and still runs; the last one left is the gang."""
    word = JobWord(
        owner="ada@x", nodes=frozenset(("1002",)), lacking=frozenset(lacking), file=JobFile(nodes="1:2")
    )
    bad = (vm(1, machine_type="a2-x"), vm(2, machine_type="a2-x"))
    found = {
        finding.subject.key: {target.id for target in finding.subject.targets}
        for finding in judge(facts(*bad, jobs={"job": word}), brief(STOP_A2)).findings
    }
    assert found["job"] == targets
    assert found.keys() == ({"job"} if lacking else {"job", "1001"})


@pytest.mark.parametrize(("only", "count"), [({"1001"}, 1), ({"1002"}, 1), ({"7"}, 0)])
def test_a_second_look_at_any_node_sees_the_gang(only, count):
    """At the VMs that may be acted upon, of which it is one."""
    seen = gang(vm(1), vm(2, machine_type="a2-x"), only=frozenset(only))
    assert len(judge(seen, brief(STOP_A2)).findings) == count


def test_of_a_gang_whose_record_cannot_be_read_nobody_knows():
    """One finding, about all of it."""
    word = JobWord(problem="no answer", nodes=frozenset(("1001", "1002")))
    seen = facts(vm(1), vm(2, machine_type="a2-x"), jobs={"job": word})
    [finding] = judge(seen, brief(STOP_A2)).findings
    assert (finding.subject.key, finding.reading) == ("job", Reading.UNKNOWN)
