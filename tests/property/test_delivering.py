"""Promises of the outbox that hold in every history: whatever fails, dies, is doubled or comes late."""

import contextlib
from datetime import timedelta

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from spotwarden.model.delivery import Pace
from spotwarden.model.notice import Severity
from tests.fakes.trouble import rejected, unanswered
from tests.long import examples
from tests.notify.outbox.outbox_world import ADA, BOB, OPS, OutboxWorld, notice
from tests.notify.outbox.test_exactly_once import watched
from tests.recovery.test_exactly_once import KilledError, die

NOTICES = (
    notice("a"),
    notice("b", severity=Severity.WARNING),
    notice("c", severity=Severity.INFO),
    notice("d"),
    notice("e", owner=BOB),
    notice("f", owner="", severity=Severity.WARNING),
    notice("test", id="test/1/g"),
)
TO = (ADA, ADA, ADA, ADA, BOB, OPS, ADA)
WHICH = st.integers(0, len(NOTICES) - 1)
CALLS = st.integers(1, 60)
FAILURES = st.sampled_from(
    [rejected("refused"), rejected("unsent"), unanswered(after_work=True), unanswered(after_work=False)]
)
WAITS = st.sampled_from([0, 4, 5, 59, 60, 119, 120, 121, 300, 3600, 43_200, 86_400])


class OutboxMachine(RuleBasedStateMachine):
    """Anything that may happen to a post room, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.room = OutboxWorld(flood=2)
        self.published: set[int] = set()

    @rule(which=WHICH, times=st.integers(1, 3))
    def publish(self, which, times):
        """A message comes, perhaps more than once."""
        self.published.add(which)
        self._quietly(lambda: self.room.publish(*[NOTICES[which]] * times))

    @rule(seconds=WAITS)
    def wait(self, seconds):
        """Time passes."""
        self.room.wait(seconds=seconds)

    @rule()
    def tick(self):
        """A tick comes."""
        self._quietly(self.room.tick)

    @rule(calls=CALLS, after_work=st.booleans())
    def tick_and_die(self, calls, after_work):
        """A tick is killed before or after some call."""
        cloud, _ = watched(self.room, calls, die, after_work=after_work)
        self._quietly(lambda: self.room.tick(cloud))

    @rule(calls=CALLS, after_work=st.booleans(), pause=st.sampled_from([0, 60, 121]), which=WHICH)
    def tick_and_be_overtaken(self, calls, after_work, pause, which):
        """Another tick and a message come around some call of a tick, perhaps after its lease."""

        def other() -> None:
            self.room.wait(seconds=pause)
            self.publish(which, 1)
            self._quietly(self.room.tick)

        cloud, _ = watched(self.room, calls, other, after_work=after_work)
        self._quietly(lambda: self.room.tick(cloud))

    @rule(failure=FAILURES, to=st.sampled_from([ADA, BOB, OPS]), times=st.integers(1, 3))
    def fail(self, failure, to, times):
        """A recipient's next messages fail."""
        self.room.cloud.mailer.trouble.order("send", failure, about=to, times=times)

    @rule(call=st.sampled_from(["read", "write", "delete", "entries"]), done=st.booleans())
    def mute(self, call, done):
        """A call to the bucket gets no answer."""
        self.room.cloud.store.trouble.order(call, unanswered(after_work=done))

    @rule(pace=st.sampled_from(Pace))
    def prefer(self, pace):
        """A person says how often they want to hear."""
        with contextlib.suppress(Exception):
            self.room.prefers(ADA, pace)

    @invariant()
    def nobody_gets_a_notice_three_times_nor_twice_without_a_word(self):
        """At most one double, which says that it may be one."""
        for one in NOTICES:
            for to in (ADA, BOB, OPS):
                copies = self.room.copies(one, to)
                assert len(copies) <= 2, (one.id, to, copies)
                assert len(copies) < 2 or any(copies), (one.id, to, copies)

    @precondition(lambda self: self.published)
    @rule()
    def come_to_rest(self):
        """Once all goes well again, everybody has what was for them, or ops do and it is kept."""
        room = self.room
        room.cloud.mailer.trouble.calm()
        room.cloud.store.trouble.calm()
        room.publish(*(NOTICES[which] for which in sorted(self.published)))
        room.tick_for(hours=27, every=timedelta(minutes=61))
        assert room.waiting() == []
        kept = {(one.pending.notice.id, one.pending.recipient.address) for one in room.undelivered()}
        for which in self.published:
            one, to = NOTICES[which], TO[which]
            arrived = {record.recipient.address for record in room.delivered(one)}
            failed = {to for name, to in kept if name == one.id}
            assert to in arrived | failed, one.id
            assert to in arrived or OPS in arrived | failed, one.id
            assert len(room.copies(one, to)) >= (to in arrived), one.id
            assert not arrived & failed, one.id

    def _quietly(self, do) -> None:
        """What does not answer is a sweep's failure, and a killed one's nobody's."""
        with contextlib.suppress(ExceptionGroup, KilledError, *(type(unanswered(after_work=True).error),)):
            do()


TestOutboxMachine = OutboxMachine.TestCase
TestOutboxMachine.settings = settings(
    max_examples=examples(100), stateful_step_count=25, suppress_health_check=[HealthCheck.too_slow]
)
