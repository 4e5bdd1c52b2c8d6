"""An outbox over a cloud in memory: notices are published, taken in, and brought to people."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.settings import Settings
from spotwarden.layout import (
    DeliveryRound,
    JobFileName,
    Layout,
    ObjectName,
    OutboxEntry,
    PreferenceRecord,
    notice_key,
    person_key,
)
from spotwarden.model.delivery import (
    Channel,
    Delivered,
    Pace,
    Pending,
    Preference,
    Recipient,
    Round,
    Undelivered,
)
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.message import HookPost, Mail, Message
from spotwarden.model.notice import Notice, Severity
from spotwarden.model.policy import Mode, Policy, Team
from spotwarden.model.threads import Threads
from spotwarden.model.tick import Tick
from spotwarden.notify.outbox.intake import take_in
from spotwarden.notify.outbox.renderer import Renderer
from spotwarden.notify.outbox.sweep import deliver
from spotwarden.ports import Cloud
from tests.fakes.cloud import MemoryCloud, memory_cloud

ADA, BOB, OPS = "ada@example.com", "bob@example.com", "ops@example.com"


def notice(name: str = "one", **said: Any) -> Notice:
    """An urgent notice to Ada."""
    fields = {
        "id": f"made-up/{name}",
        "kind": "gave_up",
        "severity": Severity.URGENT,
        "job": "train",
        "at": datetime(2026, 1, 5, 9, 0, tzinfo=UTC),
        "what": f"train needs a person: {name}",
        "why": "because",
        "owner": ADA,
        **said,
    }
    return Notice(**fields)


T = TypeVar("T")


class Heard(Renderer, frozen=True, kw_only=True):
    """A renderer that says what it writes."""

    written: Callable[..., Message]

    def render(self, *told: Any) -> Message:
        """One message, made by the world."""
        return self.written(self.own, *told)


class OutboxWorld:
    """A deployment that mails; `limits` are those of the policy's `[notify]`."""

    def __init__(self, *, teams: dict[str, Team] | None = None, ops: str = OPS, **limits: Any) -> None:
        # What is remembered of a bucket's generations is another bucket's here.
        GenerationCache.forget()
        self.cloud: MemoryCloud = memory_cloud()
        self.layout = Layout()
        self.settings = Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml"))
        self.policy = Policy(
            version="test",
            mode=Mode.ENFORCE,
            governance=GovernanceLimits(ops=ops),
            notify=replace(NotifyLimits(email=True), **limits),
            teams=teams or {},
        )
        self._sweeps = count(1)
        self.tells: dict[str, tuple[str, ...]] = {}
        self.doubtful: set[int] = set()
        # An object that is gone may share its id with a later one.
        self._kept: list[Message] = []

    @property
    def now(self) -> datetime:
        """The present moment of this world."""
        return self.cloud.clock.now()

    @property
    def limits(self) -> NotifyLimits:
        """How people are told."""
        return self.policy.notify

    def set_limits(self, **changes: Any) -> None:
        """Change them."""
        self.policy = replace(self.policy, notify=replace(self.limits, **changes))

    def wait(self, **span: float) -> None:
        """Let time pass."""
        self.cloud.clock.advance(timedelta(**span))

    def store(self, thing: ObjectName, data: bytes) -> None:
        """Write an object."""
        self.cloud.store.write(self.layout.build(thing), data, generation=None)

    def job_says(self, text: str, job: str = "train") -> None:
        """Store a job.toml."""
        self.store(JobFileName(job=job), text.encode())

    def prefers(self, address: str, pace: Pace, timezone: str = "", threads: Threads | None = None) -> None:
        """Have a person say how often they want to hear of what is not urgent, and in which form."""
        said = Preference(pace=pace, at=self.now, timezone=timezone, threads=threads)
        self.store(PreferenceRecord(person=person_key(address)), msgspec.json.encode(said))

    def context(self, cloud: Cloud | None = None, *, patient: bool = True) -> SweepContext:
        """What a sweep works with."""
        tick = Tick(
            function="notify_developers",
            sweep=f"sweep-{next(self._sweeps):08}",
            now=self.now,
            patient=patient,
        )
        return SweepContext.open(cloud or self.cloud.ports(), self.settings, self.policy, tick)

    def message(self, data: bytes, *, cloud: Cloud | None = None) -> Swept:
        """Have a message of the topic taken in; what fails rises."""
        said = {"data": b64encode(data).decode(), "attributes": {}, "messageId": "1"}
        return _whole(take_in(self.context(cloud, patient=False), said))

    def publish(self, *notices: Notice, cloud: Cloud | None = None) -> None:
        """Have notices taken in."""
        for one in notices:
            self.message(msgspec.json.encode(one), cloud=cloud)

    def tick(self, cloud: Cloud | None = None, *, now: Callable[[], datetime] | None = None) -> Swept:
        """One tick; what fails rises."""
        renderer = Heard(limits=self.limits, domain="example.com", written=self._message)
        return _whole(deliver(self.context(cloud), renderer, now or self.cloud.clock.now))

    def _message(
        self, own: Preference | None, pendings: Sequence[Pending], name: str, at: datetime, again: bool
    ) -> Message:
        renderer = Renderer(limits=self.limits, teams=self.policy.teams, own=own)
        message = renderer.render(pendings, name, at, again)
        self.tells[name] = tuple(one.notice.id for one in pendings)
        if again:
            self.doubtful.add(id(message))
            self._kept.append(message)
        return message

    def copies(self, one: Notice, to: str) -> list[bool]:
        """Each message that has told somebody this notice: whether it says that it may be a second copy."""
        return [
            id(message) in self.doubtful
            for message in self.mails(to)
            if one.id in self.tells[message.message_id]
        ]

    def told(self, *notices: Notice) -> None:
        """Have notices taken in and brought, once they have settled."""
        self.publish(*notices)
        self.wait(seconds=5)
        self.tick()

    def tick_for(self, *, every: timedelta = timedelta(minutes=1), **span: float) -> None:
        """Tick regularly while time passes, at its end as well."""
        end = self.now + timedelta(**span)
        while self.now < end:
            self.wait(seconds=min(every, end - self.now).total_seconds())
            self.tick()

    def messages(self) -> Sequence[Message]:
        """Everything that arrived, in order."""
        return self.cloud.mailer.arrived

    def mails(self, to: str = "") -> Sequence[Mail]:
        """The mails that arrived."""
        return self.cloud.mailer.mails(to)

    def posts(self, hook: str = "") -> Sequence[HookPost]:
        """The posts that arrived."""
        return self.cloud.mailer.posts(hook)

    def waiting(self) -> list[Pending]:
        """What waits."""
        return self._all(self.layout.outbox(), Pending)

    def undelivered(self) -> list[Undelivered]:
        """What could not be sent."""
        return self._all(self.layout.undelivered(), Undelivered)

    def delivered(self, one: Notice) -> list[Delivered]:
        """Where a notice arrived."""
        return self._all(self.layout.delivered(notice_key(one.id)), Delivered)

    def round(self, address: str = ADA, channel: Channel = Channel.EMAIL) -> Round:
        """What is remembered of a recipient."""
        name = self.layout.build(DeliveryRound(channel=channel.value, person=person_key(address)))
        stored = self.cloud.store.read(name)
        return msgspec.json.decode(stored.data, type=Round) if stored else Round()

    def _all(self, prefix: str, kind: type[T]) -> list[T]:
        read = [self.cloud.store.read(entry.name) for entry in self.cloud.store.entries(prefix)]
        return [msgspec.json.decode(one.data, type=kind) for one in read if one]


def entry(one: Notice, to: str = ADA) -> OutboxEntry:
    """What names a notice that waits for somebody."""
    return OutboxEntry(channel="email", person=person_key(to), notice=notice_key(one.id))


def mailed(address: str) -> Recipient:
    """Somebody by mail."""
    return Recipient(channel=Channel.EMAIL, address=address)


def _whole(swept: Swept) -> Swept:
    if swept.failures:
        raise ExceptionGroup("the sweep failed", swept.failures)
    return swept
