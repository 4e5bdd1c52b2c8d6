"""What happens to a request that takes longer than the function's `timeout_seconds`."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest

from localcloud.deployment import Manifest, Processes
from localcloud.deployment.front import Front
from localcloud.deployment.processes import url_of
from localcloud.deployment.wiring import Where, wires
from localcloud.limits import OFF, Limits
from localcloud.place import Place
from tests.localcloud.deployment.test_processes import HEADERS, TIMEOUT_SECONDS, came_true, row

SLOW = '''
import time
from pathlib import Path

import functions_framework

HERE = Path(__file__).parent


@functions_framework.cloud_event
def slow(event):
    """Work until it is let go."""
    (HERE / "began").touch()
    while not (HERE / "release").exists():
        time.sleep(0.01)
    (HERE / "done").touch()
'''
AT_ONCE = Limits(function_timeouts=0.2 / 60)
"""Of the 60 s of the row: 0.2 s."""


async def post(url: str) -> httpx.Response:
    """Push an event."""
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as client:
        return await client.post(url, headers=HEADERS, json={})


def test_a_function_that_takes_too_long_is_answered_for_and_goes_on(tmp_path: Path) -> None:
    """504, as Cloud Run says it; the process is neither ended nor told, and finishes its work."""
    folder = tmp_path / "functions" / "slow"
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(SLOW, encoding="utf-8")
    manifest = Manifest(functions=(row("slow"),), topics={}, folder=tmp_path / "infra")
    processes = Processes(manifest=manifest, logs=tmp_path / "logs", limits=lambda: AT_ONCE)

    async def is_there(name: str) -> bool:
        return (folder / name).exists()

    async def story() -> None:
        await processes.start({})
        try:
            answer = await post(processes.urls["slow"])
            assert (answer.status_code, answer.text) == (504, "upstream request timeout")
            await came_true(lambda: is_there("began"))
            (folder / "release").touch()
            await came_true(lambda: is_there("done"))
            assert processes.kept["slow"].starts == 1
        finally:
            (folder / "release").touch()
            await processes.stop()

    asyncio.run(story())


@contextlib.asynccontextmanager
async def fronted(folder: Path, limits: Limits, answer: bytes) -> AsyncIterator[str]:
    """A front before a function that sends this and no more, until the block ends; gives its URL."""
    place = Place()
    front = Front(row("echo"), place, folder, limits=lambda: limits)
    held = asyncio.Event()

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await held.wait()
        writer.close()

    server = await asyncio.start_unix_server(respond, front.socket)
    await front.start()
    try:
        yield url_of(place)
    finally:
        held.set()
        await front.stop()
        server.close()
        place.close()


def test_an_answer_that_is_not_finished_in_time_is_cut_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its status is out already; the log says why."""
    half = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"

    async def story() -> None:
        async with fronted(tmp_path, AT_ONCE, half) as url:
            with pytest.raises(httpx.TransportError):
                await post(url)

    asyncio.run(story())
    assert "echo: the request has been terminated" in caplog.text


@pytest.mark.parametrize("limits", [OFF, Limits()])
def test_whoever_answers_in_time_is_left_alone(
    tmp_path: Path, limits: Limits, caplog: pytest.LogCaptureFixture
) -> None:
    """With the limit as without."""
    whole = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nwhole"

    async def story() -> str:
        async with fronted(tmp_path, limits, whole) as url:
            return (await post(url)).text

    assert asyncio.run(story()) == "whole"
    assert caplog.records == []


@pytest.mark.parametrize(("timeout", "waited"), [(5, 10), (120, 120), (3600, 600)])
def test_pubsub_waits_as_long_as_the_function_may_take(timeout: int, waited: int) -> None:
    """Between the 10 and 600 s that it knows, as infra/terraform has it."""
    function = msgspec.structs.replace(row("echo"), timeout_seconds=timeout)
    calls = list(wires(function, Where(project="demo", bucket="jobs"), "http://f"))
    assert [call.body["ackDeadlineSeconds"] for call in calls if "subscriptions" in call.path] == [waited]
