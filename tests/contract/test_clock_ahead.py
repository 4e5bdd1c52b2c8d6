"""How far our clock is ahead of Google's, by the dates of its answers."""

from datetime import UTC, datetime, timedelta

import pytest
import requests
from requests.adapters import HTTPAdapter

from spotwarden import clock
from spotwarden.gcp import tally
from spotwarden.gcp.first_use import clock_ahead
from spotwarden.gcp.session import settle

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
URL = "https://storage.googleapis.com/storage/v1/b/x"


@pytest.fixture
def answered(monkeypatch):
    """Google answers at noon by our clock, with this date."""
    monkeypatch.setattr(tally, "_dated", {})
    monkeypatch.setattr(clock, "machine", lambda: NOON)

    def answer(date):
        found = requests.Response()
        found.status_code = 200
        if date is not None:
            found.headers["Date"] = date
        monkeypatch.setattr(HTTPAdapter, "send", lambda *_args, **_how: found)
        session = requests.Session()
        settle(session, URL)
        session.get(URL)
        return clock_ahead()

    return answer


@pytest.mark.parametrize(
    ("date", "ahead"),
    [
        ("Fri, 20 Nov 2026 11:30:00 GMT", timedelta(minutes=30)),
        ("Fri, 20 Nov 2026 12:00:05 GMT", timedelta(seconds=-5)),
    ],
)
def test_an_answer_tells_by_its_date(answered, date, ahead):
    """As each answer of Google's has one."""
    assert answered(date) == ahead


@pytest.mark.parametrize("date", [None, "", "noon", "Fri, 20 Nov 2026 11:30:00 -0000"])
def test_an_answer_without_a_date_tells_nothing(answered, date):
    """A local cloud's have none; nor does a time without a zone tell any."""
    assert answered(date) is None


def test_before_any_answer_nobody_knows(monkeypatch):
    """Nothing is asked for it alone."""
    monkeypatch.setattr(tally, "_dated", {})
    assert clock_ahead() is None
