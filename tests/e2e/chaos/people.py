"""What people do to jobs while everything else goes wrong: by Compute Engine's API, and by our commands.

Each says who it is by its token, so that Compute Engine's own record tells afterwards who did what: the owner
and the colleague call the API by hand, and a command of ours is the developer who typed it.
"""

import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

from tests.e2e.chaos.cast import RUNNING, TERMINATED, ZONES, Job, Kind
from tests.e2e.chaos.cloud import BASE, SPOTWARDEN, Cloud

OWNER, COLLEAGUE = "owner@example.com", "colleague@example.com"
LAG, LOOKS = 3, 12
"""For so many seconds, and so often, the record is asked what a colleague has made."""
AT_ONCE = 4
"""Commands that run at the same time: each is a Python of its own."""


class Wish(Enum):
    """What a person wants of a job from then on."""

    BEGIN = "begin"
    END = "end"
    UNKNOWN = "unknown"


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """A command that was typed, from when to when it ran, and what it has come to."""

    job: str
    words: tuple[str, ...]
    began: datetime
    ended: datetime
    wish: Wish
    said: str = ""


class Typing(msgspec.Struct, kw_only=True):
    """A command that runs."""

    job: str
    words: tuple[str, ...]
    began: datetime
    wish: Wish
    process: Any


class Chosen(NamedTuple):
    """A job, and those of its VMs that run, or else all."""

    job: Job
    vms: list[dict[str, Any]]


class People:
    """Does one thing after another; `did` counts them, `said` keeps what commands came to."""

    def __init__(self, cloud: Cloud, dice: Random, jobs: Sequence[Job], home: Path) -> None:
        self.did: Counter[str] = Counter()
        self.said: list[Word] = []
        self.namesakes: set[str] = set()
        self._cloud = cloud
        self._dice = dice
        self._jobs = jobs
        self._home = home
        self._typing: list[Typing] = []
        self._stopped: dict[str, frozenset[str]] = {}
        self._environment = shell_environment(home)
        for job in jobs:
            (home / f"{job.name}.sh").write_bytes(job.script)

    @property
    def events(self) -> int:
        """How much they have done."""
        return sum(self.did.values())

    def act(self) -> None:
        """Let somebody do something to some job that nobody's command works on."""
        busy = {command.job for command in self._typing}
        idle = [job for job in self._jobs if job.name not in busy]
        if not idle:
            return
        job = self._dice.choice(idle)
        mine = self._mine(job)
        up = [vm for vm in mine if vm["status"] == RUNNING]
        choices: list[tuple[Callable[[Chosen], bool], int]] = [(self._make_namesake, 1)]
        if len(up) == len(job.nodes):
            choices += [(self._delete, 2), (self._delete_within_preemption, 2), (self._stop, 3)]
            choices += [(self._type_stop, 2), (self._type_restart, 1)]
            choices += [(self._delete_node, 3)] if job.kind is Kind.GANG else []
        elif up:
            choices += [(self._delete, 1), (self._type_stop, 1)]
        elif self._stopped.get(job.name, frozenset()) & {vm["id"] for vm in mine}:
            choices += [(self._start, 6), (self._type_restart, 1), (self._type_submits, 1)]
        else:
            choices += [(self._type_stop, 1), (self._type_restart, 4), (self._type_submits, 4)]
        doing, _ = zip(*choices, strict=True)
        [act] = self._dice.choices(doing, weights=[weight for _, weight in choices])
        act(Chosen(job, up or mine))

    def _mine(self, job: Job) -> list[dict[str, Any]]:
        """VMs with the names of the job's that no colleague has made."""
        found = self._cloud.instances()
        return [vm for vm in found if vm["name"] in job.nodes and vm["id"] not in self.namesakes]

    # --- by the API ---

    def _call(self, method: str, path: str) -> bool:
        """Whether it was taken; what it is about may have gone in the meantime."""
        return self._cloud.call_as(OWNER, method, f"{BASE}/{path}") is not None

    def _delete(self, chosen: Chosen) -> bool:
        done = [self._call("DELETE", f"zones/{vm['zone']}/instances/{vm['id']}") for vm in chosen.vms]
        self.did["deletes by the API"] += any(done)
        return any(done)

    def _delete_node(self, chosen: Chosen) -> bool:
        vm = self._dice.choice(chosen.vms)
        done = self._call("DELETE", f"zones/{vm['zone']}/instances/{vm['id']}")
        self.did["deletes of one node of a gang"] += done
        return done

    def _delete_within_preemption(self, chosen: Chosen) -> bool:
        taken = [self._cloud.try_post("/local/preempt", {"id": vm["id"]}) for vm in chosen.vms]
        self.did["preemptions"] += sum(taken)
        done = [self._call("DELETE", f"zones/{vm['zone']}/instances/{vm['id']}") for vm in chosen.vms]
        self.did["deletes within a preemption"] += any(done)
        return any(done)

    def _stop(self, chosen: Chosen) -> bool:
        done = [self._call("POST", f"zones/{vm['zone']}/instances/{vm['id']}/stop") for vm in chosen.vms]
        self._stopped[chosen.job.name] = frozenset(vm["id"] for vm in chosen.vms)
        self.did["stops by the API"] += any(done)
        return any(done)

    def _start(self, chosen: Chosen) -> bool:
        mine = [
            vm
            for vm in chosen.vms
            if vm["id"] in self._stopped[chosen.job.name] and vm["status"] == TERMINATED
        ]
        if len(mine) != len(chosen.job.nodes):
            return False
        done = [self._call("POST", f"zones/{vm['zone']}/instances/{vm['id']}/start") for vm in mine]
        self.did["starts by the API"] += any(done)
        return any(done)

    def _make_namesake(self, chosen: Chosen) -> bool:
        """A VM with the name of one of the job's, without labels, where none has it now."""
        name = self._dice.choice(chosen.job.nodes)
        taken = {vm["zone"] for vm in self._cloud.instances() if vm["name"] == name}
        free = [zone for zone in ZONES[1:] if zone not in taken]
        # One zone has to stay free, or there is no place left for the job.
        if not free or len(taken) > 1:
            return False
        zone = self._dice.choice(free)
        image = {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}
        body = {
            "name": name,
            "machineType": f"zones/{zone}/machineTypes/e2-small",
            "disks": [{"boot": True, "autoDelete": True, "initializeParams": image}],
            "networkInterfaces": [{"network": "global/networks/default"}],
        }
        self._cloud.call_as(COLLEAGUE, "POST", f"{BASE}/zones/{zone}/instances", body)
        made = self._learn_namesakes()
        self.did["namesakes of a colleague"] += made
        return made

    def _learn_namesakes(self) -> bool:
        """Whether there is a new one. An answer that was lost is no refusal, and the record lags a second."""
        before = self.namesakes
        for _ in range(LOOKS):
            theirs = {made["targetId"] for made in self._cloud.operations() if made["user"] == COLLEAGUE}
            self.namesakes = before | theirs
            if theirs - before:
                return True
            time.sleep(LAG / LOOKS)
        return False

    # --- by our commands ---

    def _type_stop(self, chosen: Chosen) -> bool:
        words = ["stop", chosen.job.name, "--yes", *(["--delete"] if self._dice.random() < 1 / 2 else [])]
        return self._type(chosen.job, words, Wish.END, "spotwarden stop")

    def _type_restart(self, chosen: Chosen) -> bool:
        self._stopped.pop(chosen.job.name, None)
        return self._type(chosen.job, ["restart", chosen.job.name], Wish.BEGIN, "spotwarden restart")

    def _type_submits(self, chosen: Chosen) -> bool:
        """Twice at once, as two people who do not know of each other."""
        # Who launches it anew does not start what was stopped before: that would be two lives.
        self._stopped.pop(chosen.job.name, None)
        words = ["submit", str(self._home / f"{chosen.job.name}.sh"), "--job", chosen.job.name, "--again"]
        took = self._type(chosen.job, words, Wish.BEGIN, "spotwarden submit, two at once")
        if took:
            self._type(chosen.job, words, Wish.BEGIN, "", force=True)
        return took

    def _type(self, job: Job, words: Sequence[str], wish: Wish, what: str, *, force: bool = False) -> bool:
        if len(self._typing) >= AT_ONCE and not force:
            return False
        process = subprocess.Popen(
            [str(SPOTWARDEN), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self._environment,
            start_new_session=True,
        )
        command = Typing(
            job=job.name, words=tuple(words), began=datetime.now(UTC), wish=wish, process=process
        )
        self._typing.append(command)
        if what:
            self.did[what] += 1
        return True

    def listen(self) -> bool:
        """Take note of the commands that have ended; False while some still run."""
        for command in list(self._typing):
            if command.process.poll() is None:
                continue
            said = command.process.communicate()[0]
            self._typing.remove(command)
            self.said.append(
                Word(
                    job=command.job,
                    words=command.words,
                    began=command.began,
                    ended=datetime.now(UTC),
                    wish=command.wish if command.process.returncode == 0 else Wish.UNKNOWN,
                    said=said[-500:],
                )
            )
        return not self._typing

    def end(self) -> None:
        """End the commands that still run; what they came to is not known."""
        for command in self._typing:
            command.process.kill()
            command.process.wait()
        self.listen()


def shell_environment(home: Path) -> dict[str, str]:
    """That of a shell in which `eval "$(spotwarden local env)"` was said."""
    base = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SPOTWARDEN")},
        "XDG_STATE_HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "SPOTWARDEN_OWNER": "ada@example.com",
    }
    command = f'eval "$({SPOTWARDEN} local env)" && env -0'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=base, check=True)
    return base | dict(line.split("=", 1) for line in done.stdout.split("\0") if "=" in line)
