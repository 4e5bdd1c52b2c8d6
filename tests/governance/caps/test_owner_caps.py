"""Caps on what the VMs of one owner use: by the day, the week, the month, and at once."""

from datetime import UTC, date, datetime, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.caps.facts import JobAttempts
from spotwarden.model.governance import Exemption, Remedy
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Team
from spotwarden.model.prices import PriceTable
from spotwarden.model.rule_limits import OwnerCap
from tests.governance.caps.capped import ADA, HOUR, NOW, facts, found, judged, policy, used, verdict, vm

DAY = policy(owner=OwnerCap(gpu_hours_day=10.0))
EVE = "eve@example.com"
STOPS = OwnerCap(remedy=Remedy.STOP)


def hours(count: float, **said):
    """An owner's VM with one GPU was up for so many hours on a day."""
    return used(round(count * 3600), **said)


def on(*days: tuple[date, float], now=NOW, **caps):
    """The verdict on these days, at a moment."""
    seen = facts(usage=[hours(count, day=day) for day, count in days])
    return verdict(found(seen, policy(owner=OwnerCap(**caps)), now))


# --- Used up ---


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (7.99, None),
        (8.0, ("bad", 1, False)),
        (9.49, ("bad", 1, False)),
        (9.5, ("bad", 2, False)),
        (9.99, ("bad", 2, False)),
        (10.0, ("bad", 2, True)),
    ],
)
def test_an_owner_is_warned_at_80_and_95_percent_and_due_at_100(count, says):
    """Both sides of every limit."""
    assert verdict(found(facts(usage=[hours(count)]), DAY)) == says


def test_an_owner_without_a_cap_is_left_alone():
    """Whatever they use."""
    assert found(facts(usage=[hours(1000)]), policy()) is None


def test_each_gpu_counts():
    """Eight GPUs for an hour are eight GPU-hours; a VM without any uses none."""
    assert verdict(found(facts(usage=[hours(1, gpus=8)]), DAY)) == ("bad", 1, False)
    assert found(facts(usage=[hours(24, gpus=0)]), DAY) is None


def test_owners_do_not_share_what_they_use():
    """Two who use five each have not used ten."""
    assert found(facts(usage=[hours(7), hours(7, owner=EVE)]), DAY) is None


def test_vms_of_nobody_known_are_nobodys():
    """There is nobody to tell."""
    assert found(facts(usage=[hours(1000, owner="")]), DAY) is None


def test_the_case_bears_the_owner_made_safe():
    """An address is no name of an object."""
    finding = found(facts(usage=[hours(8)]), DAY)
    assert finding.subject.key == "ada%40example.com"
    assert finding.subject.owner == ADA
    assert finding.evidence == {"GPU-hours this day": "8 GPU-hours of 10 GPU-hours (80%)"}


def test_money_is_by_the_price_table():
    """A dollar for each hour of this VM."""
    said = policy(owner=OwnerCap(money_day=10.0))
    finding = found(facts(usage=[hours(9)]), said)
    assert verdict(finding) == ("bad", 1, False)
    assert finding.evidence["money this day"] == "$9.00 (prices of 2026-03-01) of $10.00 (90%)"


def test_an_unknown_price_is_never_nothing():
    """Nobody knows is told; what is known is enough where it is too much already."""
    said = policy(owner=OwnerCap(money_day=10.0))
    unsure = found(facts(usage=[hours(5), hours(9, machine_type="new-8")]), said)
    assert verdict(unsure) == ("unknown", 1, False)
    assert "at least $5.00; 9.0 VM-hours have no known price" in unsure.reason
    assert found(facts(usage=[hours(10), hours(9, machine_type="new-8")]), said).ripe
    assert verdict(found(facts(usage=[hours(50)], table=PriceTable()), said)) == ("unknown", 1, False)


# --- Days, weeks, months ---


def test_a_day_is_the_utc_day():
    """At midnight counting begins anew, whatever summer does to clocks."""
    midnight = datetime(2026, 3, 29, tzinfo=UTC)
    saturday = (date(2026, 3, 28), 10.0)
    assert on(saturday, now=midnight - timedelta(seconds=1), gpu_hours_day=10.0) == ("bad", 2, True)
    assert on(saturday, now=midnight, gpu_hours_day=10.0) is None


def test_a_week_is_from_monday():
    """Sunday's hours are last week's."""
    monday, sunday = (date(2026, 3, 16), 4.0), (date(2026, 3, 15), 4.0)
    assert on(monday, (NOW.date(), 4.0), gpu_hours_week=10.0) == ("bad", 1, False)
    assert on(sunday, (NOW.date(), 4.0), gpu_hours_week=10.0) is None


def test_a_week_goes_on_across_the_year():
    """2027 begins on a Friday, in the last ISO week of 2026."""
    new_year = datetime(2027, 1, 2, 12, tzinfo=UTC)
    last_year = (date(2026, 12, 28), 10.0)
    assert on(last_year, now=new_year, gpu_hours_week=10.0) == ("bad", 2, True)
    assert on(last_year, now=new_year, gpu_hours_month=10.0) is None
    assert on(last_year, now=datetime(2027, 1, 4, tzinfo=UTC), gpu_hours_week=10.0) is None


def test_a_month_is_the_calendars():
    """The first counts, the last of the month before does not."""
    assert on((date(2026, 3, 1), 10.0), gpu_hours_month=10.0) == ("bad", 2, True)
    assert on((date(2026, 2, 28), 10.0), gpu_hours_month=10.0) is None


def test_days_add_up():
    """Each period holds its own days."""
    days = [(date(2026, 3, 18), 1.0), (date(2026, 3, 17), 2.0), (date(2026, 3, 2), 4.0)]
    seen = facts(usage=[hours(count, day=day) for day, count in days])
    caps = OwnerCap(gpu_hours_day=1.0, gpu_hours_week=3.0, gpu_hours_month=7.0)
    finding = found(seen, policy(owner=caps))
    assert [said.split(" of ")[0] for said in finding.evidence.values()] == [
        "1 GPU-hours",
        "3 GPU-hours",
        "7 GPU-hours",
    ]


# --- When ---


def test_it_is_due_when_what_runs_has_used_up_the_rest():
    """Two GPUs use two hours in one."""
    running = [vm("1"), vm("2", name="other")]
    assert found(facts(*running, usage=[hours(8)]), DAY).due == NOW + HOUR


def test_what_will_not_be_used_up_in_time_is_never_due():
    """The day is over before."""
    wide = policy(owner=OwnerCap(gpu_hours_day=100.0))
    assert found(facts(vm(), usage=[hours(80)]), wide).due is None


def test_nothing_is_due_where_nothing_runs():
    """What is used up is told all the same."""
    assert found(facts(usage=[hours(8)]), DAY).due is None


# --- At once ---


@pytest.mark.parametrize(("gpus", "says"), [(7, None), (8, None), (9, ("bad", 2, True))])
def test_as_many_gpus_as_may_run_at_once_are_no_trouble(gpus, says):
    """One more is; there is nothing to be warned of before."""
    said = policy(owner=OwnerCap(concurrent_gpus=8))
    finding = found(facts(*(vm(str(key), f"vm-{key}", f"job-{key}") for key in range(gpus))), said)
    assert verdict(finding) == says


def test_none_at_once_means_none():
    """A limit of nothing is a limit."""
    assert found(facts(vm()), policy(owner=OwnerCap(concurrent_gpus=0))).ripe
    assert found(facts(vm(gpus=0)), policy(owner=OwnerCap(concurrent_gpus=0))) is None


# --- Which VMs ---


def chosen(seen, caps: OwnerCap) -> list[str]:
    """The VMs that the remedy would be for, by id."""
    owner = [one for one in judged(seen, policy(owner=caps)).findings if one.rule == "owner_cap"]
    return [target.id for one in owner for target in one.subject.targets]


def three(**said):
    """Three jobs of one GPU each: `old` has run longest, `new` shortest."""
    ages = {"old": 9, "mid": 5, "new": 1}
    return facts(*(vm(name, name, name, up=age * HOUR) for name, age in ages.items()), **said)


def test_the_newest_go_first_and_only_as_many_as_it_takes():
    """Three run where two may: one goes."""
    assert chosen(three(), replace(STOPS, concurrent_gpus=2)) == ["new"]
    assert chosen(three(), replace(STOPS, concurrent_gpus=1)) == ["new", "mid"]


def test_a_job_goes_as_a_whole():
    """Half a gang is no use to anybody."""
    gang = [vm("1", "gang-1", "gang"), vm("2", "gang-2", "gang"), vm("9", "old", "old", up=9 * HOUR)]
    assert chosen(facts(*gang), replace(STOPS, concurrent_gpus=2)) == ["1", "2"]


def test_a_job_that_is_kept_is_passed_over():
    """By its file, or where nobody can read what it says."""
    for kept in (
        JobAttempts(owner=ADA, file=JobFile(keep_until=NOW.date())),
        JobAttempts(owner=ADA, problem="503"),
    ):
        records = {"old": JobAttempts(owner=ADA), "mid": JobAttempts(owner=ADA), "new": kept}
        assert chosen(three(records=records), replace(STOPS, concurrent_gpus=2)) == ["mid"]


def test_a_vm_without_gpus_is_no_help_against_too_many_gpus():
    """It goes on."""
    seen = facts(
        vm("1", "cpu", "cpu", gpus=0), vm("2", "a", "a", up=2 * HOUR), vm("3", "b", "b", up=3 * HOUR)
    )
    assert chosen(seen, replace(STOPS, concurrent_gpus=1)) == ["2"]
    assert chosen(replace(seen, usage=(hours(10),)), replace(STOPS, gpu_hours_day=10.0)) == ["2", "3"]


def test_where_the_money_is_gone_everything_goes():
    """A VM without GPUs costs money, too."""
    seen = facts(vm("1", "cpu", "cpu", gpus=0), vm("2", "a", "a", up=2 * HOUR), usage=[hours(10)])
    assert chosen(seen, replace(STOPS, money_day=10.0)) == ["1", "2"]


def test_the_wider_of_two_limits_decides_what_goes():
    """Too many at once, and the day's GPU-hours are gone as well: all of them."""
    caps = replace(STOPS, concurrent_gpus=2, gpu_hours_day=10.0)
    assert chosen(three(usage=[hours(10)]), caps) == ["new", "mid", "old"]


def test_nothing_is_a_target_before_the_limit_is_reached():
    """A warning is about the owner, not about a VM."""
    assert chosen(three(usage=[hours(9.9)]), replace(STOPS, gpu_hours_day=10.0)) == []


def test_another_owners_vms_are_no_target():
    """However new they are."""
    records = {"old": JobAttempts(owner=ADA), "mid": JobAttempts(owner=ADA), "new": JobAttempts(owner=EVE)}
    assert chosen(three(records=records), replace(STOPS, concurrent_gpus=1)) == ["mid"]


# --- Who ---


def test_an_owner_may_be_exempt():
    """By the policy, until a day."""
    exemption = Exemption(owner="ada@*", until=NOW.date(), why="paper deadline")
    said = policy(owner=OwnerCap(gpu_hours_day=10.0), exemptions=(exemption,))
    assert "paper deadline" in found(facts(usage=[hours(10)]), said).exempt
    tomorrow = facts(usage=[hours(10, day=NOW.date() + timedelta(days=1))])
    assert found(tomorrow, said, NOW + timedelta(days=1)).exempt == ""


def test_a_team_may_have_more():
    """Its members' limits are its own."""
    rich = Team(owners=("ada@*",), rules={"owner_cap": {"gpu_hours_day": 100.0}})
    said = replace(DAY, teams={"rich": rich})
    findings = judged(facts(usage=[hours(10), hours(10, owner=EVE)]), said).findings
    assert [one.subject.owner for one in findings] == [EVE]


def test_a_wrong_clock_stops_nothing():
    """A VM that starts in the future says that somebody's clock is wrong."""
    finding = found(facts(vm(up=-HOUR), usage=[hours(10)]), DAY)
    assert verdict(finding) == ("unknown", 1, False)
