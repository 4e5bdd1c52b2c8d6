"""Whole programs, as a user starts them."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from localcloud.supervisor import VARIABLE

SPOTWARDEN = Path(sys.executable).with_name("spotwarden")


def descendants(pid: int) -> list[psutil.Process]:
    """A process's children, and theirs, as they are now."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def marked(home: Path) -> list[psutil.Process]:
    """Every living process that a local cloud with this home has started, daemons included."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
            living = process.status() != psutil.STATUS_ZOMBIE
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if living and VARIABLE in environment and environment.get("XDG_STATE_HOME") == str(home):
            found.append(process)
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A state folder of this test's own, by which its processes are known."""
    return tmp_path / "state"


@pytest.fixture
def start(home: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `spotwarden …`; whatever still runs at the end is ended."""
    started: list[subprocess.Popen[str]] = []

    def run(*words: str, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [str(SPOTWARDEN), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "XDG_STATE_HOME": str(home), **environment},
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
