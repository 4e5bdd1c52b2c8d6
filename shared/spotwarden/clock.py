"""The one door to the time. Everything that decides is told the time; whoever tells it asks here."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

AHEAD = "SPOTWARDEN_CLOCK_AHEAD"
"""By how many seconds a local cloud runs ahead of the machine's clock; nothing else sets it."""
AHEAD_FILE = "SPOTWARDEN_CLOCK_FILE"
"""The file that says so instead to a process that goes on while its local cloud travels; it counts first."""


def now() -> datetime:
    """The present moment, aware, in UTC."""
    return machine() + timedelta(seconds=float(_ahead() or 0))


def machine() -> datetime:
    """What the machine's own clock says, wherever a local cloud has travelled to."""
    return datetime.now(UTC)


def _ahead() -> str | None:
    file = os.environ.get(AHEAD_FILE)
    return Path(file).read_text(encoding="ascii") if file else os.environ.get(AHEAD)
