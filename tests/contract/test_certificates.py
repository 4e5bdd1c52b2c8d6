"""Whom a session believes, over real TLS, and how often certificates are read for that."""

import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Barrier, Thread

import pytest
import requests
import trustme
from google.auth.credentials import AnonymousCredentials
from urllib3.exceptions import SSLError

from spotwarden.gcp.authorized import Authorized
from spotwarden.gcp.session import settle, trusting

TOGETHER = 5


class Served(BaseHTTPRequestHandler):
    """Answers once so many calls have come, each over a connection of its own."""

    protocol_version = "HTTP/1.1"
    together = Barrier(1)

    def do_GET(self) -> None:
        """Say yes."""
        self.together.wait(30)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_said: object) -> None:
        """Nothing."""


class Google:
    """A service over TLS; `bundle` has who vouches for it."""

    def __init__(self, folder: Path, name: str) -> None:
        authority = trustme.CA()
        self.bundle = folder / f"{name}.pem"
        authority.cert_pem.write_to_path(self.bundle)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name).configure_cert(context)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Served)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://localhost:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def google(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    """A service that is vouched for by the office's own certificates."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Served, "together", Barrier(1))
    served = Google(tmp_path, "localhost")
    yield served
    served.close()


def settled(url: str) -> requests.Session:
    """A session for this service."""
    session = requests.Session()
    settle(session, url)
    return session


def test_who_the_offices_certificates_vouch_for_is_believed(google: Google, monkeypatch: pytest.MonkeyPatch):
    """As the environment names them."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(google.bundle))
    assert settled(google.url).get(google.url).status_code == 200


def test_who_nobody_vouches_for_is_not(google: Google):
    """The certificates of `requests` know nothing of the office's."""
    with pytest.raises(requests.exceptions.SSLError, match="certificate verify failed"):
        settled(google.url).get(google.url)


def test_who_is_vouched_for_by_another_name_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Or any certificate of the office would do for Google."""
    other = Google(tmp_path, "elsewhere.office")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(other.bundle))
    with pytest.raises(requests.exceptions.SSLError, match="Hostname mismatch"):
        settled(other.url).get(other.url)
    other.close()


def asked(url: str) -> int:
    """What the service says to who sends past `requests`."""
    return Authorized(url, AnonymousCredentials(), "tester").request("GET", "/", None, {}, (30, 30)).status


def test_who_sends_past_requests_believes_the_same(
    google: Google, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Who is vouched for, and nobody else, nor that one by another name."""
    with pytest.raises(SSLError):
        asked(google.url)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(google.bundle))
    assert asked(google.url) == 200
    other = Google(tmp_path, "elsewhere.office")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(other.bundle))
    with pytest.raises(SSLError, match="Hostname mismatch"):
        asked(other.url)
    other.close()


def test_certificates_that_cannot_be_read_are_named(google: Google, monkeypatch: pytest.MonkeyPatch):
    """A mistyped path is no reason to believe anybody."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/no/such.pem")
    with pytest.raises(OSError, match=r"/no/such\.pem"):
        settled(google.url).get(google.url)


def test_certificates_are_read_once(google: Google, monkeypatch: pytest.MonkeyPatch):
    """Not for each connection, nor for each session."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(google.bundle))
    monkeypatch.setattr(Served, "together", Barrier(TOGETHER))
    trusting.cache_clear()
    read: list[str] = []
    load = ssl.SSLContext.load_verify_locations

    def counted(context: ssl.SSLContext, cafile: str | None = None, *args: str, **named: str) -> None:
        read.append(str(cafile))
        load(context, cafile, *args, **named)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counted)
    for session in (settled(google.url), settled(google.url)):
        with ThreadPoolExecutor(TOGETHER) as pool:
            assert all(answer.ok for answer in pool.map(session.get, [google.url] * TOGETHER))
    assert read == [str(google.bundle)]
