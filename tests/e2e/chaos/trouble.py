"""What goes wrong: drawn from a seed, done to a local cloud that runs."""

from collections import Counter
from datetime import UTC, datetime
from random import Random
from typing import Any

from tests.e2e.chaos.cast import RUNNING, ZONES, Fate, Job, Stranger
from tests.e2e.chaos.cloud import TOPIC, Cloud
from tests.e2e.chaos.minutes import Minutes

LOOKS_FOR_A_MARKER = 40
"""How often a marker that is to be lost is looked for before nobody wrote one."""


class Trouble:
    """Does one thing after another; `did` counts them."""

    def __init__(self, cloud: Cloud, dice: Random, jobs: list[Job], strangers: list[Stranger]) -> None:
        self.did: Counter[str] = Counter()
        self.killed: datetime | None = None
        self._cloud = cloud
        self._dice = dice
        self._jobs = jobs
        self._strangers = strangers
        self._to_lose: dict[str, int] = {}
        self.minutes = Minutes(cloud)

    def begin(self) -> None:
        """Let events be doubled, lost and reordered, and calls go unanswered now and then, all the time."""
        seed = self._dice.randrange(10**9)
        events = {"topic": TOPIC, "double": 0.3, "drop": 0.2, "reorder": 0.3, "reorder_seconds": 2.0}
        self._cloud.post("/local/messages", {**events, "seed": seed})
        availability = {"probability": 0.03, "seed": seed}
        for more in (
            {"service": "compute", "method": "POST", "status": 503, "after_work": True},
            {"service": "compute", "method": "GET", "path": "aggregated", "status": 403},
            {"service": "storage", "path": "attempts", "cut": True, "after_work": True},
        ):
            self._cloud.post("/local/faults", {**availability, **more})

    def end(self) -> None:
        """Let everything be as it should from now on."""
        self._cloud.end("/local/faults")
        self._cloud.end("/local/messages")
        for stockout in self._cloud.get("/local/stockout")["stockouts"]:
            self._cloud.end("/local/stockout", {"zone": stockout["zone"], "machine": stockout["machine"]})
        for zone in ZONES:
            self._cloud.post("/local/unreachable", {"zone": zone, "for_seconds": 0})

    def preempt(self) -> bool:
        """Take away a VM of an open job that runs; False where none does."""
        found = self._running([node for job in self._jobs if job.fate is Fate.OPEN for node in job.nodes])
        if not found:
            return False
        vm = self._dice.choice(found)
        if not self._cloud.try_post("/local/preempt", {"id": vm["id"]}):
            return False
        self.did["preemptions"] += 1
        if self._dice.random() < 0.15:
            self._to_lose[vm["name"]] = LOOKS_FOR_A_MARKER
        return True

    def lose_markers(self) -> None:
        """Delete those markers that are to be lost, as soon as they are written."""
        for node in list(self._to_lose):
            if self._cloud.remove(f"preempted-jobs/{node}"):
                self.did["markers deleted"] += 1
                del self._to_lose[node]
            elif self._to_lose[node] == 1:
                del self._to_lose[node]
            else:
                self._to_lose[node] -= 1

    def other(self) -> None:
        """Do something else."""
        act = self._dice.choices(
            [self._stock_out, self._hide, self._fail_host, self._take_a_stranger, self._tick],
            weights=[3, 2, 2, 1, 4],
        )[0]
        act()

    def close_a_job(self, fate: Fate) -> bool:
        """Let a job that runs whole end, or its owner delete it; False where there is none."""
        whole = [(job, vms) for job in self._jobs if job.fate is Fate.OPEN and (vms := self._whole(job))]
        if not whole:
            return False
        job, vms = self._dice.choice(whole)
        if fate is Fate.ENDED:
            self._cloud.write(f"{job.name}/metadata/status-code", b"0\n")
        for vm in vms:
            self._cloud.delete_vm(vm["zone"], vm["id"])
        job.fate = fate
        job.last = frozenset(vm["id"] for vm in vms)
        self.did[f"jobs {fate.value}"] += 1
        return True

    def _whole(self, job: Job) -> list[dict[str, Any]]:
        found = self._running(list(job.nodes))
        return found if len(found) == len(job.nodes) else []

    def _running(self, names: list[str]) -> list[dict[str, Any]]:
        """The VMs of these names that run."""
        wanted = set(names)
        return [vm for vm in self._cloud.instances() if vm["name"] in wanted and vm["status"] == RUNNING]

    def kill(self) -> None:
        """Kill -9 the function, wherever it is just now."""
        if self._cloud.kill_function():
            self.did["functions killed"] += 1
            self.killed = datetime.now(UTC)

    def _stock_out(self) -> None:
        zone, seconds = self._dice.choice(ZONES), self._dice.uniform(1, 5)
        self._cloud.post("/local/stockout", {"zone": zone, "for_seconds": seconds})
        self.did["stockouts"] += 1

    def _hide(self) -> None:
        zone, seconds = self._dice.choice(ZONES), self._dice.uniform(0.5, 2)
        self._cloud.post("/local/unreachable", {"zone": zone, "for_seconds": seconds})
        self.did["partial lists"] += 1

    def _fail_host(self) -> None:
        found = self._running([node for job in self._jobs if job.fate is Fate.OPEN for node in job.nodes])
        if found and self._cloud.try_post("/local/host-error", {"id": self._dice.choice(found)["id"]}):
            self.did["host errors"] += 1

    def _take_a_stranger(self) -> None:
        found = self._running([one.name for one in self._strangers if one.spot])
        if found and self._cloud.try_post("/local/preempt", {"id": self._dice.choice(found)["id"]}):
            self.did["strangers preempted"] += 1

    def _tick(self) -> None:
        self.minutes.come()
        self.did["ticks"] += 1
