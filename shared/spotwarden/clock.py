"""The one door to the time. Everything that decides is told the time; whoever tells it asks here."""

import os
from datetime import UTC, datetime, timedelta

AHEAD = "SPOTWARDEN_CLOCK_AHEAD"
"""By how many seconds a local cloud runs ahead of the machine's clock; nothing else sets it."""


def now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC) + timedelta(seconds=float(os.environ.get(AHEAD) or 0))
