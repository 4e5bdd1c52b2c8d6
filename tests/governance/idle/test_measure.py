"""How long GPUs have idled: levels, when the remedy is ripe, and what a gap between looks means."""

import re
from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.idle.rule import grid, suspects
from spotwarden.model.case import CaseState
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Team
from spotwarden.model.prices import PriceTable, Rate
from spotwarden.model.spans import span
from tests.governance.idle.idle_vms import IDLE, MINUTE, NOW, POLICY, case, facts, found, row, vm, with_idle

SECOND = timedelta(seconds=1)


def measured(idle):
    """The finding about a VM that has idled for so long, as its case knows."""
    return found(case(NOW - idle))


@pytest.mark.parametrize(
    ("idle", "level", "ripe"),
    [
        (60 * MINUTE, 1, False),
        (105 * MINUTE - SECOND, 1, False),
        (105 * MINUTE, 2, False),
        (120 * MINUTE - SECOND, 2, False),
        (120 * MINUTE, 2, True),
        (timedelta(days=3), 2, True),
    ],
)
def test_the_level_follows_the_time(idle, level, ripe):
    """Told at 60 and at 105 minutes, ripe at 120."""
    finding = measured(idle)
    assert (finding.level, finding.ripe) == (level, ripe)


def test_it_is_due_when_the_measure_will_be_full():
    """If nothing changes."""
    finding = measured(90 * MINUTE)
    assert finding.since == NOW - 90 * MINUTE
    assert finding.due == NOW + 30 * MINUTE


def test_without_a_case_the_window_is_all_that_is_known():
    """The first look finds sixty minutes, even if the VM has idled for days."""
    assert found().since == NOW - 60 * MINUTE


@pytest.mark.parametrize(("ago", "since"), [(53, 200), (54, 60)])
def test_a_case_counts_while_no_moment_went_unseen(ago, since):
    """A look knows what was before it, but for the lag, and this one the last hour: 53 apart they meet."""
    finding = found(case(NOW - 200 * MINUTE, looked=NOW - ago * MINUTE))
    assert finding.since == NOW - since * MINUTE


def test_a_day_without_ticks_counts_for_nothing():
    """Nobody looked whether it worked yesterday."""
    finding = found(case(NOW - timedelta(days=2), looked=NOW - timedelta(days=1)))
    assert finding.since == NOW - 60 * MINUTE
    assert not finding.ripe


@pytest.mark.parametrize(
    ("since", "state"), [(None, CaseState.WARNED), (NOW - 300 * MINUTE, CaseState.UNKNOWN)]
)
def test_a_case_of_which_nothing_was_known_counts_for_nothing(since, state):
    """What went before the hole is not known to have gone on through it."""
    assert found(case(since, state=state)).since == NOW - 60 * MINUTE


def test_a_case_of_the_life_before_counts_for_nothing():
    """The VM was stopped and started again since: idle time begins with this life."""
    again = vm(started=NOW - 80 * MINUTE)
    assert found(case(NOW - 300 * MINUTE), machine=again).since == NOW - 70 * MINUTE


def test_a_case_of_another_vm_of_the_name_counts_for_nothing():
    """Cases are kept by id."""
    assert found(case(NOW - 300 * MINUTE, key="99")).since == NOW - 60 * MINUTE


def test_doubled_and_shifted_looks_keep_the_moment():
    """The same case seen again a second or some minutes later says the same moment."""
    moments = {
        found(case(NOW - 90 * MINUTE), now=NOW + late).since for late in (0 * SECOND, SECOND, 9 * MINUTE)
    }
    assert moments == {NOW - 90 * MINUTE}


# --- limits ---


def test_a_team_with_a_longer_window_sees_further_back():
    """The grid is as long as the longest first warning; each VM is judged by its own."""
    team = Team(owners=("*@slow.org",), rules={"idle": {"warn": ["2h", "3h"], "act": "4h"}})
    policy = replace(POLICY, teams={"slow": team})
    assert grid(policy, NOW).count == 12
    busy_before = {"11": row((50.0,) + (1.0,) * 11)}
    assert found(rows=busy_before, policy=policy).since == NOW - 110 * MINUTE
    slow = {"train": JobFile(owner="a@slow.org")}
    assert found(rows=busy_before, policy=policy, files=slow) is None


def test_idle_time_before_the_own_window_counts_as_far_as_it_was_seen():
    """Of twelve buckets eight are idle: the stretch reaches back to the first of them, and ends at a hole."""
    policy = replace(
        POLICY, teams={"slow": Team(owners=("x",), rules={"idle": {"warn": ["2h"], "act": "3h"}})}
    )
    tops = (1.0,) * 3 + (50.0,) + (1.0,) * 8
    assert found(rows={"11": row(tops)}, policy=policy).since == NOW - 80 * MINUTE
    young = vm(started=NOW - 100 * MINUTE)
    assert found(machine=young, policy=policy).since == NOW - 90 * MINUTE
    holed = row((1.0,) * 12, points=(10, 10, 10, 10, 2, *(10,) * 7))
    assert found(rows={"11": holed}, policy=policy).since == NOW - 70 * MINUTE


def test_a_job_may_have_itself_stopped_sooner():
    """Its own limit is stricter than the policy's; its warnings come sooner as well."""
    own = {"train": JobFile(rules={"idle": {"act": "40m"}})}
    finding = found(rows={"11": row((50.0,) * 3 + (1.0,) * 3)}, files=own)
    assert finding.since == NOW - 30 * MINUTE
    assert finding.limits.act == 40 * MINUTE


def test_the_buckets_fit_the_shortest_window():
    """A third of it at most, and no less than two minutes."""
    steps = [grid(with_idle(warn=(first * MINUTE,)), NOW).step / MINUTE for first in (60, 30, 29, 15, 14, 2)]
    assert steps == [10, 10, 5, 5, 2, 2]


def test_a_window_that_is_no_multiple_is_rounded_up():
    """More is asked for, never less; a window of 60 minutes is six buckets of ten, one of 61 is seven."""
    assert [grid(with_idle(warn=(first * MINUTE,)), NOW).count for first in (60, 61)] == [6, 7]


def test_a_short_window_is_looked_at_with_what_was_before_it():
    """A case is written down each 20 minutes or later: what its last look has not seen is asked for again."""
    reach = [grid(with_idle(warn=(first * MINUTE,)), NOW) for first in (15, 30, 50, 51)]
    assert [one.step * one.count / MINUTE for one in reach] == [50, 50, 50, 60]


# --- who gets a closer look ---


@pytest.mark.parametrize(
    ("tops", "closer"),
    [(IDLE, True), ((50,) * 4 + (1, 1), True), ((1,) * 5 + (5,), False), ((1,) * 4 + (5, 1), False)],
)
def test_who_has_just_worked_needs_no_closer_look(tops, closer):
    """Twenty minutes without work make a suspect."""
    assert bool(suspects(facts(rows={"11": row(tops)}), POLICY)) is closer


def test_who_reports_nothing_needs_a_closer_look():
    """And so does nobody whose VM has just begun to run."""
    assert suspects(facts(rows={}), POLICY) == {"11"}
    assert not suspects(facts(vm(started=NOW - 9 * MINUTE), rows={}), POLICY)
    assert not suspects(facts(vm(started=None, created=None), rows={}), POLICY)


def test_a_strangers_vm_is_looked_at_closer_only_in_scope():
    """What is never told need not be known."""
    assert not suspects(facts(vm(labels={})), POLICY)


def test_the_highest_threshold_of_anybody_decides():
    """A team that calls 20 percent idle has its VMs looked at."""
    policy = replace(POLICY, teams={"strict": Team(owners=("x",), rules={"idle": {"threshold": 20.0}})})
    tops = {"11": row((12.0,) * 6)}
    assert suspects(facts(rows=tops), policy) == {"11"}
    assert not suspects(facts(rows=tops), POLICY)
    assert found(rows=tops, policy=policy) is None
    assert found(rows=tops, policy=policy, files={"train": JobFile(owner="x")}) is not None


# --- words ---


def test_the_evidence_says_what_was_wasted():
    """Eight GPUs for an hour and a half are twelve GPU-hours, at the price of the whole VM."""
    rate = Rate(
        machine="g2-standard-96", gpus=8, region="us-central1", standard=8.0, date=NOW.date(), source="a page"
    )
    costly = vm(gpus=8, machine_type="g2-standard-96")
    finding = found(case(NOW - 90 * MINUTE), machine=costly, prices=PriceTable(rates=(rate,)))
    assert finding.evidence == {
        "GPUs": "8 x nvidia-l4, all reporting",
        "busiest GPU": "1.0%",
        "idle since": "2026-11-21 10:30 UTC",
        "idle GPU-hours": "12.0",
        "cost while idle": "$12.00",
        "prices": "prices of 2026-11-21",
    }
    assert finding.reason == "All 8 GPUs of train have been below 5% for 1 h 30 min."


def test_an_unknown_price_is_said_so():
    """And never counted as nothing."""
    assert "no known price" in found().evidence["cost while idle"]


def test_the_label_is_one_that_compute_engine_takes():
    """Lower case letters, digits, dashes and underscores, 63 at most (Google: "Labels")."""
    ((name, value),) = found().labels.items()
    assert value == "since-20261121-1100"
    assert re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", name)
    assert re.fullmatch(r"[a-z0-9_-]{1,63}", value)


@pytest.mark.parametrize(
    ("minutes", "says"),
    [
        (0, "0 min"),
        (59, "59 min"),
        (60, "1 h"),
        (61, "1 h 1 min"),
        (1500, "25 h"),
        (2879, "47 h 59 min"),
        (2880, "2 d"),
        (2940, "2 d 1 h"),
    ],
)
def test_a_time_is_said_as_people_say_it(minutes, says):
    """Hours and minutes; from two days on days and hours."""
    assert span(minutes * MINUTE) == says


def test_facts_can_be_recorded_and_read_back():
    """For the back-test."""
    known = facts(files={"train": JobFile(owner="a", keep_until=NOW.date())})
    assert msgspec.json.decode(msgspec.json.encode(known), type=IdleFacts) == known
