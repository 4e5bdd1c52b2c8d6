"""What happens: seven jobs and a stranger, two and a half hours, and four functions that look after them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from localcloud.cloud import LocalCloud
from localcloud.functions import Deployment
from localcloud.story.governance import idle, over
from localcloud.story.governance.journey import GovernanceJourney
from localcloud.story.governance.ward import Ward
from localcloud.story.stage import EXAMPLE, TIMEOUT, Stage, Tell, zone_of
from localcloud.story.watch import StoryError, until

FOLDER = EXAMPLE / "governed"
POLICY = Path(__file__).with_name("policy.toml")
FUNCTIONS = ("reap_vms", "flag_idle_gpus", "cap_runtime", "check_compliance")
ADA, ALAN, GRACE = "ada@example.com", "alan@example.com", "grace@example.com"
NOBODY = "ops"


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """A VM of the story: whose, what it does in words, and its chapter."""

    name: str
    does: str
    live: Callable[[Ward, GovernanceJourney], Coroutine[Any, Any, None]]
    owner: str = ADA


CAST: tuple[Role, ...] = (
    Role(name="nap", does="holds a GPU and does nothing with it", live=idle.nap),
    Role(
        name="late",
        does="waits for its data with its GPU idle, and begins to train an hour late",
        live=idle.late,
    ),
    Role(name="kept", does="is idle, too; its owner wants to keep it", live=idle.kept, owner=ALAN),
    Role(name="dark", does="has no Ops Agent, so its GPU reports nothing", live=idle.dark),
    Role(name="stay", does="has ended, and has failed to delete itself", live=over.stay),
    Role(name="long", does="runs longer than its team's limit, 2 h 5 min", live=over.long, owner=GRACE),
    # The last: it takes a whole core from the moment it runs.
    Role(name="hang", does="hangs in a busy loop, its GPU at work", live=over.hang),
)
STRANGER = Role(
    name="late",
    does="runs in another zone under the name of a job, and belongs to no job",
    live=idle.stranger,
    owner=NOBODY,
)
STRANGERS_ZONE = "us-east1-b"
STOPPED = ("hang", "long", "nap")
DESTROYED = (*STOPPED, "stay")
AT_A_TIME = 2
"""Commands that are started at once: each takes a second of a core."""
REMEDIES = ("StopInstance", "DeleteInstance", "RemoveLeftover")


class GovernancePlot:
    """One telling; `tell` gets each line with the chapter it belongs to."""

    def __init__(self, cloud: LocalCloud, deployment: Deployment, tell: Tell) -> None:
        self._stage = Stage.of(cloud, deployment, tell)
        self._journey = GovernanceJourney(self._stage, FUNCTIONS)

    async def tell(self) -> None:
        """Live through the story; `StoryError` where it does not come true."""
        try:
            self._introduce()
            wards = await self._cast()
            await self._journey.begin()
            await self._chapters(wards)
            await self._look_back()
        finally:
            await self._stage.watch.close()

    def _introduce(self) -> None:
        say = self._stage.say
        say(
            "the policy: infra/policy.toml, enforced, with three changes (infra/localcloud/story/governance):"
        )
        say("    idle VMs are stopped, not only reported; the jobs of grace@example.com have a limit;")
        say("    mails go out as soon as they are written")
        say("VMs are processes on this machine; `spotwarden local travel` skips the hours in between")
        for role in CAST:
            say(f"  {role.name}: {role.does}")
        say(f"  another {STRANGER.name}: {STRANGER.does}")

    async def _cast(self) -> list[tuple[Role, Ward]]:
        """Start everything, and wait until each VM does what it is there for."""
        await self._stage.watch.turn("agent", {"node": "dark", "runs": False})
        self._stage.say("$ spotwarden local agent dark --off")
        *calm, busy = CAST
        two = asyncio.Semaphore(AT_A_TIME)
        await asyncio.gather(self._let_in_a_stranger(), *(self._submit(role, two) for role in calm))
        await self._submit(busy, two)
        seen = {
            (instance["name"], zone_of(instance)): instance
            for instance in await self._stage.watch.instances()
        }
        theirs = {name: given for (name, zone), given in seen.items() if zone != STRANGERS_ZONE}
        wards = [(role, self._ward(role, theirs[role.name])) for role in CAST]
        stranger = self._ward(STRANGER, seen[STRANGER.name, STRANGERS_ZONE], chapter="other")
        await asyncio.gather(*(_ready(ward) for _, ward in wards), stranger.idle())
        return [*wards, (STRANGER, stranger)]

    def _ward(self, role: Role, instance: Mapping[str, Any], chapter: str = "") -> Ward:
        return Ward(self._stage.chapter(chapter or role.name), role.name, instance, role.owner)

    async def _submit(self, role: Role, free: asyncio.Semaphore) -> None:
        script = FOLDER / f"create-{role.name}.sh"
        async with free:
            output = await self._stage.run("submit", str(script), "--owner", role.owner)
        self._stage.chapter(role.name).show(("submit", script.name, "--owner", role.owner), output)

    async def _let_in_a_stranger(self) -> None:
        """A VM that somebody made by hand, with no label and no record."""
        zone = f"zones/{STRANGERS_ZONE}"
        body = {
            "name": STRANGER.name,
            "machineType": f"{zone}/machineTypes/g2-standard-4",
            "scheduling": {"onHostMaintenance": "TERMINATE"},
            "disks": [
                {
                    "boot": True,
                    "autoDelete": True,
                    "initializeParams": {
                        "sourceImage": "projects/debian-cloud/global/images/family/debian-12"
                    },
                }
            ],
            "networkInterfaces": [{"network": "global/networks/default"}],
        }
        await self._stage.watch.compute(f"{zone}/instances", body)

    async def _chapters(self, wards: list[tuple[Role, Ward]]) -> None:
        """All at once; the clock goes on when all of them wait for it."""
        try:
            async with asyncio.TaskGroup() as telling:
                for role, ward in wards:
                    telling.create_task(self._journey.chapter(role.live(ward, self._journey)))
                telling.create_task(self._journey.lead())
        except ExceptionGroup as errors:
            untrue, others = errors.split(StoryError)
            if others or untrue is None:
                raise
            raise StoryError("; ".join(str(error) for error in untrue.exceptions)) from errors

    async def _look_back(self) -> None:
        """What is left, what was destroyed and why, and what became of the jobs."""
        stage = self._stage
        await self._close()
        outputs = await asyncio.gather(stage.run("cases", "list"), stage.run("jobs"))
        for words, output in zip((("cases", "list"), ("jobs",)), outputs, strict=True):
            stage.show(words, output)
        stage.say("what was destroyed, by the audit in the bucket:")
        names = [line async for line in self._destroyed()]
        if sorted(names) != sorted(DESTROYED):
            raise StoryError(f"{', '.join(sorted(names))} were destroyed, not {', '.join(DESTROYED)}")
        stage.say("everything else still runs, as expected")

    async def _close(self) -> None:
        """Let recover_spot look once more: what was stopped was not preempted, and is not started again."""
        await self._journey.sweep("recover_spot")
        for job in STOPPED:
            await until(
                partial(self._stage.watch.read, f"{job}/metadata/attempts/2.json"),
                lambda raw: raw is not None and json.loads(raw)["state"] == "stopped",
                within=TIMEOUT,
                waiting_for=f"the ledger to say that {job} was stopped",
            )
        names = ", ".join(STOPPED)
        self._stage.say(f"recover_spot sees that {names} were stopped, not preempted: it closes the jobs")

    async def _destroyed(self) -> AsyncIterator[str]:
        """The names of the VMs that governance has stopped or deleted, each told with its reason."""
        watch = self._stage.watch
        for name in await watch.names("spotwarden/audit/"):
            written = json.loads(await watch.read(name) or b"[]")
            for record in written if isinstance(written, list) else [written]:
                if record["action"] in REMEDIES:
                    node = str(record["detail"]["node"])
                    self._stage.say(f"  {record['at'][11:16]} {record['action']} {node}: {record['why']}")
                    yield node


async def _ready(ward: Ward) -> None:
    """Return once a VM does what it is there for."""
    if ward.name in ("nap", "kept", "late"):
        await ward.idle()
    elif ward.name == "hang":
        await ward.busy()
    elif ward.name in SIGNS:
        await until(
            lambda: ward.stage.watch.read(SIGNS[ward.name]),
            lambda raw: raw is not None,
            within=TIMEOUT,
            waiting_for=f"{ward.name} to write {SIGNS[ward.name]}",
        )


SIGNS = {"dark": "dark/metadata/heartbeat/dark", "stay": "stay/metadata/status-code"}
