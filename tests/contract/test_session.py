"""What a session is told once must be what it would have found out before each call."""

import os

import pytest
import requests

from spotwarden.gcp.session import CONNECTIONS, pool_of, settle

GOOGLE = "https://compute.googleapis.com"
LOOPBACK = "http://127.0.0.1:8080"
PROXY = "http://proxy.office:3128"


@pytest.fixture
def settled(monkeypatch):
    """A session for a service, in this environment."""

    def make(url, **environ):
        for name in (
            "HTTPS_PROXY",
            "https_proxy",
            "NO_PROXY",
            "no_proxy",
            "REQUESTS_CA_BUNDLE",
            "CURL_CA_BUNDLE",
        ):
            monkeypatch.delenv(name, raising=False)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        session = requests.Session()
        settle(session, url)
        return session

    return make


def asked(session, url):
    """How `requests` would send a call there."""
    return session.merge_environment_settings(url, {}, None, None, None)


def test_the_offices_proxy_is_used(settled):
    """As the environment says it."""
    how = asked(settled(GOOGLE, HTTPS_PROXY=PROXY), GOOGLE)
    assert how["proxies"]["https"] == PROXY


def test_a_service_that_needs_no_proxy_gets_none(settled):
    """By `NO_PROXY`, or because it is on this machine."""
    assert not asked(settled(GOOGLE, HTTPS_PROXY=PROXY, NO_PROXY="googleapis.com"), GOOGLE)["proxies"]
    assert not asked(settled(LOOPBACK, HTTP_PROXY=PROXY), LOOPBACK)["proxies"]


def test_the_offices_certificates_are_used(settled):
    """A proxy that opens what it passes on shows its own."""
    assert asked(settled(GOOGLE, REQUESTS_CA_BUNDLE="/etc/office.pem"), GOOGLE)["verify"] == "/etc/office.pem"
    assert asked(settled(GOOGLE), GOOGLE)["verify"] is True


def test_the_environment_is_not_read_again(settled, monkeypatch):
    """What changes afterwards changes nothing, which is what makes a call cheaper."""
    session = settled(GOOGLE)
    monkeypatch.setenv("HTTPS_PROXY", PROXY)
    assert not asked(session, GOOGLE)["proxies"]


def test_each_worker_keeps_its_connection(settled):
    """As many as a sweep can have, to either kind of address."""
    session = settled(GOOGLE)
    for url in (GOOGLE, LOOPBACK):
        assert session.get_adapter(url)._pool_maxsize == CONNECTIONS


def test_what_goes_past_requests_goes_through_the_offices_proxy(settled):
    """Which connections there are `requests` decides, also for who sends over them himself."""
    bare, office = settled(GOOGLE), settled(GOOGLE, HTTPS_PROXY=PROXY, REQUESTS_CA_BUNDLE=os.devnull)
    assert pool_of(bare, GOOGLE).proxy is None
    assert pool_of(office, GOOGLE).proxy.url == PROXY
    assert pool_of(office, GOOGLE).ca_certs == os.devnull
    assert pool_of(bare, GOOGLE).cert_reqs == pool_of(office, GOOGLE).cert_reqs == "CERT_REQUIRED"
