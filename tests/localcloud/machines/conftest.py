"""What the tests of virtual machines share: an event loop per test and a way to wait for a fact."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import psutil
import pytest

from localcloud import leash

LIMIT_SECONDS = 20


@pytest.fixture
def cleanup():
    """What to await at the end of a scene, whatever came of it."""
    return contextlib.AsyncExitStack()


@pytest.fixture
def run(cleanup: contextlib.AsyncExitStack):
    """Run a coroutine in a loop of its own, with a limit, and clean up after it."""

    def runner(work: Coroutine[Any, Any, Any]) -> Any:
        async def limited():
            async with asyncio.timeout(2 * LIMIT_SECONDS), cleanup:
                return await work

        return asyncio.run(limited())

    return runner


@pytest.fixture
def eventually():
    """Wait, without blocking the loop, until something is so; fail if it never is."""

    async def wait(fact: Callable[[], Any], what: str = "it never came true") -> Any:
        end = time.monotonic() + LIMIT_SECONDS
        while not (value := fact()):
            assert time.monotonic() < end, what
            await asyncio.sleep(0.01)
        return value

    return wait


@pytest.fixture
def start(tmp_path: Path, cleanup: contextlib.AsyncExitStack):
    """Start a bash script on a leash in the test's folder; extra words become its arguments."""

    async def starter(script: str, *arguments: str, **more: Any) -> leash.Leashed:
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        leashed = await leash.start(["bash", "-c", script, "bash", *arguments], env=env, cwd=tmp_path, **more)
        cleanup.push_async_callback(leashed.kill)
        return leashed

    return starter


@pytest.fixture
def survivors():
    """The living processes that carry a mark of the leash, found by nothing but their environment."""

    def find(mark: str = "") -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if mark in _mark(process)]

    return find


def _mark(process: psutil.Process) -> str:
    try:
        alive = process.status() != psutil.STATUS_ZOMBIE
        return process.environ().get(leash.VARIABLE, "-") if alive else "-"
    except (psutil.Error, OSError):
        return "-"
