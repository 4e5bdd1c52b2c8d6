"""Schedules: when the next moment is, in which time zone, and what is none."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcloud.rpc import RpcError
from localcloud.scheduler.body import RetryConfig
from localcloud.scheduler.cron import read_schedule


def moment(text: str) -> datetime:
    """A moment in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "zone", "after", "expected"),
    [
        ("* * * * *", "", "2026-11-21T08:00:30", "2026-11-21T08:01"),
        ("* * * * *", "utc", "2026-11-21T08:01", "2026-11-21T08:02"),
        ("*/5 * * * *", "UTC", "2026-11-21T08:03", "2026-11-21T08:05"),
        ("0 9 * * mon", "Etc/UTC", "2026-11-21T08:00", "2026-11-23T09:00"),
        ("0 9 * * *", "Europe/Berlin", "2026-11-21T07:59", "2026-11-21T08:00"),
        ("0 9 * * *", "Europe/Berlin", "2026-07-21T06:59", "2026-07-21T07:00"),
        ("0 0 1 1 *", "America/New_York", "2026-11-21T00:00", "2027-01-01T05:00"),
        ("0 0 13 * fri", "UTC", "2026-11-21T00:00", "2026-11-27T00:00"),
    ],
)
def test_the_next_moment_is_later_and_the_first(schedule: str, zone: str, after: str, expected: str):
    """Never the moment itself."""
    assert read_schedule(schedule, zone).after(moment(after)) == moment(expected)


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2028, 1, 1)),  # noqa: DTZ001 - made aware below
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
    st.sampled_from(["* * * * *", "30 2 * * *", "0 */3 * * *", "15 1 * * sun"]),
)
def test_time_always_goes_on(start: datetime, zone: str, schedule: str):
    """Also where clocks are put forward or back, the next moment is later, and not years away."""
    start = start.replace(tzinfo=UTC)
    found = read_schedule(schedule, zone).after(start)
    assert start < found <= start + timedelta(days=15)


@pytest.mark.parametrize(
    ("schedule", "zone"),
    [
        ("", "UTC"),
        ("* * * *", "UTC"),
        ("* * * * * *", "UTC"),
        ("60 * * * *", "UTC"),
        ("0 0 30 2 *", "UTC"),
        ("@daily", "UTC"),
        ("R * * * *", "UTC"),
        ("every 5 minutes", "UTC"),
        ("* * * * *", "Mars/Olympus"),
        ("* * * * *", "../etc/passwd"),
    ],
)
def test_what_is_no_schedule_is_refused(schedule: str, zone: str):
    """In Scheduler's words."""
    with pytest.raises(RpcError, match="Schedule or time zone is invalid"):
        read_schedule(schedule, zone)


def test_retries_double_then_grow_evenly_up_to_the_most():
    """The example of "Retry jobs": 10 s at first, 300 s at most, three doublings."""
    retry = RetryConfig(min_backoff_duration="10s", max_backoff_duration="300s", max_doublings=3)
    waits = [retry.wait(failures).total_seconds() for failures in range(1, 9)]
    assert waits == [10, 20, 40, 80, 160, 240, 300, 300]
