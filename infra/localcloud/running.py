"""Which local clouds run on this machine, so that a command finds the one it is meant for."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

VARIABLE = "SPOTWARDEN_LOCAL_URL"
CLOCKS_DIFFER_SECONDS = 2
"""The kernel counts when a process began from when the machine was started, which NTP may move."""


class RunningCloud(msgspec.Struct, frozen=True, kw_only=True):
    """One running local cloud: its endpoints, its process and its folder."""

    http: str
    grpc: str
    project: str
    pid: int
    state: str


def folder(environ: Mapping[str, str]) -> Path:
    """Where the running ones write themselves down: the user's state folder (XDG base directories)."""
    base = environ.get("XDG_STATE_HOME") or Path(environ.get("HOME", "~")).expanduser() / ".local" / "state"
    return Path(base) / "spotwarden" / "running"


def write_down(running: RunningCloud, environ: Mapping[str, str]) -> Path:
    """Note that this one runs; the file is to be removed at the end."""
    home = folder(environ)
    home.mkdir(parents=True, exist_ok=True)
    file = home / f"{running.pid}.json"
    file.write_bytes(msgspec.json.encode(running))
    return file


def living(environ: Mapping[str, str]) -> list[RunningCloud]:
    """Those that still live, the newest first; notes of dead ones are cleared away."""
    import psutil  # noqa: PLC0415 — a shell that was told where the local cloud is never looks for it

    found: list[tuple[float, RunningCloud]] = []
    for file in folder(environ).glob("*.json"):
        running = msgspec.json.decode(file.read_bytes(), type=RunningCloud)
        written = file.stat().st_mtime
        try:
            # A process that began after the note was written only has its number.
            lives = psutil.Process(running.pid).create_time() <= written + CLOCKS_DIFFER_SECONDS
        except psutil.NoSuchProcess:
            lives = False
        if lives:
            found.append((written, running))
        else:
            file.unlink(missing_ok=True)
    return [running for _, running in sorted(found, key=lambda item: item[0], reverse=True)]
