"""Waiting for the functions: what is waited for, what is not, and for how long."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.cloud import LocalCloud, Options
from localcloud.commands import main
from localcloud.http import Listener

TOPIC = "projects/demo/topics/work"
JOBS = "/v1/projects/demo/locations/us-central1/jobs"
Work = Callable[[], Awaitable[int]]


@asynccontextmanager
async def cloud(state: Path, work: Work) -> AsyncIterator[tuple[LocalCloud, httpx.AsyncClient]]:
    """A local cloud with one function, which does this work and answers with its status."""

    async def run(_request: Request) -> Response:
        return Response(status_code=await work())

    function = Listener(Starlette(routes=[Route("/", run, methods=["POST"])]), port=0)
    async with (
        LocalCloud(Options(project="demo", state=state, machines=False)) as here,
        httpx.AsyncClient(base_url=here.endpoints.http, trust_env=False, timeout=60) as http,
    ):
        await function.start()
        try:
            push: dict[str, Any] = {
                "topic": TOPIC,
                "pushConfig": {"pushEndpoint": function.url},
                "retryPolicy": {"minimumBackoff": "60s", "maximumBackoff": "600s"},
            }
            (await http.put(f"/v1/{TOPIC}", json={})).raise_for_status()
            (await http.put("/v1/projects/demo/subscriptions/work", json=push)).raise_for_status()
            yield here, http
        finally:
            await function.stop()


async def publish(http: httpx.AsyncClient) -> None:
    """One message for the function."""
    answer = await http.post(f"/v1/{TOPIC}:publish", json={"messages": [{"data": "eA=="}]})
    answer.raise_for_status()


async def settle(http: httpx.AsyncClient) -> int:
    """Wait as the commands do; gives how many messages were left."""
    return int((await http.post("/local/settle")).raise_for_status().json()["at_work"])


def test_who_settles_waits_for_the_function_and_for_what_that_sets_going(tmp_path):
    """The function takes half a second, and publishes once more at its end."""
    done: list[str] = []

    async def story() -> list[str]:
        async def work() -> int:
            await asyncio.sleep(0.5)
            if not done:
                await publish(http)
            done.append("done")
            return 204

        async with cloud(tmp_path, work) as (_, http):
            await publish(http)
            assert await settle(http) == 0
            return [*done]

    assert asyncio.run(story()) == ["done", "done"]


def test_a_message_that_is_put_off_is_not_waited_for(tmp_path):
    """It comes again in a minute; the wait is over long before."""
    asked: list[str] = []

    async def story() -> int:
        async def work() -> int:
            asked.append("asked")
            return 503

        async with cloud(tmp_path, work) as (_, http):
            await publish(http)
            async with asyncio.timeout(30):
                return await settle(http)

    assert asyncio.run(story()) == 0
    assert asked == ["asked"]


def test_a_wait_has_an_end_and_says_what_is_left(tmp_path):
    """The function never answers."""

    async def story() -> int:
        async def work() -> int:
            return await asyncio.Future()

        async with cloud(tmp_path, work) as (here, http):
            await publish(http)
            return await here.settling.settle(limit=0.3)

    assert asyncio.run(story()) == 1


def test_after_a_journey_what_came_due_is_done(tmp_path):
    """The tick of an hour, fired at once."""
    done: list[str] = []

    async def story() -> list[str]:
        async def work() -> int:
            done.append("done")
            return 204

        async with cloud(tmp_path, work) as (_, http):
            job = {
                "name": "projects/demo/locations/us-central1/jobs/hourly",
                "schedule": "0 * * * *",
                "timeZone": "Etc/UTC",
                "pubsubTarget": {"topicName": TOPIC, "data": "eA=="},
            }
            (await http.post(JOBS, json=job)).raise_for_status()
            (await http.post("/local/travel", json={"seconds": 3600})).raise_for_status()
            assert await settle(http) == 0
            return [*done]

    assert asyncio.run(story()) == ["done"]


@pytest.mark.parametrize(
    ("left", "said"), [(0, "ticked\n"), (2, "ticked; the functions are still at work, messages left: 2\n")]
)
def test_a_command_says_what_it_has_not_waited_for(monkeypatch, left, said):
    """Nothing where all is done."""
    monkeypatch.setattr("localcloud.commands.knobs.call", lambda *_: {"at_work": left})
    assert CliRunner().invoke(main, ["tick"]).output == said


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "nonsense"])
def test_a_command_that_reaches_nobody_says_so_in_a_line(monkeypatch, url):
    """No name of an exception, no traceback."""
    monkeypatch.setenv("SPOTWARDEN_LOCAL_URL", url)
    said = CliRunner().invoke(main, ["tick"])
    assert said.exit_code == 1
    assert said.output.startswith(f"Error: no local cloud responds at {url}: ")
    assert said.output.count("\n") == 1
    assert "<" not in said.output
