"""What goes out with each request to a REST service: a token, and a new one where that is refused."""

import gzip
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from google.oauth2.credentials import Credentials

from spotwarden.gcp import authorized
from spotwarden.gcp.authorized import Answered, Authorized
from spotwarden.gcp.rest import kept_service
from tests.contract.scripted import Scripted

TIMEOUTS = (5.0, 5.0)


def made_up() -> Any:
    """Credentials that have a new token each time that somebody asks for one."""
    numbers, expiry = count(1), datetime.now(UTC).replace(tzinfo=None) + timedelta(hours=1)

    def refresh(_request: object, *, scopes: object) -> tuple[str, datetime]:
        del scopes
        return f"token-{next(numbers)}", expiry

    return Credentials(None, refresh_handler=refresh)


@pytest.fixture
def service(google: Scripted) -> Authorized:
    """The scripted server, asked by `tester`."""
    return Authorized(google.url, made_up(), "tester")


def tokens(google: Scripted) -> list[str]:
    """Which token came with each request."""
    return [asked.headers["authorization"] for asked in google.asked]


def get(service: Authorized) -> Answered:
    """Ask for something."""
    return service.request("GET", "/thing?a=b", None, {}, TIMEOUTS)


def test_a_token_is_fetched_once(google: Scripted, service: Authorized):
    """And goes with each request after that."""
    google.say({})
    assert [get(service).status, get(service).status] == [200, 200]
    assert tokens(google) == ["Bearer token-1"] * 2


def test_a_token_that_is_refused_is_replaced(google: Scripted, service: Authorized):
    """It may have run out since it was looked at; the answer is that to the new one."""
    google.say(b"", status=401)
    google.say(b"yes")
    assert get(service)[:2] == (200, b"yes")
    assert tokens(google) == ["Bearer token-1", "Bearer token-2"]


def test_a_new_token_that_is_refused_is_the_answer(google: Scripted, service: Authorized):
    """Nobody is asked for ever."""
    google.say(b"no", status=401)
    assert get(service)[:2] == (401, b"no")
    assert len(google.asked) == 2


def test_a_service_that_was_closed_is_opened_again(google: Scripted, service: Authorized):
    """By its next request."""
    google.say(b"yes")
    get(service)
    service.close()
    assert get(service).content == b"yes"


def test_an_answer_is_asked_for_packed_and_given_unpacked(google: Scripted, service: Authorized):
    """Google packs what is long, for those who say that they can read it."""
    google.say(gzip.compress(b"long"), **{"Content-Encoding": "gzip"})
    assert get(service).content == b"long"
    assert "gzip" in google.asked[0].headers["Accept-Encoding"]
    assert google.asked[0].query == {"a": "b"}


@pytest.mark.parametrize(("after", "kept"), [(authorized.IDLE, True), (authorized.IDLE + 1, False)])
def test_connections_that_were_idle_for_long_are_opened_anew(
    google: Scripted, monkeypatch: pytest.MonkeyPatch, after: float, kept: bool
):
    """Whoever is frozen meanwhile does not hear the other side hang up."""
    now = [1000.0]
    monkeypatch.setattr(authorized, "monotonic", lambda: now[0])
    google.say({})
    service = Authorized(google.url, made_up(), "tester")
    get(service)
    before = service._pool
    now[0] += after
    assert get(service).status == 200
    assert (service._pool is before) == kept


def test_each_sweep_goes_on_with_the_connections_of_the_one_before(google: Scripted):
    """And with its token; another service has its own."""
    kept = kept_service(google.url, "tester", anonymous=True)
    assert kept_service(google.url, "tester", anonymous=True) is kept
    assert kept_service("http://127.0.0.1:9", "tester", anonymous=True) is not kept
