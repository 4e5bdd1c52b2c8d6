"""Structured log lines, in the form that Cloud Logging reads from a function's standard output."""

import sys
from threading import Lock
from typing import Protocol

import msgspec

from spotwarden.engine.metrics import sweep_metrics
from spotwarden.model.tick import Tick

TRACE = "logging.googleapis.com/trace"
"""Hangs a line below its request (Google: "Write structured logs")."""


_ONE_AT_A_TIME = Lock()


class WriteLine(Protocol):
    """What writes a line; `severity` is Cloud Logging's word (INFO, WARNING, ERROR)."""

    def __call__(self, tick: Tick, severity: str, message: str, **fields: object) -> None:
        """Write one line."""


def log(tick: Tick, severity: str, message: str, **fields: object) -> None:
    """Write one JSON line to standard output."""
    line = {
        "severity": severity,
        "message": message,
        "function": tick.function,
        "sweep": tick.sweep,
        **fields,
    }
    if trace := sweep_metrics().trace:
        line[TRACE] = trace
    # In one piece: another worker's line never ends up in the middle of it, nor between it and its end, which
    # functions-framework writes by itself where LOG_EXECUTION_ID is set.
    text = msgspec.json.encode(line).decode() + "\n"
    with _ONE_AT_A_TIME:
        sys.stdout.write(text)
        sys.stdout.flush()


def silent(tick: Tick, severity: str, message: str, **fields: object) -> None:
    """Write nothing: for a command, whose user reads its own words."""
    del tick, severity, message, fields
