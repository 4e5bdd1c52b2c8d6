"""What the rule `compliance` would stop a job's VM for: whether a job is launched as that, and where."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.governance import Exemption, GovernanceLimits, Mode, Remedy
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.policy import Policy, Team
from spotwarden.model.rule_limits import ComplianceLimits
from spotwarden.recovery.kinds.complying import comply, forbidden, within
from spotwarden.recovery.kinds.ladder import ladder_of
from spotwarden.recovery.places.choosing import why_on_demand
from tests.recovery.facts import HOME

STOPS = ComplianceLimits(machine_types=("g2-*",), remedy=Remedy.STOP, grace=timedelta(hours=2))
POLICY = Policy(version="test", mode=Mode.ENFORCE, compliance=STOPS)
MORE = {"compliance": {"machine_types": ["a2-*"]}}
OTHER, FITTING = "a2-highgpu-1g", "g2-standard-8"
ADA = "ada@example.com"


@pytest.fixture
def why(some):
    """Why a job of hers may not be on this machine type."""

    def asked(policy, tick, machine=OTHER, body=None):
        launch = some.launch()
        home = replace(launch.choices[0], request=replace(launch.request, body=body or {}))
        return forbidden(machine, replace(launch, choices=(home,)), policy, tick, owner=ADA, file=JobFile())

    return asked


def test_a_machine_type_that_the_policy_stops_is_forbidden(tick, why):
    """With what it allows, and what would happen."""
    assert why(POLICY, tick) == (
        "the machine type 'a2-highgpu-1g' is not among g2-*; VMs of other types are stopped 2h after a"
        " warning (compliance.machine_types)"
    )
    assert not why(POLICY, tick, FITTING)


@pytest.mark.parametrize(
    "policy",
    [
        replace(POLICY, mode=Mode.OBSERVE),
        replace(POLICY, compliance=replace(STOPS, mode=Mode.OBSERVE)),
        replace(POLICY, compliance=replace(STOPS, remedy=Remedy.NONE)),
        replace(POLICY, compliance=replace(STOPS, machine_types=())),
        replace(
            POLICY, teams={"big": Team(owners=(ADA,), rules={"compliance": {"machine_types": ["a2-*"]}})}
        ),
    ],
    ids=["observes", "the rule observes", "only tells", "allows all", "her team may"],
)
def test_what_would_not_be_stopped_is_not_forbidden(policy, tick, why):
    """The owner is told, as before."""
    assert not why(policy, tick)


def test_what_a_team_may_another_may_not(tick, why):
    """By the job's owner."""
    team = Team(owners=("bob@*",), rules=MORE)
    assert why(replace(POLICY, teams={"big": team}), tick)


def test_who_is_exempt_may(tick, why):
    """Up to and with the day that the policy names."""
    for days, is_forbidden in ((0, False), (-1, True)):
        until = (tick.now + timedelta(days=days)).date()
        exemption = Exemption(owner="ada@*", until=until, why="paper")
        governance = GovernanceLimits(exemptions=(exemption,))
        assert bool(why(replace(POLICY, governance=governance), tick)) is is_forbidden


@pytest.mark.parametrize(
    ("day", "is_forbidden"), [("2099-01-01", False), ("2000-01-01", True), ("soon", False)]
)
def test_a_script_whose_label_keeps_its_vms_may(tick, why, day, is_forbidden):
    """Of a gang, too; a label that can't be read keeps them as well."""
    body = {"labels": {"spotwarden-keep": day}}
    assert bool(why(POLICY, tick, body=body)) is is_forbidden
    assert bool(why(POLICY, tick, body={"instanceProperties": body})) is is_forbidden


def test_a_job_is_not_launched_on_another_machine_type_that_would_be_stopped(some, tick):
    """On its script's own it is, whatever the policy says by now: its owner is warned first."""
    others = tuple(replace(some.launch(), machine=machine) for machine in (OTHER, FITTING))
    facts = some.job(launch=replace(some.launch(), machine=OTHER, instead=others))
    launch = comply(facts, POLICY, tick).launch
    assert (launch.machine, [other.machine for other in launch.instead]) == (OTHER, [FITTING])


SPOT_ONLY = replace(POLICY, compliance=replace(STOPS, machine_types=(), provisioning=("SPOT",)))
LADDER = tuple(Rung(model=model, up_to=timedelta(hours=1)) for model in VmModel)


def test_a_kind_of_vm_that_would_be_stopped_is_left_out_of_the_ladder(some, tick):
    """Whoever has written it; where nothing is left of it, the script's own kind is asked for."""
    for file, limits in (
        (JobFile(ladder=LADDER), PlacementLimits()),
        (JobFile(), PlacementLimits(ladder=LADDER)),
    ):
        facts = some.job(launch=some.launch(), file=file)
        assert ladder_of(comply(facts, POLICY, tick), limits) == LADDER
        assert ladder_of(comply(facts, SPOT_ONLY, tick), limits) == LADDER[:1]
        none = replace(SPOT_ONLY, compliance=replace(SPOT_ONLY.compliance, provisioning=("TPU",)))
        assert ladder_of(comply(facts, none, tick), limits) == ()


@pytest.mark.parametrize("provisioning", [("SPOT", "STANDARD"), (), ("S*",)])
def test_what_is_allowed_stays(some, tick, provisioning):
    """By pattern as well."""
    policy = replace(SPOT_ONLY, compliance=replace(SPOT_ONLY.compliance, provisioning=provisioning))
    facts = comply(some.job(launch=some.launch(), file=JobFile(ladder=LADDER)), policy, tick)
    assert LADDER[2] in ladder_of(facts, PlacementLimits())


def test_a_job_does_not_become_an_on_demand_vm_that_would_be_stopped(some, policy, tick):
    """After its preemptions, or for its deadline: as a spot VM it goes on."""
    policy = replace(policy, mode=Mode.ENFORCE, compliance=SPOT_ONLY.compliance)
    facts = some.job(launch=some.launch(), file=JobFile(on_demand_after=0))
    assert why_on_demand(facts, policy, tick)
    assert not why_on_demand(comply(facts, policy, tick), policy, tick)


def test_a_place_in_a_region_that_would_be_stopped_is_left_out(some, tick):
    """Home stays, whatever the policy says by now; so it is for another machine type."""
    places = ("us-central1-b", "us-east4-a", "europe-west4-a")
    launch = some.launch(*places)
    nowhere = replace(launch, machine=OTHER, choices=launch.choices[2:3])
    launch = replace(launch, instead=(replace(launch, machine=FITTING), nowhere))
    limits = replace(STOPS, machine_types=(), regions=("europe-*",))
    facts = within(some.job(launch=launch), replace(POLICY, compliance=limits), tick)
    assert [choice.place for choice in facts.launch.choices] == [HOME, "europe-west4-a"]
    assert [other.machine for other in facts.launch.instead] == [FITTING]
    assert [choice.place for choice in facts.launch.instead[0].choices] == [HOME, "europe-west4-a"]
    observing = within(some.job(launch=launch), replace(POLICY, mode=Mode.OBSERVE, compliance=limits), tick)
    assert observing.launch == launch
