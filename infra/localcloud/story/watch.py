"""Looking at a running local cloud from outside, through its public APIs."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from localcloud.outbound import NO_TLS
from localcloud.story.browsing import BrowsedPage, read_page

SOON, SELDOM = 0.05, 0.5
"""Seconds between two looks: a tenth of what one has waited for already, within these bounds."""
SHORT, LONG = 30.0, 120.0
"""How many seconds an answer may take; a journey in time waits for the sweeps that are under way."""
LOCATION = "us-central1"
GPU = "agent.googleapis.com/gpu/utilization"
Found = TypeVar("Found")


class StoryError(Exception):
    """The story did not come true: says what was waited for, and for how long."""


class Watcher:
    """Reads objects, instances, audit entries and the mailbox."""

    def __init__(self, *, base: str, project: str, bucket: str) -> None:
        self._http = httpx.AsyncClient(base_url=base, timeout=SHORT, trust_env=False, verify=NO_TLS)
        self._project = project
        self._bucket = bucket

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def read(self, name: str) -> bytes | None:
        """The content of an object; None where there is none."""
        path = f"/storage/v1/b/{self._bucket}/o/{quote(name, safe='')}"
        answer = await self._http.get(path, params={"alt": "media"})
        return None if answer.is_error else answer.content

    async def names(self, prefix: str) -> list[str]:
        """The names of the objects below a prefix, in their order."""
        answer = await self._http.get(f"/storage/v1/b/{self._bucket}/o", params={"prefix": prefix})
        return [item["name"] for item in answer.raise_for_status().json().get("items", ())]

    async def mailbox(self) -> list[dict[str, Any]]:
        """Every mail and notice, oldest first."""
        messages: list[dict[str, Any]] = (await self._http.get("/local/mailbox.json")).json()
        return messages[::-1]

    async def open(self, url: str) -> BrowsedPage:
        """The page that a link leads to; `StoryError` where it cannot be opened."""
        return _page(await self._http.get(url))

    async def press(self, page: BrowsedPage) -> BrowsedPage:
        """The page that comes when the button of this one is pressed."""
        if page.action is None:
            raise StoryError(f"there is nothing to press on the page {page.heading!r}")
        return _page(await self._http.post(page.action, data=dict(page.fields)))

    async def in_flight(self, topic: str) -> int:
        """How many messages of a topic somebody has yet to take."""
        topics = (await self._http.get("/local/topics")).raise_for_status().json()["topics"]
        of_it = [item for item in topics if str(item["name"]).endswith(f"/{topic}")]
        return sum(
            each["backlog"] + each["outstanding"]
            for subscription in of_it
            for each in subscription["subscriptions"]
        )

    async def checkpoint(self, job: str) -> int:
        """The step of the newest checkpoint; 0 before the first."""
        raw = await self.read(f"{job}/output/checkpoint.json")
        return int(json.loads(raw)["step"]) if raw else 0

    async def curve(self, job: str) -> list[dict[str, Any]]:
        """The loss curve in the bucket, one entry a step."""
        raw = await self.read(f"{job}/output/curve.jsonl") or b""
        return [json.loads(line) for line in raw.splitlines()]

    async def instances(self) -> list[dict[str, Any]]:
        """Every instance of the project."""
        answer = await self._http.get(f"/compute/v1/projects/{self._project}/aggregated/instances")
        scopes = answer.raise_for_status().json().get("items", {}).values()
        return [item for scope in scopes for item in scope.get("instances", ())]

    async def entries(self, condition: str) -> list[dict[str, Any]]:
        """Audit entries that meet a condition of Cloud Logging's language, oldest first."""
        body = {"resourceNames": [f"projects/{self._project}"], "filter": condition}
        answer = await self._http.post("/v2/entries:list", json=body)
        if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:  # one may look again in the next minute
            return []
        return sorted(answer.raise_for_status().json().get("entries", ()), key=moment_of)

    async def gone(self, instance_id: str) -> datetime:
        """When an instance was gone, its name free; `StoryError` where it is still there."""
        for given in await self._history():
            if given["id"] == instance_id and given["status"] == "GONE":
                return datetime.fromisoformat(given["at"])
        raise StoryError(f"instance {instance_id} is still there")

    async def begun(self, name: str, *, after: datetime) -> datetime:
        """When the next instance of this name began to exist."""
        for given in await self._history():
            at = datetime.fromisoformat(given["at"])
            if given["name"] == name and given["status"] == "PROVISIONING" and at >= after:
                return at
        raise StoryError(f"no {name} came after {after:%H:%M:%S.%f}")

    async def turn(self, knob: str, body: Mapping[str, Any]) -> Any:
        """Do to the cloud what `spotwarden local` does; `StoryError` says why it cannot be."""
        return await self._post(f"/local/{knob}", body, timeout=LONG)

    async def now(self) -> str:
        """The time by which the cloud goes."""
        return str((await self._http.get("/local/travel")).raise_for_status().json()["now"])

    async def gpu(self, instance_id: str, *, since: str) -> float | None:
        """How busy the GPU of an instance was last, in percent; None where nothing has come since then."""
        query = {
            "filter": f'metric.type = "{GPU}" AND resource.labels.instance_id = "{instance_id}"',
            "interval.startTime": since,
            "interval.endTime": await self.now(),
        }
        answer = await self._http.get(f"/v3/projects/{self._project}/timeSeries", params=query)
        series = answer.raise_for_status().json().get("timeSeries", ())
        return float(series[0]["points"][0]["value"]["doubleValue"]) if series else None

    async def compute(self, path: str, body: Mapping[str, Any]) -> None:
        """Ask Compute Engine for something below the project, as anybody's tool would."""
        await self._post(f"/compute/v1/projects/{self._project}/{path}", body)

    async def _post(self, path: str, body: Mapping[str, Any], timeout: float = SHORT) -> Any:  # noqa: ASYNC109 — any JSON value; httpx's own time-out
        answer = await self._http.post(path, json=body, timeout=timeout)
        if answer.is_error:
            raise StoryError(f"{path}: {answer.text.strip()}")
        return answer.json() if answer.content else None

    async def _history(self) -> list[dict[str, Any]]:
        answer = await self._http.get("/local/history")
        changes: list[dict[str, Any]] = answer.raise_for_status().json()["changes"]
        return changes

    async def last_tick(self) -> datetime | None:
        """When Scheduler last fired; None where it has not yet."""
        path = f"/v1/projects/{self._project}/locations/{LOCATION}/jobs"
        jobs = (await self._http.get(path)).raise_for_status().json().get("jobs", ())
        fired = [datetime.fromisoformat(job["lastAttemptTime"]) for job in jobs if "lastAttemptTime" in job]
        return max(fired, default=None)


def _page(answer: httpx.Response) -> BrowsedPage:
    page = read_page(str(answer.url), answer.text)
    if answer.is_error:
        raise StoryError(f"{answer.url.copy_with(query=None)}: {answer.status_code} {page.heading}")
    return page


def moment_of(entry: dict[str, Any]) -> datetime:
    """When an audit entry was written."""
    return datetime.fromisoformat(entry["timestamp"])


async def until(
    look: Callable[[], Any], good: Callable[[Any], bool], *, within: timedelta, waiting_for: str
) -> Any:
    """Look again and again until what is seen is good; `StoryError` after the time."""
    began = time.monotonic()
    try:
        async with asyncio.timeout(within.total_seconds()):
            while not good(seen := await look()):  # noqa: ASYNC110 - in another process: no event tells of it
                await asyncio.sleep(min(max(SOON, (time.monotonic() - began) / 10), SELDOM))
            return seen
    except TimeoutError:
        raise StoryError(f"timed out after {within.total_seconds():g} s for {waiting_for}") from None
