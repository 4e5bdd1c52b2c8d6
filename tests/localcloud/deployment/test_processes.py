"""The processes of functions: kept running, at one place, whatever befalls them."""

import asyncio
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from localcloud.deployment import Function, Manifest, Processes
from localcloud.deployment.front import Front
from localcloud.deployment.manifest import Http, Retry
from localcloud.deployment.processes import Kept, url_of
from localcloud.listener import HOST
from localcloud.place import Place

TIMEOUT_SECONDS = 60
SOURCE = '''
import functions_framework

@functions_framework.cloud_event
def echo(event):
    """Take it."""
'''
REQUESTS = '''
import os
import functions_framework

@functions_framework.http
def {name}(request):
    """Say what it was told."""
    return {{name: os.environ.get(name, "") for name in ("COLOUR", "PASSWORD")}}
'''
HEADERS = {"ce-id": "1", "ce-source": "s", "ce-type": "t", "ce-specversion": "1.0"}


def row(name: str, **more: Any) -> Function:
    """A function's row."""
    retry = Retry(minimum_seconds=1, maximum_seconds=10)
    common: dict[str, Any] = {"does": "nothing", "memory": "1Gi", "timeout_seconds": 60, "permissions": ()}
    return Function(name=name, retry=retry, **common, **more)


@pytest.fixture
def processes(tmp_path: Path) -> Processes:
    """One function that takes every event."""
    folder = tmp_path / "functions" / "echo"
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(SOURCE, encoding="utf-8")
    manifest = Manifest(functions=(row("echo"),), topics={}, folder=tmp_path / "infra")
    return Processes(manifest=manifest, logs=tmp_path / "logs")


async def came_true(fact: Callable[[], Awaitable[bool]]) -> None:
    """Return once it is so."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            if await fact():
                return
            await asyncio.sleep(0.01)


async def started(kept: Kept, times: int) -> bool:
    """Whether it was started so often; until then a worker of the killed one may still answer."""
    return kept.starts >= times


async def is_taken(url: str) -> bool:
    """Whether an event is taken there; False where nobody listens."""
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as client:
        try:
            return (await client.post(url, headers=HEADERS, json={})).is_success
        except httpx.TransportError:
            return False


def test_a_killed_function_is_started_again_at_the_same_place(processes: Processes):
    """Whatever came of it is gone by then."""

    async def story() -> None:
        await processes.start({})
        try:
            kept = processes.kept["echo"]
            url, before = kept.url, psutil.Process(kept.process.pid)
            workers = before.children(recursive=True)
            assert await is_taken(url)
            os.kill(before.pid, signal.SIGKILL)
            await came_true(lambda: started(kept, 2))
            await came_true(lambda: is_taken(url))
            assert (kept.starts, kept.url) == (2, url)
            assert not any(one.is_running() for one in (before, *workers))
        finally:
            await processes.stop()

    asyncio.run(story())


def test_functions_are_started_anew_in_the_same_environment(processes: Processes):
    """At the same place, once each, and they answer; one that is killed after that comes back in it, too."""

    async def environment_of(pid: int) -> str:
        return psutil.Process(pid).environ().get("COLOUR", "")

    async def story() -> None:
        await processes.start({"COLOUR": "green"})
        try:
            kept = processes.kept["echo"]
            url, before = kept.url, psutil.Process(kept.process.pid)
            assert await environment_of(before.pid) == "green"
            await processes.restart()
            assert await is_taken(url)
            assert (kept.starts, kept.url) == (2, url)
            assert not before.is_running()
            assert await environment_of(kept.process.pid) == "green"
            os.kill(kept.process.pid, signal.SIGKILL)
            await came_true(lambda: started(kept, 3))
            await came_true(lambda: is_taken(url))
            assert kept.starts == 3
            assert await environment_of(kept.process.pid) == "green"
        finally:
            await processes.stop()

    asyncio.run(story())


def test_a_function_that_was_stopped_stays_so(processes: Processes):
    """Nobody starts it again."""

    async def story() -> None:
        await processes.start({})
        kept = processes.kept["echo"]
        await processes.stop()
        assert kept.starts == 1
        assert not await is_taken(kept.url)

    asyncio.run(story())


def test_a_place_is_given_to_nobody_else():
    """Whoever asks for any port gets another one; whoever asks for this one gets it."""
    place = Place()
    others = [socket.create_server((HOST, 0)) for _ in range(50)]
    asked_for_it = socket.create_server((HOST, place.port))
    assert place.port not in {other.getsockname()[1] for other in others}
    for one in (*others, asked_for_it, place):
        one.close()


def test_secrets_go_to_the_functions_that_name_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And to no other, whatever this machine's own environment holds; settings go to all."""
    monkeypatch.setenv("PASSWORD", "this machine's")
    functions = []
    for name, named in (("trusted", ("PASSWORD",)), ("stranger", ())):
        folder = tmp_path / "functions" / name
        folder.mkdir(parents=True)
        (folder / "main.py").write_text(REQUESTS.format(name=name), encoding="utf-8")
        functions.append(row(name, http=Http.PUBLIC, secrets=named))
    manifest = Manifest(functions=tuple(functions), topics={}, folder=tmp_path / "infra")
    processes = Processes(manifest=manifest, logs=tmp_path / "logs", secrets={"PASSWORD": "the secret"})

    async def story() -> dict[str, dict[str, str]]:
        await processes.start({"COLOUR": "green"})
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as client:
                return {name: (await client.get(url)).json() for name, url in processes.urls.items()}
        finally:
            await processes.stop()

    assert asyncio.run(story()) == {
        "trusted": {"COLOUR": "green", "PASSWORD": "the secret"},
        "stranger": {"COLOUR": "green", "PASSWORD": ""},
    }


def test_where_a_function_answers_is_known_before_it_runs(processes: Processes):
    """Others are told of it as they start."""

    async def story() -> None:
        before = processes.urls
        await processes.start({})
        assert processes.urls == before == {"echo": processes.kept["echo"].url}
        await processes.stop()

    asyncio.run(story())


def test_who_comes_before_the_function_is_cut_off(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """As where nobody listens: what is pushed comes again. No fault is logged, for it is none."""
    place = Place()
    front = Front(row("echo"), place, tmp_path)

    async def story() -> bool:
        await front.start()
        try:
            return await is_taken(url_of(place))
        finally:
            await front.stop()
            place.close()

    assert not asyncio.run(story())
    assert caplog.records == []
