"""A developer who types `spotwarden …` at a cloud in memory, and is interrupted at any call."""

from collections.abc import Callable
from copy import copy, deepcopy
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from spotwarden import clock
from spotwarden.cli.acting import asking, stopping
from spotwarden.cli.context import Context
from spotwarden.cli.launching import beside, reading, starting, submit
from spotwarden.cli.launching import run as running
from spotwarden.cli.launching.package import FolderFiles
from spotwarden.cli.main import main
from spotwarden.create_script import Defaults
from spotwarden.create_script.lint import LintReport, check
from spotwarden.create_script.request.stored import launch_of
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.settings import Settings
from spotwarden.layout import Layout, OpenJob
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.model.launch import Launch, NoLaunch, StoredScript
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud, Transfers
from tests.fakes.cloud import MemoryCloud, memory_cloud
from tests.fakes.files import MemoryFiles
from tests.fakes.world import SCRIPT, World
from tests.recovery.interrupting import Door, Interruption, KilledError

JOB = "test-vm"
RUN = ("run", "--job", JOB, "--machine", "e2-small", "--zone", "us-central1-a", "--no-code", "--no-follow")
RUN_WORDS = (*RUN, "--", "true")
STEP_SECONDS = 10
TICKS = (0, 1, 1, 2, 3, 4, 1, 1, 1)
"""Minutes between sweeps: beyond a lease, and beyond what a launch that was begun is waited for."""
ALIVE = {Status.RUNNING, Status.STAGING, Status.PROVISIONING}


Known = dict[object, tuple[dict[str, bytes], Any]]
_CHECKED: Known = {}
_LAUNCHES: Known = {}


def known_check(text: bytes, *, files: FolderFiles, defaults: Defaults) -> LintReport:
    """As `check`, once for each text and what it reads: hundreds of worlds are given the same few."""
    key = text, defaults.project, defaults.gcloud_version
    found: LintReport = _once(_CHECKED, key, files, lambda: check(text, files=files, defaults=defaults))
    return found


def known_launch(script: StoredScript, project: str, gcloud_version: int) -> Launch | NoLaunch:
    """As `launch_of`, likewise."""
    assert isinstance(script.files, FolderFiles)
    key = script.text, project, gcloud_version
    found: Launch | NoLaunch = _once(
        _LAUNCHES, key, script.files, lambda: launch_of(script, project, gcloud_version)
    )
    return found


def _once(known: Known, key: object, files: FolderFiles, read: Callable[[], object]) -> Any:
    used, found = known.get(key, ({}, None))
    if found is None or any(files.get(path) != data for path, data in used.items()):
        found = read()
        known[key] = dict(files.used), found
    return found


class AtShell(Context, frozen=True, kw_only=True):
    """A context whose files are in memory."""

    shelf: Any

    def files(self) -> Transfers:
        """As `Context.files`."""
        found: Transfers = self.shelf
        return found


class Stood(msgspec.Struct):
    """A cloud as it stood once, and the number of the next sweep; none yet."""

    cloud: MemoryCloud | None = None
    sweeps: int = 1


class Typed(World):
    """A project without any job yet, and a developer at a shell."""

    def __init__(
        self, patch: pytest.MonkeyPatch, folder: Path, recover: ModuleType, reap: ModuleType
    ) -> None:
        GenerationCache.forget()
        self.cloud: MemoryCloud = memory_cloud()
        self.layout = Layout()
        self.policy = Policy(version="test", mode=Mode.ENFORCE)
        self.settings = Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml"))
        self.job = JOB
        self._recover = recover
        self._reap = reap
        self._sweeps = count(1)
        self.script = folder / "create-instance.sh"
        self.script.write_bytes(SCRIPT)
        self._folder = folder
        self._patch = patch
        self.interruption: Interruption | None = None
        patch.chdir(folder)
        patch.setenv("SPOTWARDEN_OWNER", "ada@example.com")
        patch.setenv("SPOTWARDEN_BUCKET", "b")
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.setattr(clock, "now", self.cloud.clock.now)
        for module in (running, submit, asking):
            patch.setattr(module, "open_context", self._open)
        patch.setattr(reading, "check", known_check)
        patch.setattr(reading, "launch_of", known_launch)
        self._sleeping(beside, starting, stopping)

    def stand(self, before: Callable[[], object], stood: "Stood") -> None:
        """Let things stand as `before` leaves them: it is done in the first of many worlds, and copied."""
        if stood.cloud is None:
            before()
            # What is still to happen belongs to the cloud that it was begun in.
            self.cloud.compute.instances()
            if self.cloud.compute.vms.next_due() is None:
                stood.cloud, stood.sweeps = deepcopy(self.cloud), next(copy(self._sweeps))
            return
        self.cloud, self._sweeps = deepcopy(stood.cloud), count(stood.sweeps)
        self._patch.setattr(clock, "now", self.cloud.clock.now)

    def _sleeping(self, *modules: ModuleType) -> None:
        """Time passes while a command waits, in long steps: each look is as good as any for a test."""
        slept = [0.0]

        class Time:
            """Stands in for the module `time`."""

            @staticmethod
            def sleep(seconds: float) -> None:
                slept[0] += max(seconds, STEP_SECONDS)
                self.wait(seconds=max(seconds, STEP_SECONDS))

            @staticmethod
            def monotonic() -> float:
                return slept[0]

        for module in modules:
            self._patch.setattr(module, "time", Time)
        end_job = stopping.end_job
        self._patch.setattr(
            stopping,
            "end_job",
            lambda workstation, offer_facts, ending: end_job(workstation, offer_facts, ending, Time.sleep),
        )

    def _open(self) -> AtShell:
        ports = self.cloud.ports()
        files: MemoryFiles | Door = MemoryFiles(self.cloud.store)
        if (interruption := self.interruption) is not None:
            ports = Cloud(
                store=Door(ports.store, interruption),
                compute=Door(ports.compute, interruption),
                notices=Door(ports.notices, interruption),
                metrics=ports.metrics,
                mailer=ports.mailer,
            )
            files = Door(MemoryFiles(self.cloud.store), interruption)
        policy = Policy(version="command", mode=Mode.ENFORCE)
        return AtShell(settings=self.settings, policy=policy, cloud=ports, shelf=files)

    def type(self, *words: str, interruption: Interruption | None = None) -> Result | None:
        """Type `spotwarden …`; None where the process was killed."""
        self.interruption = interruption
        try:
            return CliRunner().invoke(main, list(words))
        except KilledError:
            return None
        finally:
            self.interruption = None

    def launched(self) -> None:
        """The developer has submitted the job, and it runs."""
        done = self.type("submit", str(self.script))
        assert done is not None
        assert done.exit_code == 0, done.output
        self.settle(3)

    def left(self) -> None:
        """The job has ended and its VM has deleted itself, before any sweep has seen that."""
        self.launched()
        self.ended("1")
        self.cloud.compute.delete("us-central1-a", self.vms()[0], "00000000-0000-4000-8000-000000000001")
        self.wait(minutes=1)

    def reaped(self) -> Swept:
        """One sweep of reap_vms."""
        tick = Tick(
            function="reap_vms",
            sweep=f"sweep-{next(self._sweeps):08}",
            now=self.cloud.clock.now(),
            patient=True,
        )
        swept: Swept = self._reap.sweep(
            SweepContext.open(self.cloud.ports(), self.settings, self.policy, tick)
        )
        return swept

    def alive(self) -> list[str]:
        """The ids of the VMs that run, or will."""
        return [one.id for one in self.instances() if one.status in ALIVE]

    def swept(self) -> None:
        """Sweeps of recovery for a quarter of an hour, and some of the reaper: never two VMs of the job."""
        for minutes in TICKS:
            self.wait(minutes=minutes)
            done = [self.sweep(), *([self.reaped()] if minutes > 1 else [])]
            assert [failure for swept in done for failure in swept.failures] == []
            assert len(self.alive()) <= 1

    def runs(self) -> bool:
        """Whether the newest attempt runs, on the one VM that there is."""
        newest = self.attempts()[-1] if self.attempts() else None
        return (
            newest is not None
            and newest.state is AttemptState.RUNNING
            and self.alive() == list(newest.instances.values())
        )

    def is_at_rest(self) -> bool:
        """Whether nothing is promised: no attempt under way, no VM, not on the list of open jobs."""
        under_way = {
            AttemptState.CLAIMED,
            AttemptState.PLACING,
            AttemptState.BACKING_OFF,
            AttemptState.RUNNING,
        }
        opened = self.cloud.store.read(self.layout.build(OpenJob(job=JOB)))
        return (
            not self.alive()
            and opened is None
            and not any(one.state in under_way for one in self.attempts()[-1:])
        )

    def entry(self) -> dict[str, Any] | None:
        """The job's entry in the list of open jobs."""
        found = self.cloud.store.read(self.layout.build(OpenJob(job=JOB)))
        return None if found is None else msgspec.json.decode(found.data)
