"""One history with people in it: jobs, trouble and people; peace; verdicts by Compute Engine's own record."""

import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import msgspec

from tests.e2e.chaos.cloud import Cloud, served
from tests.e2e.chaos.ending import EndedEarly
from tests.e2e.chaos.people import People, Wish
from tests.e2e.chaos.record import FUNCTION, Record, entries, verdicts
from tests.e2e.chaos.run import LOOK_SECONDS, POLICY, TICK_SECONDS, Director, Plan, row_of_peace
from tests.waiting import wait

EACH_SECONDS = 60.0
"""How often it is said how far the history is."""


class CrowdPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How much is to happen: `events` are what people do and what trouble does, `share` is people's part."""

    seed: int
    jobs: int
    events: int
    share: float = 0.4
    a_second: float = 2.0
    kill_every: float = 20.0


class CrowdReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it. `unsure` are commands that did not say that it is so.

    One that was `ended_early` was judged by what must be so at every moment, and there was no peace.
    """

    faults: tuple[str, ...]
    did: Counter[str]
    events: int
    begun: int
    unsure: int
    seconds: float
    peace_seconds: float | None
    ended_early: str = ""

    def lines(self) -> list[str]:
        """As rows of a table."""
        rows = [f"| {what} | {count} |" for what, count in sorted(self.did.items())]
        return [
            "| what | how often |",
            "|---|---|",
            *rows,
            f"| events in all | {self.events} |",
            f"| VMs created or started by the function | {self.begun} |",
            f"| commands that were refused, or did not say how it stands | {self.unsure} |",
            f"| trouble lasted | {self.seconds:.0f} s |",
            row_of_peace(self.peace_seconds, self.ended_early),
            f"| violations | {len(self.faults)} |",
        ]


class Crowd:
    """Drives one history: what `Director` does, and people."""

    def __init__(self, cloud: Cloud, plan: CrowdPlan, home: Path) -> None:
        self._cloud = cloud
        self._plan = plan
        self._dice = Random(plan.seed)
        quiet = Plan(seed=plan.seed, jobs=plan.jobs, preemptions=0, strangers=max(2, plan.jobs // 5))
        self.director = Director(cloud, quiet)
        self.people = People(cloud, self._dice, self.director.jobs, home)
        self._began = time.monotonic()
        self._next_word = self._began

    @property
    def did(self) -> Counter[str]:
        """What happened, by whomever."""
        return self.director.trouble.did + self.people.did

    @property
    def events(self) -> int:
        """How much of it there was; ticks are none."""
        return sum(count for what, count in self.did.items() if what != "ticks")

    @property
    def seconds(self) -> float:
        """How long there has been trouble."""
        return time.monotonic() - self._began

    def make_trouble(self) -> float:
        """Let things happen as often as planned; gives the seconds that took."""
        began = self._began = time.monotonic()
        due = began
        kill_due = began + self._dice.expovariate(1 / self._plan.kill_every)
        trouble = self.director.trouble
        trouble.begin()
        while self.events < self._plan.events:
            now = time.monotonic()
            assert now < began + 20 * self._plan.events, f"only {self.events} events could be made"
            trouble.lose_markers()
            self.people.listen()
            self.director.tick_when_due(now)
            if now >= due:
                due = now + self._dice.expovariate(self._plan.a_second)
                self._happen()
            if now >= kill_due:
                kill_due = now + self._dice.expovariate(1 / self._plan.kill_every)
                trouble.kill()
            self._say_how_far(now)
            time.sleep(LOOK_SECONDS)
        trouble.end()
        return self.seconds

    def _say_how_far(self, now: float) -> None:
        if now >= self._next_word:
            self._next_word = now + EACH_SECONDS
            sys.stderr.write(f"{self.events} events after {self.seconds:.0f} s\n")

    def _happen(self) -> None:
        if self._dice.random() < self._plan.share:
            self.people.act()
        elif self.director.trouble.preempt() and self._dice.random() < 1 / 3:
            self.director.trouble.other()

    def wait_for_peace(self) -> tuple[Record, list[str], float]:
        """Let time pass until all is well or patience is over; gives what is wrong then, and the seconds."""
        wait(120, self.people.listen, "a command does not end", every=LOOK_SECONDS)
        began = time.monotonic()
        while True:
            self.director.tick_when_due(time.monotonic())
            self.director.trouble.minutes.end()
            record, faults = self.judge()
            seconds = time.monotonic() - began
            if not faults or seconds > 120:
                return record, faults, seconds
            time.sleep(TICK_SECONDS)

    def judge(self, *, at_peace: bool = True) -> tuple[Record, list[str]]:
        """What has happened so far, and what of it is wrong."""
        record = Record(
            entries=entries(self._cloud.operations()),
            history=self._cloud.get("/local/history")["changes"],
            said=self.people.said,
        )
        return record, verdicts(record, self.director.jobs, self.director.strangers, at_peace=at_peace)


def play_crowd(plan: CrowdPlan, home: Path) -> CrowdReport:
    """Play one history on a local cloud of its own, whose logs stay in `home`."""
    policy = home / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    with served(home, policy) as cloud:
        crowd = Crowd(cloud, plan, home)
        peace, early = None, ""
        try:
            crowd.director.raise_curtain()
            seconds = crowd.make_trouble()
            record, faults, peace = crowd.wait_for_peace()
        except EndedEarly as ended:
            early, seconds = str(ended), crowd.seconds
            crowd.people.end()
            crowd.director.trouble.end()
            record, faults = crowd.judge(at_peace=False)
        finally:
            crowd.people.end()
    begun = [
        one for one in record.entries if one.kind in {"insert", "start"} and one.user.startswith(FUNCTION)
    ]
    (home / "record.json").write_bytes(msgspec.json.encode(record))
    return CrowdReport(
        faults=tuple(faults),
        did=crowd.did,
        events=crowd.events,
        begun=len(begun),
        unsure=sum(word.wish is Wish.UNKNOWN for word in crowd.people.said),
        seconds=seconds,
        peace_seconds=peace,
        ended_early=early,
    )
