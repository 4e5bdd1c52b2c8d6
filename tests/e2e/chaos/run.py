"""One history from beginning to end: a cast, trouble, peace, verdicts."""

import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from random import Random
from statistics import median

import msgspec

from tests.e2e.chaos.cast import RUNNING, Fate, Job, Kind, Stranger, cast, strangers
from tests.e2e.chaos.cloud import Cloud, served
from tests.e2e.chaos.dead import bury
from tests.e2e.chaos.ending import EndedEarly
from tests.e2e.chaos.judge import OVER, Witness, verdicts, witness
from tests.e2e.chaos.trouble import Trouble
from tests.waiting import wait

POLICY = """\
version = "chaos"
mode = "enforce"

[recovery]
max_restarts = 100000
settle = "5s"
log_delay = "3s"
first_backoff = "1s"
longest_backoff = "4s"
short_lives = 100000

[placement]
block = "2s"
fragile = "4s"
half_life = "10s"
"""
"""Limits for VMs that live for seconds; the default policy's are for days."""

TICK_SECONDS = 1.0
LOOK_SECONDS = 0.05


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much is to happen. `others` is the chance of other trouble beside each preemption.

    `kill_every` is the mean of the seconds between two kills of the function: now and then a sweep must end.

    A killed sweep keeps its leases for five minutes, and its turn for less. With `bury` both are freed when
    the function is killed, as a test has less time than that.
    """

    seed: int
    jobs: int
    preemptions: int
    strangers: int = 4
    ended: int = 1
    deleted: int = 1
    a_second: float = 4.0
    others: float = 0.3
    kill_every: float = 20.0
    kinds: tuple[Kind, ...] = tuple(Kind)
    bury: bool = True
    trouble_within: float = 600.0
    peace_within: float = 120.0


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it.

    One that was `ended_early` was judged by what must be so at every moment, and there was no peace.
    """

    faults: tuple[str, ...]
    did: Counter[str]
    trouble_seconds: float
    peace_seconds: float | None
    restarts: int
    recovered_after: tuple[float, ...]
    function_starts: int
    ended_early: str = ""

    def lines(self) -> list[str]:
        """As rows of a table."""
        rows = [f"| {what} | {count} |" for what, count in sorted(self.did.items())]
        rows += [
            f"| VMs created or started by the function | {self.restarts} |",
            f"| starts of the function's process | {self.function_starts} |",
            f"| trouble lasted | {self.trouble_seconds:.0f} s |",
            row_of_peace(self.peace_seconds, self.ended_early),
            f"| violations | {len(self.faults)} |",
        ]
        if self.recovered_after:
            times = sorted(self.recovered_after)
            rows.append(f"| VM gone → its job's next one asked for, median | {median(times):.1f} s |")
            rows.append(f"| the same, p99 | {times[int(len(times) * 0.99)]:.1f} s |")
        return ["| what | how often |", "|---|---|", *rows]


def row_of_peace(seconds: float | None, ended_early: str) -> str:
    """When all was well again; an early end leaves that open."""
    if seconds is None:
        return f"| {ended_early}: whether all would be well again was not judged | - |"
    return f"| then all was well after | {seconds:.0f} s |"


class Director:
    """Drives one history."""

    def __init__(self, cloud: Cloud, plan: Plan) -> None:
        dice = Random(plan.seed)
        self._cloud = cloud
        self._plan = plan
        self._dice = dice
        self._told: list[dict[str, str]] = []
        self._next_tick = 0.0
        self.jobs: list[Job] = cast(dice, plan.jobs, plan.kinds)
        self.strangers: list[Stranger] = strangers(dice, plan.strangers)
        self.trouble = Trouble(cloud, dice, self.jobs, self.strangers)

    def raise_curtain(self) -> None:
        """Launch everybody, and wait until all run and are registered."""
        self._cloud.subscribe()
        for stranger in self.strangers:
            stranger.launch(self._cloud)
        for job in self.jobs:
            job.launch(self._cloud)
        wanted = {node for job in self.jobs for node in job.nodes} | {one.name for one in self.strangers}

        def all_run() -> bool:
            return {vm["name"] for vm in self._cloud.instances() if vm["status"] == RUNNING} == wanted

        wait(self._plan.peace_within, all_run, "not all VMs have started", every=LOOK_SECONDS)
        found = self._cloud.instances()
        for job in self.jobs:
            job.register(self._cloud, [vm for vm in found if vm["name"] in job.nodes])
        self._cloud.tick()

    def make_trouble(self) -> float:
        """Preempt as often as planned, with other trouble in between; gives the seconds that took."""
        began = time.monotonic()
        due = began
        kill_due = began + self._between_kills()
        self.trouble.begin()
        closings = self._closings()
        while (done := self.trouble.did["preemptions"]) < self._plan.preemptions:
            now = time.monotonic()
            assert now < began + self._plan.trouble_within, f"only {done} preemptions could be made"
            self.trouble.lose_markers()
            self.tick_when_due(now)
            if now >= due:
                due = now + self._dice.expovariate(self._plan.a_second)
                if self.trouble.preempt() and self._dice.random() < self._plan.others:
                    self.trouble.other()
            if now >= kill_due:
                kill_due = now + self._between_kills()
                self.trouble.kill()
            if closings and done >= closings[0][0] and self.trouble.close_a_job(closings[0][1]):
                closings.pop(0)
            time.sleep(LOOK_SECONDS)
        self.trouble.end()
        return time.monotonic() - began

    def _between_kills(self) -> float:
        return self._dice.expovariate(1 / self._plan.kill_every)

    def _closings(self) -> list[tuple[int, Fate]]:
        """After how many preemptions a job is closed, and how."""
        fates = [Fate.ENDED] * self._plan.ended + [Fate.DELETED] * self._plan.deleted
        return sorted(
            ((self._dice.randrange(self._plan.preemptions), fate) for fate in fates), key=lambda one: one[0]
        )

    def tick_when_due(self, now: float) -> None:
        """Tick once a second, and free what a killed sweep held."""
        if now >= self._next_tick:
            self._next_tick = now + TICK_SECONDS
            if self._plan.bury and self.trouble.killed:
                bury(self._cloud, self.trouble.killed)
                self.trouble.killed = None
            self.trouble.minutes.come()

    def wait_for_peace(self) -> tuple[Witness, list[str], float]:
        """Let time pass until all is well or patience is over; gives what is wrong then, and the seconds."""
        began = time.monotonic()
        while True:
            self.tick_when_due(time.monotonic())
            self.trouble.minutes.end()
            seen, faults = self.judge()
            seconds = time.monotonic() - began
            if not faults or seconds > self._plan.peace_within:
                return seen, faults, seconds
            time.sleep(TICK_SECONDS)

    def judge(self, *, at_peace: bool = True) -> tuple[Witness, list[str]]:
        """What has happened so far, and what of it is wrong."""
        self._told += self._cloud.notices()
        seen = witness(self._cloud, self.jobs, self._told)
        return seen, verdicts(seen, self.jobs, self.strangers, at_peace=at_peace)


def play(plan: Plan, home: Path) -> Report:
    """Play one history on a local cloud of its own, whose logs stay in `home`."""
    policy = home / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    with served(home, policy) as cloud:
        director = Director(cloud, plan)
        began, peace, early = time.monotonic(), None, ""
        try:
            director.raise_curtain()
            lasted = director.make_trouble()
            seen, faults, peace = director.wait_for_peace()
        except EndedEarly as ended:
            early, lasted = str(ended), time.monotonic() - began
            director.trouble.end()
            seen, faults = director.judge(at_peace=False)
        starts = cloud.function()["starts"]
    return Report(
        faults=tuple(faults),
        did=director.trouble.did,
        trouble_seconds=lasted,
        peace_seconds=peace,
        restarts=_restarts(seen, director.jobs),
        recovered_after=tuple(_recovered_after(seen, director.jobs)),
        function_starts=starts,
        ended_early=early,
    )


def _restarts(seen: Witness, jobs: list[Job]) -> int:
    """How often a VM of a job was created or started, beyond its owner's launch."""
    nodes = {node for job in jobs for node in job.nodes}
    begun = [one for one in seen.history if one["name"] in nodes and one["status"] == "PROVISIONING"]
    return len(begun) - len(nodes)


def _recovered_after(seen: Witness, jobs: list[Job]) -> list[float]:
    """Seconds from the end of a VM to the next beginning under its name, for those that came back."""
    nodes = {node for job in jobs for node in job.nodes}
    over: dict[str, datetime] = {}
    found = []
    for change in seen.history:
        name, at = change["name"], datetime.fromisoformat(change["at"])
        if name in nodes and change["status"] in OVER:
            over.setdefault(name, at)
        elif name in over and change["status"] == "PROVISIONING":
            found.append((at - over.pop(name)).total_seconds())
    return found
