"""Structured log lines, in the form that Cloud Logging reads from a function's standard output."""

import sys

import msgspec

from spotwarden.model.tick import Tick


def log(tick: Tick, severity: str, message: str, **fields: object) -> None:
    """Write one JSON line; `severity` is Cloud Logging's word (INFO, WARNING, ERROR)."""
    line = {
        "severity": severity,
        "message": message,
        "function": tick.function,
        "sweep": tick.sweep,
        **fields,
    }
    sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
    sys.stdout.flush()
