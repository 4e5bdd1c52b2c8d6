"""One job at run time: when it is due, and running it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

import grpc
import msgspec

from localcloud.clock import Clock, rfc3339
from localcloud.errors import ApiError
from localcloud.outbound import CallIdentity, Outgoing, Post, UnreachableError
from localcloud.ports import Publish
from localcloud.rpc import code_of
from localcloud.scheduler.body import HttpTarget, JobBody, decoded, seconds
from localcloud.scheduler.cron import Schedule

Status = Mapping[str, Any]
"""A `google.rpc.Status`; empty when all is well."""

OK: Status = {}

# What a failed call is reported as; everything else is UNKNOWN.
_CODES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


@dataclass(frozen=True, kw_only=True)
class Outside:
    """What jobs act on."""

    clock: Clock
    publish: Publish
    post: Post


class Job:
    """A job with its state. A scheduled run never overlaps another: it waits until that has ended."""

    def __init__(self, body: JobBody, schedule: Schedule, outside: Outside) -> None:
        self.body = body
        self.schedule = schedule
        self.paused = False
        self.updated = outside.clock.now()
        self.next_at = schedule.after(self.updated)
        self._outside = outside
        self._last_attempt: datetime | None = None
        self._status: Status = OK
        self._retry_at: datetime | None = None
        self._runs: set[asyncio.Task[None]] = set()

    @property
    def is_running(self) -> bool:
        """Whether a run, its retries included, is not over."""
        return bool(self._runs)

    def due(self, now: datetime) -> bool:
        """Whether its scheduled time has come and it can start."""
        return not self.paused and not self.is_running and self.next_at <= now

    def change(self, body: JobBody, schedule: Schedule) -> None:
        """Go by another configuration from now on."""
        self.body, self.schedule = body, schedule
        self.updated = self._outside.clock.now()
        self.next_at = schedule.after(self.updated)

    def start(self, scheduled: datetime, *, times: int = 1) -> asyncio.Task[None]:
        """Run in the background, `times` in a row, each with its retries; times that were missed are gone."""
        self.next_at = self.schedule.after(max(scheduled, self._outside.clock.now()))
        task = asyncio.create_task(self._repeat(scheduled, times), name=f"job {self.body.name}")
        self._runs.add(task)
        task.add_done_callback(self._runs.discard)
        return task

    async def attempt(self, scheduled: datetime) -> Status:
        """Do once what the job is for, and say how it ended."""
        self._last_attempt = self._outside.clock.now()
        self._status = await self._do(scheduled)
        return self._status

    async def stop(self) -> None:
        """Give up every run and its retries."""
        runs = list(self._runs)
        for run in runs:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)

    def resource(self) -> Mapping[str, Any]:
        """The job as the API answers with it."""
        shown: dict[str, Any] = without_nothing(msgspec.to_builtins(self.body))
        if self.body.http_target:
            shown.setdefault("attemptDeadline", "180s")
        if self._last_attempt:
            shown |= {"lastAttemptTime": rfc3339(self._last_attempt), "status": self._status}
        state = "PAUSED" if self.paused else "ENABLED"
        return shown | {
            "state": state,
            "scheduleTime": rfc3339(self._retry_at or self.next_at),
            "userUpdateTime": rfc3339(self.updated),
        }

    async def _repeat(self, scheduled: datetime, times: int) -> None:
        for _ in range(times):
            await self._with_retries(scheduled)

    async def _with_retries(self, scheduled: datetime) -> None:
        """Attempt until it succeeds or the limits of the retry configuration are reached."""
        retry = self.body.retry_config
        began, failures = self._outside.clock.now(), 0
        while await self.attempt(scheduled):
            failures += 1
            limit = seconds(retry.max_retry_duration)
            spent = (self._outside.clock.now() - began).total_seconds()
            # "If specified with retry_count, the job will be retried until both limits are reached."
            if failures > retry.retry_count and (not limit or spent >= limit):
                break
            await self._back_off(retry.wait(failures))

    async def _back_off(self, wait: timedelta) -> None:
        self._retry_at = self._outside.clock.now() + wait
        try:
            await asyncio.sleep(wait.total_seconds())
        finally:
            self._retry_at = None

    async def _do(self, scheduled: datetime) -> Status:
        if call := self.body.http_target:
            return await self._call(call, scheduled)
        target = self.body.pubsub_target
        assert target is not None  # noqa: S101 - read_job makes sure of one target
        try:
            self._outside.publish(target.topic_name, decoded(target.data), target.attributes)
        except ApiError as error:
            return {"code": code_of(error).value[0], "message": error.message}
        return OK

    async def _call(self, target: HttpTarget, scheduled: datetime) -> Status:
        deadline = timedelta(seconds=seconds(self.body.attempt_deadline or "180s"))
        outgoing = Outgoing(
            method=target.http_method,
            url=target.uri,
            headers=self._headers(target, scheduled),
            body=decoded(target.body),
            timeout=deadline,
            caller=_caller(target),
        )
        try:
            status = await self._outside.post(outgoing)
        except UnreachableError as error:
            return {"code": grpc.StatusCode.UNAVAILABLE.value[0], "message": str(error)}
        if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            return OK
        code = grpc.StatusCode[_CODES.get(status, "UNKNOWN")]
        return {"code": code.value[0], "message": f"{target.uri} answered with HTTP status {status}."}

    def _headers(self, target: HttpTarget, scheduled: datetime) -> Mapping[str, str]:
        """The headers of a call; those that the service sets itself cannot be overruled."""
        headers = {key.lower(): value for key, value in target.headers.items()}
        if target.body:
            headers.setdefault("content-type", "application/octet-stream")
        if target.oauth_token:
            headers["authorization"] = "Bearer local-cloud"
        return headers | {
            "user-agent": "Google-Cloud-Scheduler",
            "x-cloudscheduler": "true",
            "x-cloudscheduler-jobname": self.body.name.rpartition("/")[2],
            "x-cloudscheduler-scheduletime": rfc3339(scheduled),
        }


def _caller(target: HttpTarget) -> CallIdentity | None:
    token = target.oidc_token
    return (
        CallIdentity(email=token.service_account_email, audience=token.audience or target.uri)
        if token
        else None
    )


def without_nothing(value: Any) -> Any:
    """JSON without the members that are null or empty: the API leaves them out."""
    if not isinstance(value, dict):
        return value
    kept = {key: without_nothing(member) for key, member in value.items()}
    return {key: member for key, member in kept.items() if member not in (None, "", {})}
