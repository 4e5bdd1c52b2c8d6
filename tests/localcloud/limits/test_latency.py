"""How long calls are on their way."""

import asyncio
import statistics
from collections.abc import Callable
from typing import Any

import pytest
from starlette.types import Message, Scope

from localcloud.limits import OFF, Latency, LatencyMiddleware, Limits

TWENTY_MS = Limits(latency_seconds=0.02, seed=7)


def draws(limits: Limits, count: int = 10) -> list[float]:
    """So many draws."""
    latency = Latency(lambda: limits)
    return [latency.draw() for _ in range(count)]


def test_calls_take_so_long_on_average_and_some_much_longer() -> None:
    """Half of them less than 18 ms, one in a hundred 56 ms or more."""
    drawn = sorted(draws(TWENTY_MS, 20_000))
    assert statistics.fmean(drawn) == pytest.approx(0.02, rel=0.02)
    assert drawn[10_000] == pytest.approx(0.0177, rel=0.03)
    assert drawn[19_800] == pytest.approx(0.0565, rel=0.05)


def test_a_seed_draws_the_same_again_and_another_one_something_else() -> None:
    """A run can be repeated."""
    assert draws(TWENTY_MS) == draws(TWENTY_MS)
    assert draws(TWENTY_MS) != draws(Limits(latency_seconds=0.02, seed=8))


def test_a_new_seed_counts_at_once() -> None:
    """It is a knob."""
    limits = [TWENTY_MS]
    latency = Latency(lambda: limits[0])
    first = [latency.draw() for _ in range(3)]
    limits[0] = Limits(latency_seconds=0.02, seed=8)
    latency.draw()
    limits[0] = TWENTY_MS
    assert [latency.draw() for _ in range(3)] == first


def test_without_a_latency_nothing_is_drawn() -> None:
    """Not even a moment."""
    assert draws(OFF) == [0.0] * 10


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What happened, in its order: waits as numbers of milliseconds."""
    told: list[object] = []

    async def sleep(seconds: float) -> None:
        told.append(round(seconds * 1000))

    monkeypatch.setattr("localcloud.limits.latency.asyncio.sleep", sleep)
    monkeypatch.setattr(Latency, "draw", lambda _self: 0.02)
    return told


def play(told: list[object], path: str) -> None:
    """A call to this path."""

    async def app(scope: Scope, _receive: Any, send: Callable[[Message], Any]) -> None:
        told.append(scope["path"])
        await send({"type": "http.response.start"})
        await send({"type": "http.response.body"})

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        told.append(message["type"].rpartition(".")[2])

    middleware = LatencyMiddleware(app, latency=Latency(lambda: TWENTY_MS))
    asyncio.run(middleware({"type": "http", "path": path}, receive, send))


@pytest.mark.parametrize(
    "path",
    [
        "/compute/v1/projects/p/zones/z/instances",
        "/storage/v1/b/bucket/o/a",
        "/upload/storage/v1/b/bucket/o",
        "/v1/projects/p/topics/t:publish",
        "/v2/entries:list",
        "/v3/projects/p/timeSeries",
    ],
)
def test_a_call_is_on_its_way_before_the_work_and_its_answer_after_it(told: list[object], path: str) -> None:
    """Half of the time each; the body follows at once."""
    play(told, path)
    assert told == [10, path, 10, "start", "body"]


@pytest.mark.parametrize("path", ["/local/limits", "/token", "/computeMetadata/v1/instance/id"])
def test_what_is_asked_on_the_machine_itself_takes_no_time(told: list[object], path: str) -> None:
    """Neither our own paths nor the metadata server."""
    play(told, path)
    assert told == [path, "start", "body"]


def test_a_grpc_method_is_done_half_way(told: list[object]) -> None:
    """As over HTTP."""

    async def call() -> None:
        async with Latency(lambda: TWENTY_MS).around():
            told.append("work")

    asyncio.run(call())
    assert told == [10, "work", 10]
