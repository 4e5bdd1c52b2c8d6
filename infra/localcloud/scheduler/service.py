"""Cloud Scheduler, put together: jobs over REST, and their ticks."""

import asyncio
import copy
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.clock import Clock
from localcloud.errors import ApiError
from localcloud.http import Json, read_json
from localcloud.methods import refusing
from localcloud.outbound import Post
from localcloud.ports import Publish
from localcloud.rpc import RpcError, page
from localcloud.rpc.parameters import binding
from localcloud.scheduler.body import invalid, read_job, read_payload
from localcloud.scheduler.clockwork import Clockwork, Ticks
from localcloud.scheduler.job import Job, Outside, without_nothing

LOCATIONS = ("asia-east1", "europe-west1", "europe-west4", "us-central1", "us-east1", "us-west1")
UNDONE = ("extraLocationTypes", "filter")
"""Query parameters that are not done."""


class SchedulerService:
    """The Cloud Scheduler of one project, in memory. Ticks begin with the first job."""

    def __init__(self, *, project: str, clock: Clock, publish: Publish, post: Post) -> None:
        self._project = project
        self._outside = Outside(clock=clock, publish=publish, post=post)
        self._jobs: dict[str, Job] = {}
        self._clockwork = Clockwork(self._jobs, clock)

    def routes(self) -> list[BaseRoute]:
        """The REST paths under `/v1/projects/P/locations`."""
        places = "/v1/projects/{project}/locations"
        jobs = places + "/{location}/jobs"
        job = jobs + "/{job}"
        methods = [
            Route(job + ":run", self._run, methods=["POST"]),
            Route(job + ":pause", self._pause, methods=["POST"]),
            Route(job + ":resume", self._resume, methods=["POST"]),
            Route(jobs, self._create, methods=["POST"]),
            Route(jobs, self._list, methods=["GET"]),
            Route(job, self._get, methods=["GET"]),
            Route(job, self._patch, methods=["PATCH"]),
            Route(job, self._delete, methods=["DELETE"]),
            Route(places, self._list_locations, methods=["GET"]),
            Route(places + "/{location}", self._get_location, methods=["GET"]),
        ]
        return [*binding(refusing(methods, UNDONE))]

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/tick` fires now, `/local/ticks` says how unreliable ticks are."""
        return [
            Route("/local/tick", self._tick, methods=["POST"]),
            Route("/local/ticks", self._show_ticks, methods=["GET"]),
            Route("/local/ticks", self._set_ticks, methods=["POST"]),
        ]

    def fire_due(self) -> None:
        """Start what came due at once, rather than at the next look at the clock."""
        self._clockwork.fire_due()

    async def close(self) -> None:
        """End ticks and runs."""
        await self._clockwork.close()

    def _parent(self, request: Request) -> str:
        project, location = request.path_params["project"], request.path_params["location"]
        if project != self._project:
            raise RpcError("NOT_FOUND", f"The project {project!r} does not exist.")
        if location not in LOCATIONS:
            raise RpcError("NOT_FOUND", f"Location {location!r} is not one of {', '.join(LOCATIONS)}.")
        return f"projects/{project}/locations/{location}/jobs/"

    def _job(self, request: Request) -> Job:
        name = self._parent(request) + request.path_params["job"]
        if name not in self._jobs:
            raise RpcError("NOT_FOUND", f"Job not found: {name}")
        return self._jobs[name]

    async def _create(self, request: Request) -> Response:
        parent, raw = self._parent(request), read_payload(await read_json(request))
        name = raw.get("name", "")
        if not isinstance(name, str) or not name.startswith(parent):
            raise invalid(f'Job name must be formatted: "{parent}JOB_ID".')
        body, schedule = read_job(raw, self._project)
        if name in self._jobs:
            raise RpcError("ALREADY_EXISTS", f"Job [{name}] already exists.")
        self._jobs[name] = Job(body, schedule, self._outside)
        return self._answer(self._jobs[name])

    async def _get(self, request: Request) -> Response:
        return Json(self._job(request).resource())

    async def _list(self, request: Request) -> Response:
        parent = self._parent(request)
        size = request.query_params.get("pageSize", "0")
        if not size.isdecimal():
            raise invalid(f"pageSize must be a number, not {size!r}.")
        names = [name for name in self._jobs if name.startswith(parent)]
        token = request.query_params.get("pageToken", "")
        found, following = page(names, size=int(size), token=token, most=500)
        answer: dict[str, Any] = {"jobs": [self._jobs[name].resource() for name in found]}
        return Json(answer | ({"nextPageToken": following} if following else {}))

    async def _patch(self, request: Request) -> Response:
        job, raw = self._job(request), read_payload(await read_json(request))
        present: dict[str, Any] = without_nothing(msgspec.to_builtins(job.body))
        mask = request.query_params.get("updateMask", "")
        paths = [_camel(path) for path in mask.split(",") if path] or [key for key in raw if key != "name"]
        merged = copy.deepcopy(present)
        for path in paths:
            _set(merged, path.split("."), _get(raw, path.split(".")))
        job.change(*read_job(merged | {"name": job.body.name}, self._project))
        return self._answer(job)

    async def _delete(self, request: Request) -> Response:
        job = self._job(request)
        await job.stop()
        del self._jobs[job.body.name]
        return Json({})

    async def _run(self, request: Request) -> Response:
        job = self._job(request)
        job.start(self._outside.clock.now())
        return self._answer(job)

    async def _pause(self, request: Request) -> Response:
        return self._set_paused(request, paused=True)

    async def _resume(self, request: Request) -> Response:
        return self._set_paused(request, paused=False)

    def _set_paused(self, request: Request, *, paused: bool) -> Response:
        job = self._job(request)
        if job.paused is paused:
            needed = "ENABLED" if paused else "PAUSED"
            raise RpcError("FAILED_PRECONDITION", f"The job must be {needed}; {job.body.name} is not.")
        job.paused = paused
        job.change(job.body, job.schedule)
        return self._answer(job)

    def _answer(self, job: Job) -> Response:
        self._clockwork.look()
        return Json(job.resource())

    async def _list_locations(self, request: Request) -> Response:
        return Json({"locations": [_location(request.path_params["project"], each) for each in LOCATIONS]})

    async def _get_location(self, request: Request) -> Response:
        self._parent(request)
        return Json(_location(request.path_params["project"], request.path_params["location"]))

    async def _tick(self, request: Request) -> Response:
        """Attempt jobs once, now, whatever their schedule says, and tell how each ended."""
        wanted = (await read_json(request)).get("job", "")
        now, jobs = self._outside.clock.now(), self._wanted(str(wanted))
        ended = await asyncio.gather(*(job.attempt(now) for job in jobs))
        ticks = [{"job": job.body.name, "status": status} for job, status in zip(jobs, ended, strict=True)]
        return Json({"ticks": ticks})

    def _wanted(self, name: str) -> list[Job]:
        """The job of this full or short name; without a name every job that is not paused."""
        if not name:
            return [job for job in self._jobs.values() if not job.paused]
        found = [job for full, job in self._jobs.items() if name in (full, full.rpartition("/")[2])]
        if not found:
            known = ", ".join(sorted(full.rpartition("/")[2] for full in self._jobs)) or "none"
            raise ApiError(404, "notFound", f"There is no job {name!r}. There are: {known}.")
        return found

    async def _show_ticks(self, _request: Request) -> Response:
        return Json(msgspec.to_builtins(self._clockwork.ticks))

    async def _set_ticks(self, request: Request) -> Response:
        try:
            self._clockwork.set(msgspec.json.decode(await request.body(), type=Ticks))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"This does not say how unreliable ticks are: {error}") from error
        return await self._show_ticks(request)


def _location(project: str, location: str) -> Mapping[str, str]:
    return {"name": f"projects/{project}/locations/{location}", "locationId": location}


def _camel(path: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), path)


def _get(raw: Any, path: list[str]) -> Any:
    for part in path:
        raw = raw.get(part) if isinstance(raw, dict) else None
    return raw


def _set(target: dict[str, Any], path: list[str], value: Any) -> None:
    """Put a value at a path; None takes the field away."""
    *parents, last = path
    for part in parents:
        inner = target.get(part)
        if not isinstance(inner, dict):
            inner = target[part] = {}
        target = inner
    if value is None:
        target.pop(last, None)
    else:
        target[last] = value
