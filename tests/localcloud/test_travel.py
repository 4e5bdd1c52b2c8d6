"""Journeys into the future: what follows the clock, what goes on as it was, and what is not invented."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from localcloud.clock import Clock
from localcloud.cloud import LocalCloud, Options
from localcloud.commands import main
from localcloud.outbound import Outgoing
from localcloud.travel import Travel
from tests.e2e.chaos.cloud import served
from tests.localcloud.compute.world import request
from tests.waiting import wait

TIMEOUT_SECONDS = 30
POLICY = Path(__file__).resolve().parents[2] / "infra" / "policy.toml"
ZONE = "/compute/v1/projects/demo/zones/us-central1-a"
GPU = "agent.googleapis.com/gpu/utilization"
LINES = "logging.googleapis.com/log_entry_count"
TOPIC = "projects/demo/topics/ticks"
JOBS = "/v1/projects/demo/locations/us-central1/jobs"
HOUR = 3600


@asynccontextmanager
async def cloud(state: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A local cloud whose VMs have no processes; gives a client of it."""
    options = Options(project="demo", state=state, machines=False)
    async with (
        LocalCloud(options) as here,
        httpx.AsyncClient(base_url=here.endpoints.http, trust_env=False, timeout=TIMEOUT_SECONDS) as http,
    ):
        yield http


async def travel(http: httpx.AsyncClient, seconds: float) -> dict[str, Any]:
    """Let so much time pass."""
    answer = await http.post("/local/travel", json={"seconds": seconds})
    return dict(answer.raise_for_status().json())


async def came_true(fact: Callable[[], Awaitable[bool]]) -> None:
    """Return once it is so."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            if await fact():
                return
            await asyncio.sleep(0.01)


async def vm(http: httpx.AsyncClient, **fields: Any) -> str:
    """Make a VM and wait until it runs; gives its id."""
    (await http.post(f"{ZONE}/instances", json=request(**fields))).raise_for_status()

    async def runs() -> bool:
        return (await status(http)) == "RUNNING"

    await came_true(runs)
    return str((await http.get(f"{ZONE}/instances/vm")).json()["id"])


async def status(http: httpx.AsyncClient) -> str:
    """The status of the VM, "" where there is none."""
    return str((await http.get(f"{ZONE}/instances/vm")).json().get("status", ""))


async def point(http: httpx.AsyncClient, instance: str, value: float, metric: str = GPU, **said: Any) -> None:
    """What an agent measured."""
    labels = {"instance_id": instance, "zone": "us-central1-a", "project_id": "demo"}
    body = {"metric": metric, "value": value, "resource_labels": labels, **said}
    (await http.post("/local/points", json=body)).raise_for_status()


async def points(http: httpx.AsyncClient, metric: str = GPU) -> list[tuple[datetime, float]]:
    """Every point of the metric in the last two hours, oldest first."""
    now = datetime.fromisoformat((await http.get("/local/travel")).json()["now"])
    query = {
        "filter": f'metric.type = "{metric}"',
        "interval.startTime": (now - timedelta(hours=2)).isoformat(),
        "interval.endTime": now.isoformat(),
    }
    found = (await http.get("/v3/projects/demo/timeSeries", params=query)).raise_for_status().json()
    rows = [one for series in found.get("timeSeries", ()) for one in series["points"]]
    return sorted(
        (
            datetime.fromisoformat(row["interval"]["endTime"]),
            float(row["value"].get("doubleValue", row["value"].get("int64Value"))),
        )
        for row in rows
    )


# --- the clock ---


def test_a_journey_makes_the_time_pass_and_a_skew_does_not():
    """A clock that is wrong shows another time; nothing has waited for that long."""
    clock = Clock()
    before = clock.elapsed()
    clock.skew = timedelta(hours=1)
    assert clock.elapsed() - before < 1
    clock.travel(timedelta(hours=1))
    assert HOUR <= clock.elapsed() - before < HOUR + 1
    assert timedelta(hours=2) <= clock.now() - datetime.now(UTC) + timedelta(seconds=1)


@pytest.mark.parametrize(("journeys", "over"), [((9.0,), False), ((9.0, 1.0), True), ((11.0,), True)])
def test_who_pauses_is_woken_when_the_time_is_over_and_not_before(journeys, over):
    """A pause of ten seconds, and journeys that are shorter, as long, and longer."""

    async def story() -> bool:
        clock = Clock()
        pausing = asyncio.create_task(clock.pause(timedelta(seconds=10)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for seconds in journeys:
            clock.travel(timedelta(seconds=seconds))
        await asyncio.wait([pausing], timeout=0.05)
        try:
            return pausing.done()
        finally:
            pausing.cancel()

    assert asyncio.run(story()) is over


# --- what follows the clock ---


def test_everybody_goes_by_the_new_time(tmp_path):
    """The answer says how far ahead it is, and so does the environment of clients."""

    async def story() -> None:
        async with cloud(tmp_path) as http:
            assert "SPOTWARDEN_CLOCK_AHEAD" not in (await http.get("/local/env")).json()
            assert (await travel(http, HOUR))["ahead_seconds"] == HOUR
            arrived = await travel(http, HOUR / 2)
            assert arrived["ahead_seconds"] == HOUR * 1.5
            assert datetime.fromisoformat(arrived["now"]) > datetime.now(UTC) + timedelta(minutes=89)
            environment = (await http.get("/local/env")).json()
            assert float(environment["SPOTWARDEN_CLOCK_AHEAD"]) == HOUR * 1.5

    asyncio.run(story())


def test_the_next_start_over_the_same_bucket_is_as_far_ahead(tmp_path):
    """What is in the bucket would be of the future otherwise."""

    async def story() -> float:
        async with cloud(tmp_path) as http:
            await travel(http, HOUR)
        async with cloud(tmp_path) as http:
            return float((await http.get("/local/travel")).json()["ahead_seconds"])

    assert asyncio.run(story()) == HOUR


@pytest.mark.parametrize("body", [{"seconds": 0}, {"seconds": -60}, {"seconds": 10**9}, {"minutes": 5}, {}])
def test_what_is_no_journey_is_refused(tmp_path, body):
    """Nowhere, into the past, beyond a year; and what says nothing of seconds."""

    async def story() -> tuple[int, float]:
        async with cloud(tmp_path) as http:
            refused = (await http.post("/local/travel", json=body)).status_code
            return refused, (await http.get("/local/travel")).json()["ahead_seconds"]

    assert asyncio.run(story()) == (400, 0)


def test_a_limited_run_time_ends_on_the_way(tmp_path):
    """One second short of an hour the VM runs, a second later it is stopped."""

    async def story() -> None:
        async with cloud(tmp_path) as http:
            limit = {"maxRunDuration": {"seconds": HOUR}, "instanceTerminationAction": "STOP"}
            await vm(http, scheduling=limit)
            await travel(http, HOUR - TIMEOUT_SECONDS)
            assert await status(http) == "RUNNING"
            await travel(http, TIMEOUT_SECONDS)

            async def stopped() -> bool:
                return (await status(http)) == "TERMINATED"

            await came_true(stopped)

    asyncio.run(story())


def test_a_stock_out_ends_on_the_way(tmp_path):
    """It was to last ten minutes."""

    async def story() -> list[int]:
        async with cloud(tmp_path) as http:
            body = {"zone": "us-central1-a", "for_seconds": 600}
            (await http.post("/local/stockout", json=body)).raise_for_status()
            counts = []
            for seconds in (500, 101):
                await travel(http, seconds)
                counts.append(len((await http.get("/local/stockout")).json()["stockouts"]))
            return counts

    assert asyncio.run(story()) == [1, 0]


def test_a_tick_that_came_due_many_times_is_fired_once(tmp_path):
    """An hour of minutes is one tick, not sixty."""

    async def story() -> int:
        async with cloud(tmp_path) as http:
            (await http.put(f"/v1/{TOPIC}", json={})).raise_for_status()
            job = {
                "name": "projects/demo/locations/us-central1/jobs/each-minute",
                "schedule": "*/30 * * * *",
                "timeZone": "Etc/UTC",
                "pubsubTarget": {"topicName": TOPIC, "data": "eA=="},
            }
            (await http.post(JOBS, json=job)).raise_for_status()

            async def published() -> int:
                return int((await http.get("/local/topics")).json()["topics"][0]["published"])

            before = await published()
            await travel(http, 24 * HOUR)

            async def ticked() -> bool:
                return (await published()) > before

            await came_true(ticked)
            return await published() - before

    assert asyncio.run(story()) == 1


# --- metrics ---


def test_metrics_go_on_as_they_last_were(tmp_path):
    """A point a minute and no gap, for a VM that runs and whose agent had reported just now."""

    async def story() -> list[tuple[datetime, float]]:
        async with cloud(tmp_path) as http:
            instance = await vm(http)
            await point(http, instance, 3.0, age_seconds=1)
            await point(http, instance, 42.0)
            await travel(http, 25 * 60)
            return await points(http)

    (first, *rest) = asyncio.run(story())
    assert first[1] == 3.0
    assert [value for _, value in rest] == [42.0] * 26
    moments = [at for at, _ in rest]
    assert {later - earlier for earlier, later in pairwise(moments)} == {timedelta(minutes=1)}


def test_lines_of_a_log_are_not_invented(tmp_path):
    """What is counted stays as it was: nobody wrote anything."""

    async def story() -> list[tuple[datetime, float]]:
        async with cloud(tmp_path) as http:
            instance = await vm(http)
            labels = {"log": "syslog", "severity": "DEFAULT"}
            await point(http, instance, 5, LINES, metric_labels=labels)
            await travel(http, 25 * 60)
            return await points(http, LINES)

    assert [value for _, value in asyncio.run(story())] == [5.0]


@pytest.mark.parametrize(("age", "expected"), [(4 * 60, 30), (6 * 60, 1)])
def test_an_agent_that_was_silent_stays_so(tmp_path, age, expected):
    """Four minutes without a point are a slow agent, six are none; the points run on from the last one."""

    async def story() -> int:
        async with cloud(tmp_path) as http:
            await point(http, await vm(http), 42.0, age_seconds=age)
            await travel(http, 25 * 60)
            return len(await points(http))

    assert asyncio.run(story()) == expected


def test_of_a_vm_that_does_not_run_nothing_is_heard(tmp_path):
    """It is stopped before the journey."""

    async def story() -> int:
        async with cloud(tmp_path) as http:
            instance = await vm(http)
            await point(http, instance, 42.0)
            (await http.post(f"{ZONE}/instances/vm/stop")).raise_for_status()

            async def stopped() -> bool:
                return (await status(http)) == "TERMINATED"

            await came_true(stopped)
            await travel(http, 25 * 60)
            return len(await points(http))

    assert asyncio.run(story()) == 1


# --- messages ---


def test_a_journey_waits_for_who_works_and_holds_back_the_others(tmp_path):
    """Nobody is asked by one clock while they go by another."""

    async def story() -> list[str]:
        told: list[str] = []
        answers = asyncio.Event()

        async def post(call: Outgoing) -> int:
            told.append(f"asked {call.url}")
            await answers.wait()
            return 200

        async def cut_off() -> None:
            told.append("cut off")

        way = Travel(
            Clock(), note=tmp_path / "ahead", skipped=lambda *_: told.append("travels"), cut_off=cut_off
        )
        held = way.held(post)
        first = asyncio.create_task(held(Outgoing(url="first", timeout=timedelta(seconds=1))))
        await asyncio.sleep(0)
        journey = asyncio.create_task(way.go(timedelta(hours=1)))
        await asyncio.sleep(0)
        second = asyncio.create_task(held(Outgoing(url="second", timeout=timedelta(seconds=1))))
        await asyncio.sleep(0.01)
        told.append("answers")
        answers.set()
        await asyncio.gather(first, journey, second)
        return told

    assert asyncio.run(story()) == ["asked first", "answers", "travels", "asked second"]


def test_who_does_not_come_to_an_end_is_cut_off_before_the_time_passes(tmp_path, monkeypatch):
    """It would go on by another clock in the midst of what it does."""
    monkeypatch.setattr("localcloud.travel.TIMEOUT", timedelta(milliseconds=1))
    note = tmp_path / "ahead"

    async def story() -> list[str]:
        told: list[str] = []

        async def post(_call: Outgoing) -> int:
            return await asyncio.Future()

        async def cut_off() -> None:
            told.append(f"cut off at {float(note.read_text()):g}")

        way = Travel(Clock(), note=note, skipped=lambda *_: told.append("travels"), cut_off=cut_off)
        way.write_down()
        working = asyncio.create_task(way.held(post)(Outgoing(url="first", timeout=timedelta(seconds=1))))
        await asyncio.sleep(0)
        await way.go(timedelta(hours=1))
        working.cancel()
        return [*told, f"at {float(note.read_text()):g}"]

    assert asyncio.run(story()) == ["cut off at 0", "travels", f"at {HOUR}"]


def test_functions_go_by_the_new_time_and_are_not_started_again(tmp_path):
    """The process that was asked before the journey is asked after it, and is an hour further."""
    with served(tmp_path, POLICY, "--no-machines") as here:

        def swept() -> datetime:
            raw = here.read("spotwarden/turns/recover_spot.json")
            turn = json.loads(raw) if raw else {}
            return datetime.fromisoformat(turn.get("swept") or "1970-01-01T00:00:00Z")

        before = here.function()
        begun = datetime.now(UTC)
        here.tick()
        wait(TIMEOUT_SECONDS, lambda: swept() >= begun, "recover_spot does not sweep")
        here.post("/local/travel", {"seconds": HOUR})
        here.tick()
        wait(TIMEOUT_SECONDS, lambda: swept() >= begun + timedelta(hours=1), "it goes by the old time")
        after = here.function()
        assert (after["pid"], after["starts"]) == (before["pid"], before["starts"])


# --- the commands ---


def test_the_commands_say_what_is_meant(monkeypatch):
    """`travel 25m` is 1500 seconds; `agent dark --off` means that it runs none."""
    calls = []

    def call(_method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path != "/local/settle":
            calls.append((path, body))
        return {"at_work": 0, "now": "2026-11-21T12:00:00Z", "ahead_seconds": 1500.0}

    monkeypatch.setattr("localcloud.commands.knobs.call", call)
    for words in (["travel", "25m"], ["agent", "dark", "--off"], ["agent", "dark"]):
        assert CliRunner().invoke(main, words).exit_code == 0
    assert calls == [
        ("/local/travel", {"seconds": 1500.0}),
        ("/local/agent", {"node": "dark", "runs": False}),
        ("/local/agent", {"node": "dark", "runs": True}),
    ]
