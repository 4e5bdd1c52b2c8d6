"""What each HTTP session is told once, so that it need not be found out anew before each call."""

import os
import ssl
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import requests
from requests.utils import DEFAULT_CA_BUNDLE_PATH, get_environ_proxies
from urllib3 import HTTPConnectionPool
from urllib3.util.ssl_ import create_urllib3_context

from spotwarden.gcp.endpoint import is_loopback
from spotwarden.gcp.tally import CountingAdapter

CONNECTIONS = 64
"""Kept open at a time, as many as a sweep may have workers; `requests` keeps ten and opens others anew."""


def settle(session: requests.Session, url: str) -> None:
    """Read the environment's proxies and certificates for this service now, and keep its connections.

    `requests` would read the whole environment before each call, which is a third of what a call costs.
    A company's proxy knows nothing of this machine's loopback.
    """
    proxies = None if is_loopback(url) else get_environ_proxies(url) or None
    # A None is not merged with what each request has: merging is a sixth of what a request costs.
    bare: Any = session
    bare.params, bare.proxies = None, proxies
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or ""
    session.verify = bundle or True
    session.trust_env = False
    # A proxy may itself be spoken to in TLS, for which nothing but the bundle's path is passed on.
    trusted = None if proxies or is_loopback(url) else trusting(bundle)
    adapter = TrustingAdapter(trusted) if trusted else PoolingAdapter(pool_maxsize=CONNECTIONS)
    session.mount("https://", adapter)
    session.mount("http://", adapter)


def pool_of(session: requests.Session, url: str) -> HTTPConnectionPool:
    """The connections that this session, once it is settled, has to this service."""
    return cast("PoolingAdapter", session.get_adapter(url)).pool(session, url)


class PoolingAdapter(CountingAdapter):
    """Also shows its connections, for who asks more often than `requests` is quick at."""

    def pool(self, session: requests.Session, url: str) -> HTTPConnectionPool:
        """The connections that the session's requests to this URL are sent over."""
        asked, how = requests.Request("GET", url).prepare(), session.verify
        connections: HTTPConnectionPool = self.get_connection_with_tls_context(asked, how, session.proxies)
        self.cert_verify(connections, url, how, None)
        return connections


class TrustingAdapter(PoolingAdapter):
    """Believes who the certificates of this context vouch for, and reads no certificates itself.

    `requests` reads all of them for every connection that it opens, which takes longer than some hundred
    calls: a sweep that has sixty connections would spend a second of its processor on it.
    """

    def __init__(self, trusted: ssl.SSLContext) -> None:
        self._trusted = trusted
        super().__init__(pool_maxsize=CONNECTIONS)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """The pools whose connections have the context."""
        super().init_poolmanager(*args, **kwargs, ssl_context=self._trusted)

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, _verify: object, cert: Any = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """One pool for a host, whose certificates are those of the context."""
        return super().build_connection_pool_key_attributes(request, True, cert)

    def cert_verify(self, conn: Any, *_asked: object) -> None:
        """Nothing but that a certificate must be shown: by which ones it is checked the context knows."""
        conn.cert_reqs = "CERT_REQUIRED"


@lru_cache
def trusting(bundle: str) -> ssl.SSLContext | None:
    """A context with the certificates of this file or folder, "" for those of `requests`.

    None where they cannot be read: `requests` says why, at the first call.
    """
    path = bundle or DEFAULT_CA_BUNDLE_PATH
    context = create_urllib3_context()
    try:
        context.load_verify_locations(**{"capath" if Path(path).is_dir() else "cafile": path})
    except OSError:
        return None
    return context
