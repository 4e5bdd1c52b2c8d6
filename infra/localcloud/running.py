"""Which local clouds run on this machine, so that a command finds the one it is meant for."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

VARIABLE = "SPOTWARDEN_LOCAL_URL"


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


def newest(environ: Mapping[str, str]) -> RunningCloud | None:
    """The one that was started last and still lives; notes of dead ones are cleared away."""
    import psutil  # noqa: PLC0415 — a shell that was told where the local cloud is never looks for it

    living: list[tuple[float, RunningCloud]] = []
    for file in folder(environ).glob("*.json"):
        running = msgspec.json.decode(file.read_bytes(), type=RunningCloud)
        if psutil.pid_exists(running.pid):
            living.append((file.stat().st_mtime, running))
        else:
            file.unlink(missing_ok=True)
    return max(living, key=lambda item: item[0])[1] if living else None


def url(environ: Mapping[str, str] = os.environ) -> str | None:
    """The HTTP endpoint that a command is meant for: the variable, else the newest one; None for none."""
    if said := environ.get(VARIABLE):
        return said
    found = newest(environ)
    return found.http if found else None
