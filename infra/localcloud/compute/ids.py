"""Numbers and names that are given out once, and fingerprints."""

import base64
import hashlib
import secrets
import time
import uuid
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache

import msgspec


class Ids:
    """Gives out ids as Compute Engine does: numbers of 19 digits, each greater than all before.

    They start from the time of day, so they are not used again after a restart either.
    """

    def __init__(self, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._now_ns = now_ns
        self._last = 0

    def take(self) -> str:
        """A number that was never given out."""
        self._last = max(self._last + 1, self._now_ns())
        return str(self._last)


def operation_name(now: datetime, *, prefix: str) -> str:
    """A name such as `operation-1716520299815-6192a86b860a0-7af27a85-14ace3e5`; later ones sort later."""
    micros = int(now.timestamp() * 1_000_000)
    return f"{prefix}-{micros // 1000}-{micros:013x}-{secrets.token_hex(4)}-{secrets.token_hex(4)}"


def group_id() -> str:
    """The id that joins the operations of one bulk request."""
    return str(uuid.uuid4())


def fingerprint(value: object) -> str:
    """Eight bytes that change with the value."""
    return _text(hashlib.sha256(msgspec.json.encode(value, order="sorted")).digest()[:8])


@lru_cache(maxsize=256)
def _text(digest: bytes) -> str:
    """Kept, so that a thousand instances with the same labels share their fingerprint."""
    return base64.urlsafe_b64encode(digest).decode()
