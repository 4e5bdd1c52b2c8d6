"""How often each of Google's services was asked, tries again included, and what time it is there."""

import threading
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter

from spotwarden import clock

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
_dated: dict[str, datetime] = {}
"""The newest answer's date as it was written, and when it came by our clock; empty before the first."""


def calls() -> Mapping[str, int]:
    """Requests of this process by service, since it began; only ever more. Those for tokens are left out."""
    with _lock:
        return dict(_counts)


def count(service: str) -> None:
    """Count a request that goes out."""
    with _lock:
        _counts[service] += 1


def note_date(date: str) -> None:
    """Remember what an answer says of the time (its header `Date`), and when it came."""
    with _lock:
        _dated.clear()
        _dated[date] = clock.machine()


def clock_ahead() -> timedelta | None:
    """How far our clock is ahead of the one that answered last; None where no answer has told a time."""
    with _lock:
        newest = next(iter(_dated.items()), None)
    if newest is None:
        return None
    try:
        there = parsedate_to_datetime(newest[0])
    except ValueError:
        return None
    return newest[1] - there if there.tzinfo else None


class CountingAdapter(HTTPAdapter):
    """Sends, and counts what it sends."""

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Count it, whatever comes of it."""
        count(service_of(request.url or ""))
        answer = super().send(request, *args, **kwargs)
        note_date(answer.headers.get("Date", ""))
        return answer


def service_of(url: str) -> str:
    """Which service a URL is of, as Google calls it; `other` where nobody can tell."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host.endswith(GOOGLE):
        return host.removesuffix(GOOGLE)
    return next((name for part, name in ELSEWHERE.items() if part in parts.path), "other")
