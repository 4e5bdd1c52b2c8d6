"""The meter: what is counted once stays counted, and is counted once."""

from datetime import UTC, date, datetime, timedelta
from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.governance.caps.usage import add, days, month_of, total, week_of
from spotwarden.model.usage import MeteredVm, UsageDay
from tests.governance.caps.capped import ADA, vm

DAY = date(2026, 3, 18)
MIDNIGHT = datetime(2026, 3, 18, tzinfo=UTC)
HOUR = timedelta(hours=1)


def at(**span) -> datetime:
    """So long after midnight."""
    return MIDNIGHT + timedelta(**span)


def running(started=MIDNIGHT, key="11", owner=ADA) -> MeteredVm:
    """A VM that runs since then."""
    return MeteredVm(machine=replace(vm(key), started=started, created=started), owner=owner, job="test-vm")


def looked(*looks, record=UsageDay(day=DAY), whole=True) -> UsageDay:
    """The day after looks, each a moment and what ran then."""
    for now, *machines in looks:
        record = add(record, machines, now, whole=whole)
    return record


def seconds(record) -> int:
    """All that was counted."""
    return sum(one.seconds for one in total(record).spent)


def test_a_vm_counts_from_its_start():
    """However often anybody looked."""
    assert seconds(looked((at(hours=5), running(at(hours=2))))) == 3 * 3600


def test_a_vm_of_yesterday_counts_from_midnight():
    """What was before is another day's."""
    assert seconds(looked((at(hours=5), running(at(hours=-30))))) == 5 * 3600


def test_a_look_after_the_day_counts_to_its_end():
    """A day without a single look loses nothing of a VM that lives across it."""
    assert seconds(looked((at(days=3), running(at(hours=2))))) == 22 * 3600


def test_a_vm_of_tomorrow_does_not_count_today():
    """It has not been up for a second of it."""
    assert looked((at(days=2), running(at(days=1)))).vms == {}


def test_the_same_look_twice_changes_nothing():
    """Not even the record: there is nothing to write."""
    once = looked((at(hours=5), running()))
    assert looked((at(hours=5), running()), record=once) is once


def test_looks_in_any_order_come_to_the_same():
    """An old one that comes late cannot take anything back."""
    looks = [(at(hours=hour), running(at(hours=1))) for hour in (2, 3, 5)]
    assert {seconds(looked(*order)) for order in permutations(looks)} == {4 * 3600}


def test_a_vm_that_was_stopped_and_started_counts_both_runs():
    """Two hours, three hours down, one hour: three, whatever order the looks come in."""
    looks = [(at(hours=2), running()), (at(hours=6), running(at(hours=5)))]
    for order in permutations(looks):
        assert seconds(looked(*order)) == 3 * 3600


def test_a_clock_that_ran_ahead_counts_no_stopped_time_twice():
    """A look that took two o'clock for six: the next start says that the run cannot have lasted beyond it."""
    assert seconds(looked((at(hours=6), running()), (at(hours=6), running(at(hours=5))))) == 6 * 3600


def test_a_clock_that_runs_behind_cannot_shrink_a_day():
    """What was counted stays."""
    assert seconds(looked((at(hours=5), running()), (at(hours=3), running()))) == 5 * 3600
    assert seconds(looked((at(hours=5), running()), (at(hours=-3), running()))) == 5 * 3600


def test_a_vm_of_which_nobody_knows_since_when_it_runs_is_not_guessed():
    """It counts as soon as somebody knows."""
    unknown = running()
    unknown = replace(unknown, machine=replace(unknown.machine, started=None, created=None))
    assert looked((at(hours=5), unknown)).vms == {}


def test_the_first_owner_that_is_known_stays_the_days():
    """So that a look that comes late does not hand its hours to and fro."""
    record = looked((at(hours=1), running(owner="")), (at(hours=2), running()))
    assert record.vms["11"].owner == ADA
    assert looked((at(hours=3), running(owner="eve@example.com")), record=record).vms["11"].owner == ADA


def test_an_owner_that_becomes_known_without_more_time_is_kept():
    """The clock stood still, the record did not."""
    record = looked((at(hours=1), running(owner="")), (at(hours=1), running()))
    assert record.vms["11"].owner == ADA
    assert seconds(record) == 3600


def test_an_owner_that_becomes_known_by_a_look_that_comes_late_takes_no_time_back():
    """Its shorter count is not the newer one."""
    record = looked((at(hours=5), running(owner="")), (at(hours=3), running()))
    assert record.vms["11"].owner == ADA
    assert seconds(record) == 5 * 3600


@pytest.mark.parametrize(
    ("now", "whole", "settled"),
    [
        (at(days=1, minutes=59), True, False),
        (at(days=1, minutes=60), True, True),
        (at(days=1, minutes=60), False, False),
    ],
)
def test_a_day_is_settled_an_hour_after_its_end_by_a_whole_list(now, whole, settled):
    """What an incomplete list may have hidden is still to be counted."""
    assert looked((now, running()), whole=whole).settled is settled


def test_a_settled_day_changes_no_more():
    """Nor is it looked at."""
    record = looked((at(days=2), running()))
    assert add(record, [running(key="12")], at(days=3), whole=True) is record


def test_a_day_on_which_nothing_ran_is_not_written():
    """There is nothing to say about it."""
    empty = UsageDay(day=DAY)
    assert add(empty, [], at(days=3), whole=True) is empty


def test_a_day_sums_up_by_owner_and_kind():
    """Two VMs of one kind are one row, another owner's is another."""
    record = looked((at(hours=2), running(), running(key="12"), running(key="13", owner="eve@example.com")))
    assert sorted((one.owner, one.seconds) for one in total(record).spent) == [
        (ADA, 4 * 3600),
        ("eve@example.com", 2 * 3600),
    ]


def test_a_day_survives_being_written_down():
    """As JSON and back."""
    record = looked((at(hours=2), running(at(minutes=1, microseconds=123))))
    assert msgspec.json.decode(msgspec.json.encode(record), type=UsageDay) == record


@pytest.mark.parametrize(
    ("day", "monday", "first"),
    [
        (date(2026, 3, 18), date(2026, 3, 16), date(2026, 3, 1)),
        (date(2026, 3, 16), date(2026, 3, 16), date(2026, 3, 1)),
        (date(2026, 3, 15), date(2026, 3, 9), date(2026, 3, 1)),
        (date(2027, 1, 3), date(2026, 12, 28), date(2027, 1, 1)),
        (date(2027, 1, 4), date(2027, 1, 4), date(2027, 1, 1)),
        (date(2024, 2, 29), date(2024, 2, 26), date(2024, 2, 1)),
    ],
)
def test_weeks_begin_on_monday_and_months_on_the_first(day, monday, first):
    """A week at the end of a year goes on into the next."""
    assert (week_of(day), month_of(day)) == (monday, first)


@pytest.mark.parametrize(
    ("now", "first", "count"),
    [
        (datetime(2026, 3, 31, 23, 59, 59, tzinfo=UTC), date(2026, 3, 1), 31),
        (datetime(2026, 4, 1, tzinfo=UTC), date(2026, 3, 30), 3),
        (datetime(2027, 1, 3, tzinfo=UTC), date(2026, 12, 28), 7),
        (datetime(2027, 2, 1, tzinfo=UTC), date(2027, 2, 1), 1),
    ],
)
def test_the_days_of_interest_are_those_of_this_month_and_week(now, first, count):
    """A week that began in the month before, or the year before, is whole."""
    assert days(now)[0] == first
    assert days(now)[-1] == now.date()
    assert len(days(now)) == count


@given(
    looks=st.lists(st.tuples(st.integers(-100, 3000), st.integers(-100, 1500)), max_size=8),
    data=st.data(),
)
def test_a_day_never_has_more_seconds_than_a_day_has(looks, data):
    """Whatever clocks and starts say; and no look makes it less."""
    record = UsageDay(day=DAY)
    before = 0
    for now, started in data.draw(st.permutations(looks)):
        record = add(record, [running(at(minutes=started))], at(minutes=now), whole=False)
        most = sum(run.seconds for used in record.vms.values() for run in used.runs)
        assert most >= before
        before = most
    assert 0 <= seconds(record) <= 86_400
