"""What happens: submit, train, preempt, come back, resume, finish."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from localcloud.cloud import Deployment, LocalCloud
from localcloud.story.watch import StoryError, Watcher, moment_of, until

JOB = "test-vm"
EXAMPLE = Path(__file__).resolve().parents[2] / "job" / "example"
STEPS = 80
HALF_WAY = 30
PATIENCE = timedelta(seconds=60)
Say = Callable[[str], None]


class Plot:
    """One telling; `say` gets each line, with the time since the beginning added by the caller."""

    def __init__(self, cloud: LocalCloud, deployment: Deployment, say: Say) -> None:
        self._cloud = cloud
        self._bucket = deployment.bucket
        self._environment = {**os.environ, **cloud.client_environment()}
        self._say = say
        endpoints = cloud.endpoints
        self._watch = Watcher(base=endpoints.http, project=endpoints.project, bucket=deployment.bucket)

    async def tell(self) -> None:
        """Live through the story; `StoryError` where it does not come true."""
        try:
            await self._submit()
            first = await self._train_half()
            await self._preempt()
            second = await self._come_back(first)
            await self._finish(second)
            await self._look_back()
        finally:
            await self._watch.close()

    async def _submit(self) -> None:
        script = EXAMPLE / "create-instance.sh"
        self._say(f"$ spotwarden submit {script.name} --code .")
        await self._command("submit", str(script), "--code", str(EXAMPLE), "--owner", "ada@example.com")

    async def _train_half(self) -> str:
        """Wait for a checkpoint half-way; gives the id of the first instance."""
        step = await until(
            lambda: self._watch.checkpoint(JOB),
            lambda step: bool(step >= HALF_WAY),
            within=PATIENCE,
            waiting_for=f"a checkpoint at step {HALF_WAY}",
        )
        self._say(f"the training has reached step {step} of {STEPS}; its checkpoint is in the bucket")
        return str((await self._only_instance())["id"])

    async def _preempt(self) -> None:
        self._say(f"$ spotwarden local preempt {JOB}")
        await self._command("local", "preempt", JOB)

    async def _come_back(self, first: str) -> str:
        """Wait for another instance of the same name; gives its id."""

        async def another() -> list[dict[str, Any]]:
            return [
                one
                for one in await self._watch.instances()
                if one["name"] == JOB and one["id"] != first and one["status"] == "RUNNING"
            ]

        second = await until(another, bool, within=PATIENCE, waiting_for="the job to come back")
        marker, create = await self._marker_written(), await self._create_asked(second[0]["id"])
        milliseconds = (create - marker) / timedelta(milliseconds=1)
        self._say(f"the job is back as instance {second[0]['id']} (it was {first})")
        self._say(f"marker → create request: {milliseconds:.0f} ms")
        return str(second[0]["id"])

    async def _marker_written(self) -> datetime:
        """From the marker's generation, which is the microsecond it was written in."""
        record = json.loads(await self._watch.read(f"{JOB}/metadata/attempts/2.json") or b"{}")
        if JOB not in record.get("markers", {}):
            raise StoryError("the ledger names no marker for attempt 2")
        return datetime.fromtimestamp(record["markers"][JOB] / 1e6, UTC)

    async def _create_asked(self, instance_id: str) -> datetime:
        method = 'protoPayload.methodName="v1.compute.instances.insert"'
        entries = await self._watch.entries(f'{method} AND resource.labels.instance_id="{instance_id}"')
        if not entries:
            raise StoryError(f"the audit log tells nothing of the create request of {instance_id}")
        return moment_of(entries[0])

    async def _finish(self, second: str) -> None:
        """Wait for the status and for the VM's own delete, and look whether the training was resumed."""
        status = await until(
            lambda: self._watch.read(f"{JOB}/metadata/status-code"),
            lambda raw: raw is not None,
            within=PATIENCE,
            waiting_for="the job to write its status",
        )
        if status.strip() != b"0":
            raise StoryError(f"the training ended with status {status.decode().strip()}")
        resumed = _resumed_at(await self._watch.curve(JOB))
        self._say(f"attempt 2 went on at step {resumed} and finished with status 0")
        await until(
            self._watch.instances,
            lambda all_of_them: all(one["id"] != second for one in all_of_them),
            within=PATIENCE,
            waiting_for="the VM to delete itself",
        )
        self._say("the VM has deleted itself; nothing runs any more, nothing costs any more")

    async def _look_back(self) -> None:
        for words in (("jobs",), ("show", JOB)):
            self._say(f"$ spotwarden {' '.join(words)}")
            await self._command(*words)

    async def _only_instance(self) -> dict[str, Any]:
        instances = await self._watch.instances()
        if len(instances) != 1:
            raise StoryError(f"one instance was expected, {len(instances)} are there")
        return instances[0]

    async def _command(self, *words: str) -> None:
        """Run `spotwarden` as a developer would, and show what it prints."""
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("spotwarden")),
            *words,
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            output, _ = await asyncio.wait_for(process.communicate(), PATIENCE.total_seconds())
        except TimeoutError:
            process.kill()
            raise StoryError(f"spotwarden {' '.join(words)} did not end") from None
        for line in output.decode(errors="replace").splitlines():
            self._say(f"    {line}")
        if process.returncode:
            raise StoryError(f"spotwarden {' '.join(words)} ended with status {process.returncode}")


def _resumed_at(curve: list[dict[str, Any]]) -> int:
    """The first step of attempt 2; `StoryError` where the curve has a gap, a double or no second attempt."""
    if [one["step"] for one in curve] != list(range(1, STEPS + 1)):
        raise StoryError(f"the loss curve is not whole: {[one['step'] for one in curve]}")
    second = [one["step"] for one in curve if one["attempt"] == "2"]
    if not second or second[0] <= HALF_WAY:
        raise StoryError("the second attempt did not go on from the checkpoint")
    return int(second[0])
