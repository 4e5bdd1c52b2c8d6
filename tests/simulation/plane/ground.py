"""A project in which all functions run: time, processes, and the messages between them."""

from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import click
import msgspec

from spotwarden.engine.context import SweepContext
from spotwarden.governance.signals.steady import ClockError
from spotwarden.layout import MARKERS, Layout
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.notify.links.audience import audience
from spotwarden.notify.links.tokens import Keys
from spotwarden.notify.outbox import intake, sweep
from spotwarden.ports import BrokenError, Cloud, ConflictError, RejectedError, UnansweredError
from tests.fakes.channel import MemoryMailer
from tests.fakes.clock import VirtualClock
from tests.fakes.cloud import MemoryCloud
from tests.fakes.store import MemoryStore
from tests.fakes.topic import MemoryTopic
from tests.simulation import commands as c
from tests.simulation.ground import as_it_is
from tests.simulation.jobs import FAR, ZONES, stranger
from tests.simulation.plane.commands import Fault, Function, Port
from tests.simulation.plane.google import Paced, PlaneCompute, PlaneMetrics, troubled
from tests.simulation.plane.guests import Guests
from tests.simulation.plane.jobs import PlaneJob
from tests.simulation.plane.mailroom import Mailroom, OpenMailer
from tests.simulation.plane.oracle import Oracle
from tests.simulation.plane.product import ANSWERS, POLICY, SECRET, SETTINGS, sweep_of
from tests.simulation.process import Count, Process
from tests.simulation.product import cold_start

WAITING_AT_MOST = 3
EXPLAINED = (ConflictError, RejectedError, UnansweredError, click.ClickException, click.Abort)
"""What the trouble of the cloud explains, and what a command says to who typed it."""
EVERY = {
    Function.RECOVER: timedelta(minutes=4),
    Function.REAP: timedelta(minutes=8),
    Function.IDLE: timedelta(minutes=9),
    Function.CAP: timedelta(minutes=11),
    Function.COMPLY: timedelta(minutes=13),
    Function.NOTIFY: timedelta(minutes=4),
}
"""Less often than in a project, for histories to be short; never so far apart as an outage."""
SOON = timedelta(minutes=1)
FOREVER = timedelta(days=9)
ACCOUNTS = {
    name: f"spotwarden-{name.replace('_', '-')}@p.iam.gserviceaccount.com"
    for name in ("answer_notice", *(function.value for function in Function))
}
"""As whom functions act."""
TIMEOUTS = {"notify_developers": timedelta(minutes=2)}
"""After which Cloud Run ends a function: a renderer keeps a recipient to itself for as long."""


class SleepyProcess(Process):
    """A process that knows whether it stood still for longer than a clock may be off."""

    slept = False


class PlaneGround(ABC):
    """The world before its history; `wrap` stands between sweeps and ports, to break the protocol."""

    def __init__(self, *, wrap: Callable[[Cloud], Cloud] = as_it_is, verbose: bool = False) -> None:
        cold_start()
        clock = VirtualClock()
        self.metrics = PlaneMetrics(clock)
        self.compute = PlaneCompute(clock)
        self.compute.zones += (FAR,)
        self.compute.cards = self.metrics.cards
        self.cloud = MemoryCloud(
            clock=clock,
            store=MemoryStore(clock=clock),
            compute=self.compute,
            notices=MemoryTopic(clock),
            metrics=self.metrics,
            mailer=MemoryMailer(clock),
            wakeups=MemoryTopic(clock),
        ).without_trouble()
        self.settings = SETTINGS
        self.layout = Layout()
        self.jobs: list[PlaneJob] = []
        self.mine: dict[str, PlaneJob] = {}
        self.launched: dict[str, PlaneJob] = {}
        self.strangers: list[str] = []
        self.policy, self.broken_policy = POLICY, False
        self.troubles: dict[Port, tuple[datetime, Fault]] = {}
        self.late, self.twice = timedelta(0), False
        self.mailroom = Mailroom(self.cloud.mailer)
        self.guests = Guests(self.cloud, self.metrics, self.layout, self.mine)
        self.oracle = Oracle(self)
        self.count = Count()
        self.failures: list[str] = []
        self.log: list[str] = []
        self.verbose, self.wrap, self.paced = verbose, wrap, False
        self.sequence = 0
        self.processes: list[SleepyProcess] = []
        self._passing = False
        self._written: dict[str, datetime] = {}
        self._published = 0
        self._deliveries: list[tuple[datetime, bytes]] = []
        self._batches: list[tuple[datetime, bytes]] = []
        self._due = sorted(
            (self.now() + span, order, function) for order, (function, span) in enumerate(EVERY.items())
        )
        self._hurry = False
        self.compute.vms.watchers += [self._attribute, self.guests.changed, self.oracle.changed]
        self.renderer = OpenMailer(
            limits=POLICY.notify,
            answers=ANSWERS,
            keys=Keys.read(SECRET, audience(SETTINGS)),
            domain="example.org",
            written=self.mailroom.write,
        )
        for zone in ZONES[:2]:
            made = self.compute.launch(stranger(f"notebook-{zone[-1]}", zone), f"stranger-{zone}")
            self.strangers.append(made.target_id)

    def _attribute(self, vm: Any, before: Any) -> None:
        """A VM is its job's because of who asked for it, whatever it is called."""
        if before is None and (job := self.launched.get(vm.launch)) is not None:
            self.mine[vm.seen.id] = job

    @abstractmethod
    def close(self, job: PlaneJob, why: str) -> None:
        """From this moment on the job is over."""

    @abstractmethod
    def reopen(self, job: PlaneJob, *, ended: bool = False) -> None:
        """From now on the job is open again, by a person's word; one that has `ended` only by a command."""

    def set_policy(self, policy: Policy) -> None:
        """Ops have the functions go by this one from now on."""
        if policy.mode is not self.policy.mode:
            self.oracle.new_mode = self.now()
        self.policy, self.oracle.new_policy = policy, self.now()

    def note(self, what: str) -> None:
        """Keep a line for whoever reads this history."""
        if self.verbose:
            self.log.append(f"{self.now():%H:%M:%S} {what}")

    def now(self) -> datetime:
        """The moment, by the cloud's clock."""
        return self.cloud.clock.now()

    def pass_time(self, span: timedelta) -> None:
        """Let time pass, and everything happen at its moment."""
        if self._passing:
            return
        self._passing = True
        vms, until = self.compute.vms, self.now() + span
        while (due := vms.next_due()) and due <= until:
            self.cloud.clock.advance(max(due - self.now(), timedelta(0)))
            vms.catch_up()
        self.cloud.clock.advance(max(until - self.now(), timedelta(0)))
        self._passing = False

    def ports(self) -> Cloud:
        """The ports as they are at this moment."""
        ports = self.cloud.ports()
        if self.paced:
            ports = Cloud(
                store=Paced(ports.store, self.now, self.pass_time, self._written),
                compute=ports.compute,
                notices=ports.notices,
                metrics=ports.metrics,
                mailer=ports.mailer,
                wakeups=ports.wakeups,
            )
        return troubled(ports, self.troubles, self.now)

    def spawn(
        self,
        function: str,
        work: Callable[[SweepContext], object],
        *,
        skew: timedelta = timedelta(0),
        about: str = "",
        patient: bool = True,
        jobs: tuple[str, ...] = (),
    ) -> SleepyProcess:
        """A run of a function that has not begun."""
        self.count.sweeps += 1
        tick = Tick(
            function=function,
            sweep=f"{function}-{self.count.sweeps:04}",
            now=self.now() + skew,
            patient=patient,
            about=about,
            lost=bool(about) and function != Function.RECOVER.value,
            batch=bool(jobs),
            jobs=jobs,
        )
        process, policy = SleepyProcess(tick, self.sequence, self.oracle), self.policy
        settings = self.settings
        self.oracle.policies[tick.sweep], self.oracle.starts[tick.sweep] = policy, self.now()
        process.begin(
            lambda cloud: work(SweepContext.open(cloud, settings, policy, tick)), self.ports(), self.wrap
        )
        return process

    def sweep_process(self, function: Function, **how: Any) -> SleepyProcess:
        """A sweep of one of the functions."""
        if function is Function.NOTIFY:
            return self.spawn(
                function.value, lambda context: sweep.deliver(context, self.renderer, self.now), **how
            )
        return self.spawn(function.value, sweep_of(function.value), **how)

    def run_on(self, process: SleepyProcess, calls: int, then: c.Then, *, changes: bool = False) -> None:
        """Let a process make so many calls, and keep its books."""
        calls_before, lost_before = process.calls, process.lost
        process.slept |= self.now() - process.tick.now > SOON
        if self.now() - process.tick.now > TIMEOUTS.get(process.tick.function, FOREVER):
            process.kill()
        before, self.compute.caller = (
            self.compute.caller,
            ACCOUNTS.get(process.tick.function, self.compute.caller),
        )
        process.run(calls, then, changes=changes)
        self.compute.caller = before
        self.count.calls += process.calls - calls_before
        self.count.faults += process.lost - lost_before
        self.oracle.read_mail()
        if process.alive:
            return
        self.note(f"    {process.tick.sweep} ends: {process.failure or process.swept or 'killed'}")
        self.processes = [other for other in self.processes if other is not process]
        self.count.kills += process.swept is None and process.failure is None
        self.failures += unexplained(process)
        self.oracle.over(process)

    def admit(self, process: SleepyProcess) -> None:
        """Have one process more; where there are too many, the oldest is killed."""
        if len(self.processes) >= WAITING_AT_MOST:
            oldest = self.processes.pop(0)
            oldest.kill()
            self.oracle.over(oldest)
            self.count.kills += 1
        self.processes.append(process)

    def sweep_now(self, function: Function) -> SleepyProcess:
        """One sweep from its beginning to its end, and the messages that come of it."""
        self.sequence += 1
        if function is Function.RECOVER:
            self.oracle.ticks.append(self.now())
        process = self.sweep_process(function)
        self.run_on(process, 0, c.Then.GO_ON)
        if function is Function.RECOVER:
            others = self.deliver_batches()
            waits = any(getattr(run.swept, "waiting", ()) or run.failure for run in (process, *others))
            self._hurry = bool(waits or self.cloud.store.entries(f"{MARKERS}/"))
        self.deliver_messages()
        return process

    def deliver_messages(self) -> None:
        """Hand what was published to the function that tells people, as the topic sees fit."""
        for message in self.cloud.notices.messages[self._published :]:
            self._deliveries += [(self.now() + self.late, message.data)] * (2 if self.twice else 1)
            self.oracle.published(message.data)
        self._published = len(self.cloud.notices.messages)
        if self.broken_policy:
            return
        due = [item for item in self._deliveries if item[0] <= self.now()]
        self._deliveries = [item for item in self._deliveries if item[0] > self.now()]
        for at, data in due:
            said = {"data": b64encode(data).decode(), "attributes": {}, "messageId": "1"}
            process = self.spawn("notify_developers", partial(_take_in, said=said), patient=False)
            self.run_on(process, 0, c.Then.GO_ON)
            if process.failure or getattr(process.swept, "failures", None):
                self._deliveries.append((at + SOON, data))

    def deliver_batches(self) -> list[Any]:
        """Hand jobs that a sweep left to other instances to sweeps of their own, as the topic sees fit."""
        swept: list[Any] = []
        waiting = self.cloud.wakeups.messages if self.cloud.wakeups else []
        self._batches += [(self.now() + self.late, message.data) for message in waiting] * (1 + self.twice)
        waiting.clear()
        due = [data for at, data in self._batches if at <= self.now()]
        self._batches = [item for item in self._batches if item[0] > self.now()]
        for data in due if not self.broken_policy else ():
            self.sequence += 1
            jobs = tuple(msgspec.json.decode(data)["jobs"])
            process = self.spawn(Function.RECOVER.value, sweep_of(Function.RECOVER.value), jobs=jobs)
            self.run_on(process, 0, c.Then.GO_ON)
            swept.append(process)
        return swept

    @property
    def messages_wait(self) -> bool:
        """Whether a notice is still on its way to the function that tells people."""
        return bool(self._deliveries) or self._published < len(self.cloud.notices.messages)

    def ticks(self, span: timedelta) -> None:
        """Let time pass, with the Scheduler waking every function when it is due."""
        end = self.now() + span
        while True:
            moment, function = self._next_due()
            if moment > end:
                break
            self.pass_time(max(moment - self.now(), timedelta(0)))
            self._put_off(function)
            if not self.broken_policy:
                self.sweep_now(function)
            if self.oracle.broken or self.failures:
                return
        self.pass_time(max(end - self.now(), timedelta(0)))

    def _next_due(self) -> tuple[datetime, Function]:
        """Which function is due next, and when; of several the first in the order of their kinds."""
        moment, _, function = self._due[0]
        if self._hurry and (soon := self.now() + SOON) <= moment:
            recover = next(due for due, _, other in self._due if other is Function.RECOVER)
            return (soon, Function.RECOVER) if soon < recover else (moment, function)
        return moment, function

    def _put_off(self, function: Function) -> None:
        """It runs now, and again after its time."""
        due = self.now() + EVERY[function]
        self._due = sorted(
            (due, order, other) if other is function else (moment, order, other)
            for moment, order, other in self._due
        )

    def let_go(self) -> None:
        """Let everything that waits go on to its end."""
        for process in list(self.processes):
            self.run_on(process, 0, c.Then.GO_ON)

    def store(self, name: str, data: bytes) -> None:
        """Write an object as a developer or a VM does."""
        self.cloud.store.write(name, data, generation=None)


def _take_in(context: SweepContext, said: dict[str, Any]) -> object:
    return intake.take_in(context, said)


def unexplained(process: SleepyProcess) -> list[str]:
    """What a process raised that no trouble of the cloud explains."""
    raised = [*([process.failure] if process.failure else []), *getattr(process.swept, "failures", ())]
    return [
        f"{process.tick.sweep} raised {error!r}"
        for error in raised
        if not _explained(error) and not (process.slept and isinstance(error, ClockError))
    ]


def _explained(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_explained(inner) for inner in error.exceptions)
    return isinstance(error, EXPLAINED) and not isinstance(error, BrokenError)
