"""What every chapter has at hand: a voice, the commands of a developer, a look at the cloud."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from localcloud.cloud import LocalCloud
from localcloud.functions import Deployment
from localcloud.story.watch import StoryError, Watcher, moment_of, until
from localcloud.surroundings import without_settings

EXAMPLE = Path(__file__).resolve().parents[2] / "job" / "example"
TIMEOUT = timedelta(seconds=180)
Tell = Callable[[str, str], None]
"""Tells a line of a chapter; a line of no chapter has "" for it."""
Environment = Callable[[], Mapping[str, str]]
"""What a client of the local cloud sets, at the time by which it goes now."""


class Stage:
    """One chapter's view of the local cloud; its lines carry the chapter's name."""

    def __init__(self, watch: Watcher, *, environment: Environment, tell: Tell, chapter: str = "") -> None:
        self.watch = watch
        self._environment = environment
        self._tell = tell
        self._chapter = chapter

    @classmethod
    def of(cls, cloud: LocalCloud, deployment: Deployment, tell: Tell) -> Self:
        """The view of a local cloud for lines of no chapter."""
        endpoints = cloud.endpoints
        watch = Watcher(base=endpoints.http, project=endpoints.project, bucket=deployment.bucket)
        return cls(watch, environment=cloud.client_environment, tell=tell)

    def chapter(self, name: str) -> "Stage":
        """The same for a chapter."""
        return Stage(self.watch, environment=self._environment, tell=self._tell, chapter=name)

    def say(self, line: str) -> None:
        """Tell a line."""
        self._tell(self._chapter, line)

    async def run(self, *words: str, folder: str | None = None, **environment: str) -> str:
        """Run `spotwarden` as a developer would, in this folder; gives what it prints."""
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("spotwarden")),
            *words,
            cwd=folder,
            env={**without_settings(os.environ), **self._environment(), **environment},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            output, _ = await asyncio.wait_for(process.communicate(), TIMEOUT.total_seconds())
        except TimeoutError:
            process.kill()
            raise StoryError(f"spotwarden {' '.join(words)} did not end") from None
        text = output.decode(errors="replace")
        if process.returncode:
            raise StoryError(
                f"spotwarden {' '.join(words)} ended with status {process.returncode}: {text.strip()}"
            )
        return text

    async def command(
        self, *words: str, shown: str = "", folder: str | None = None, **environment: str
    ) -> None:
        """Tell the command, run it, tell what it prints."""
        self.say(f"$ spotwarden {shown or ' '.join(words)}")
        self._tell_output(await self.run(*words, folder=folder, **environment))

    def show(self, words: Sequence[str], output: str) -> None:
        """Tell a command that was run already, and what it printed."""
        self.say(f"$ spotwarden {' '.join(words)}")
        self._tell_output(output)

    def _tell_output(self, output: str) -> None:
        for line in output.splitlines():
            # The folder of the examples is left out: a reader is in it.
            self.say(f"    {line.replace(f'{EXAMPLE}/', '')}")

    async def submit(self, script: Path) -> None:
        """Submit a create script with the code beside it."""
        await self.command(
            "submit",
            str(script),
            "--code",
            str(script.parent),
            "--owner",
            "ada@example.com",
            shown=f"submit {script.name} --code .",
        )

    async def preempt(self, node: str) -> None:
        """Take a VM away at once, without the second that a command takes to start."""
        await self.watch.turn("preempt", {"node": node})
        self.say(f"Compute Engine preempts {node}")

    async def stock_out(self, zone: str, machine: str) -> None:
        """Let a zone run out of a machine type."""
        await self.watch.turn("stockout", {"zone": zone, "machine": machine, "for_seconds": 600})
        self.say(f"{zone} has no {machine} left for the next 10 min")

    async def running(self, node: str) -> dict[str, Any]:
        """The one running instance of this name."""
        found = [instance for instance in await self.watch.instances() if instance["name"] == node]
        if len(found) != 1 or found[0]["status"] != "RUNNING":
            raise StoryError(f"one running {node} was expected, there are {len(found)}")
        return found[0]

    async def successor(self, node: str, first: str) -> dict[str, Any]:
        """Wait for a running instance of this name that is not the first."""
        found = await until(
            self.watch.instances,
            lambda seen: any(_is_another(told, node, first) for told in seen),
            within=TIMEOUT,
            waiting_for=f"{node} to come back",
        )
        return next(dict(item) for item in found if _is_another(item, node, first))

    async def record(self, job: str, number: int) -> Mapping[str, Any]:
        """The ledger's record of an attempt; `StoryError` where there is none."""
        raw = await self.watch.read(f"{job}/metadata/attempts/{number}.json")
        if raw is None:
            raise StoryError(f"the ledger has no attempt {number} of {job}")
        return dict(json.loads(raw))

    async def started(self, job: str, number: int) -> Mapping[str, Any]:
        """Wait until the ledger says that an attempt runs; gives its record."""
        raw = await until(
            lambda: self.watch.read(f"{job}/metadata/attempts/{number}.json"),
            lambda raw: raw is not None and json.loads(raw)["state"] == "running",
            within=TIMEOUT,
            waiting_for=f"the ledger to say that attempt {number} of {job} runs",
        )
        return dict(json.loads(raw))

    async def only_attempts(self, job: str, expected: int) -> None:
        """Hold that the ledger has so many attempts, and no more."""
        if await self.watch.read(f"{job}/metadata/attempts/{expected + 1}.json") is not None:
            raise StoryError(f"{job} was started more often than it was lost")

    async def marker_written(self, job: str, node: str) -> datetime:
        """When the marker that attempt 2 answers was written: its generation is that microsecond."""
        markers = (await self.record(job, 2)).get("markers", {})
        if node not in markers:
            raise StoryError(f"the ledger names no marker of {node} for attempt 2")
        return datetime.fromtimestamp(markers[node] / 1e6, UTC)

    async def asked(self, method: str, instance_id: str = "") -> datetime:
        """When a method of `instances` was first called, for this instance, by the audit log."""
        condition = f'protoPayload.methodName="v1.compute.instances.{method}" AND operation.first=true'
        if instance_id:
            condition += f' AND resource.labels.instance_id="{instance_id}"'
        return moment_of((await self.audited(condition, f"{method} {instance_id}"))[0])

    async def audited(self, condition: str, what: str) -> list[dict[str, Any]]:
        """Wait until the audit log has entries that meet a condition, for they come late; oldest first."""
        found: list[dict[str, Any]] = await until(
            lambda: self.watch.entries(condition),
            bool,
            within=TIMEOUT,
            waiting_for=f"the audit log to tell of {what}",
        )
        return found

    async def ended(self, job: str) -> None:
        """Wait for the job's status; `StoryError` where it is not 0."""
        status = await until(
            lambda: self.watch.read(f"{job}/metadata/status-code"),
            lambda raw: raw is not None,
            within=TIMEOUT,
            waiting_for=f"{job} to write its status",
        )
        if status.strip() != b"0":
            raise StoryError(f"{job} ended with status {status.decode().strip()}")

    async def alone(self, *nodes: str) -> None:
        """Wait until none of these VMs is left."""
        await until(
            self.watch.instances,
            lambda seen: all(told["name"] not in nodes for told in seen),
            within=TIMEOUT,
            waiting_for=f"{' and '.join(nodes)} to be deleted",
        )


def _is_another(given: Mapping[str, Any], node: str, first: str) -> bool:
    return bool(given["name"] == node and given["id"] != first and given["status"] == "RUNNING")


def milliseconds(since: datetime, until_then: datetime) -> str:
    """The time between two moments, in words."""
    return f"{(until_then - since) / timedelta(milliseconds=1):.0f} ms"


def zone_of(instance: Mapping[str, Any]) -> str:
    """The short name of an instance's zone."""
    return str(instance["zone"]).rpartition("/")[2]
