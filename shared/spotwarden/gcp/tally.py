"""How often each of Google's services was asked: every request that goes out, tries again included."""

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter

GOOGLE = ".googleapis.com"
ELSEWHERE = {
    "/compute/": "compute",
    "/storage/": "storage",
    "/timeSeries": "monitoring",
    "/topics/": "pubsub",
}
"""What a path tells, where one host is all services: on a local cloud."""

_lock = threading.Lock()
_counts: Counter[str] = Counter()


def calls() -> Mapping[str, int]:
    """Requests of this process by service, since it began; only ever more. Those for tokens are left out."""
    with _lock:
        return dict(_counts)


def count(service: str) -> None:
    """Count a request that goes out."""
    with _lock:
        _counts[service] += 1


class CountingAdapter(HTTPAdapter):
    """Sends, and counts what it sends."""

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Count it, whatever comes of it."""
        count(service_of(request.url or ""))
        return super().send(request, *args, **kwargs)


def service_of(url: str) -> str:
    """Which service a URL is of, as Google calls it; `other` where nobody can tell."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host.endswith(GOOGLE):
        return host.removesuffix(GOOGLE)
    return next((name for part, name in ELSEWHERE.items() if part in parts.path), "other")
