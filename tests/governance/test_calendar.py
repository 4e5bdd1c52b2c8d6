"""When remedies may be applied, on both sides of every hour, day and change of the clocks."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotwarden.governance.calendar import next_opening, open_at
from spotwarden.model.governance import Calendar

BERLIN = "Europe/Berlin"
WORKDAYS = ("mon", "tue", "wed", "thu", "fri")
OFFICE = Calendar(timezone=BERLIN, days=WORKDAYS, hours="09-18", holidays=(date(2026, 12, 25),))
NIGHT = Calendar(days=("mon",), hours="22-06")


def at(text):
    """A moment in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        ("2026-11-23T07:59:59", False),
        ("2026-11-23T08:00:00", True),
        ("2026-11-23T16:59:59", True),
        ("2026-11-23T17:00:00", False),
        ("2026-11-27T12:00:00", True),
        ("2026-11-28T12:00:00", False),
        ("2026-11-29T12:00:00", False),
        ("2026-12-24T12:00:00", True),
        ("2026-12-25T12:00:00", False),
        ("2026-07-01T06:59:59", False),
        ("2026-07-01T07:00:00", True),
        ("2026-07-01T16:00:00", False),
    ],
)
def test_office_hours_are_those_of_the_office(moment, is_open):
    """In winter an hour behind UTC, in summer two; not on Saturdays, not on holidays."""
    assert (open_at(OFFICE, at(moment)) == "") is is_open


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        ("2026-11-23T21:59:59", False),
        ("2026-11-23T22:00:00", True),
        ("2026-11-24T00:00:00", True),
        ("2026-11-24T05:59:59", True),
        ("2026-11-24T06:00:00", False),
        ("2026-11-24T22:00:00", False),
        ("2026-11-23T05:59:59", False),
    ],
)
def test_a_night_belongs_to_the_day_on_which_it_begins(moment, is_open):
    """Monday night goes on to Tuesday morning; Monday's small hours are Sunday's."""
    assert (open_at(NIGHT, at(moment)) == "") is is_open


def test_a_night_before_or_after_a_holiday_is_spared_the_holiday():
    """Nothing is done on it, and what began on it is not gone on with."""
    every = Calendar(hours="22-06", holidays=(date(2026, 12, 25),))
    assert open_at(every, at("2026-12-24T23:59:59")) == ""
    assert open_at(every, at("2026-12-25T00:00:00"))
    assert open_at(every, at("2026-12-25T23:00:00"))
    assert open_at(every, at("2026-12-26T05:00:00"))
    assert open_at(every, at("2026-12-26T22:00:00")) == ""


@pytest.mark.parametrize("moment", ["2026-03-29T01:00:00", "2026-12-31T23:59:59", "2028-02-29T00:00:00"])
def test_by_default_it_is_always_open(moment):
    """Idle GPUs cost the same at night."""
    assert open_at(Calendar(), at(moment)) == ""


def test_who_must_wait_is_told_why_and_until_when():
    """In the time of the calendar."""
    assert open_at(OFFICE, at("2026-11-21T15:00")) == (
        "it is Sat 16:00; remedies are applied on mon, tue, wed, thu, fri at 09-18 (Europe/Berlin);"
        " the next time is Mon 2026-11-23 09:00 CET"
    )
    assert open_at(OFFICE, at("2026-12-25T10:00")).startswith("2026-12-25 is a holiday; ")


@pytest.mark.parametrize(
    ("moment", "opens"),
    [
        ("2026-11-23T07:59:59", "2026-11-23T08:00:00"),
        ("2026-11-23T08:30:00", "2026-11-23T08:30:00"),
        ("2026-11-27T17:00:00", "2026-11-30T08:00:00"),
        ("2026-03-27T17:00:00", "2026-03-30T07:00:00"),
        ("2026-10-23T16:00:00", "2026-10-26T08:00:00"),
        ("2026-12-24T17:00:00", "2026-12-28T08:00:00"),
    ],
)
def test_the_next_opening_is_found_over_weekends_holidays_and_changed_clocks(moment, opens):
    """Now, where it is open."""
    assert next_opening(OFFICE, at(moment)) == at(opens)


def test_an_hour_that_the_clocks_leave_out_opens_when_they_are_put_forward():
    """On 29 March 2026 it is never 02:30 in Berlin; at 03:00 it is past it."""
    early = Calendar(timezone=BERLIN, hours="02:30-05")
    assert open_at(early, at("2026-03-29T00:59:59"))
    assert open_at(early, at("2026-03-29T01:00:00")) == ""
    assert next_opening(early, at("2026-03-28T12:00:00")) == at("2026-03-29T01:00:00")
    only_then = Calendar(timezone=BERLIN, hours="02-03")
    assert next_opening(only_then, at("2026-03-28T12:00:00")) == at("2026-03-30T00:00:00")


def test_an_hour_that_comes_twice_is_open_twice():
    """On 25 October 2026 it is 02:30 in Berlin at 00:30 and at 01:30 UTC."""
    half = Calendar(timezone=BERLIN, hours="02:30-02:45")
    assert [open_at(half, at(f"2026-10-25T0{hour}:30:00")) for hour in (0, 1)] == ["", ""]
    assert open_at(half, at("2026-10-25T00:45:00"))
    assert next_opening(half, at("2026-10-25T00:20:00")) == at("2026-10-25T00:30:00")
    assert next_opening(half, at("2026-10-25T00:45:00")) == at("2026-10-25T01:30:00")
    assert next_opening(half, at("2026-10-25T01:45:00")) == at("2026-10-26T01:30:00")


def test_a_calendar_that_never_opens_says_so():
    """Where somebody writes a year of holidays."""
    assert next_opening(Calendar(days=()), at("2026-11-21T15:00")) is None
    assert "never within a year" in open_at(Calendar(days=()), at("2026-11-21T15:00"))


@given(
    minutes=st.integers(0, 366 * 24 * 60),
    zone=st.sampled_from(
        [BERLIN, "UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Cairo"]
    ),
    hours=st.sampled_from(["00-24", "09-18", "22-06", "02:30-02:45", "00:15-00:20", "23-01"]),
    days=st.sets(st.sampled_from([*WORKDAYS, "sat", "sun"]), min_size=1),
)
def test_the_next_opening_is_open_and_a_minute_before_it_is_not(minutes, zone, hours, days):
    """Anywhere on earth, all the year round, also where clocks go by half an hour or at midnight."""
    calendar = Calendar(timezone=zone, hours=hours, days=tuple(days))
    moment = at("2026-01-01T00:00") + timedelta(minutes=minutes)
    opens = next_opening(calendar, moment)
    assert opens is not None
    assert opens >= moment
    assert open_at(calendar, opens) == ""
    if opens > moment:
        assert open_at(calendar, moment)
        assert open_at(calendar, opens - timedelta(minutes=1))
