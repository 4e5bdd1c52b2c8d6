"""One recipient's messages in one sweep.

    free → sending → sent → written down notice by notice → free

`sending` is written before a message is handed over, `sent` as soon as the channel has taken it. Whoever
finds `sending` in a round that nobody holds cannot know whether the message went: it is sent once more, says
so, and has the same message id. That is the one way in which somebody gets a notice twice.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cached_property

from msgspec.structs import replace

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.layout import DeliveryRound, PreferenceRecord, UndeliveredRecord
from spotwarden.model.action import Change, SendMessage, Wait
from spotwarden.model.delivery import Batch, Channel, Delivered, Preference, Undelivered
from spotwarden.model.message import Message
from spotwarden.model.outcome import Done, Outcome
from spotwarden.notify.outbox.due import asks_pace, due
from spotwarden.notify.outbox.lease import HeldRound, LostError
from spotwarden.notify.outbox.model import DueQuestion, Waiting
from spotwarden.notify.outbox.recipients import stand_ins
from spotwarden.notify.outbox.renderer import Renderer
from spotwarden.notify.outbox.rounds import after, batch, once_more
from spotwarden.notify.outbox.shared import DeliveryContext
from spotwarden.notify.outbox.store import Box, as_it_stands, by_key, opened
from spotwarden.notify.outbox.tidying import unreadable
from spotwarden.ports import BrokenError, UnansweredError

typed.prepare(Preference)

Apply = Callable[[Change], Outcome]
IN_TIME = timedelta(minutes=1)
"""How long a message may lie before it is handed over: it names moments, which count from its arrival."""


class UnwritableError(Exception):
    """No message can be made of a notice; the message says why."""


class RecipientDelivery:
    """Writes to one recipient."""

    def __init__(self, shared: DeliveryContext, box: Box) -> None:
        self._shared = shared
        self._box = box
        self._round = HeldRound(
            shared.store, shared.layout, DeliveryRound(channel=box.channel, person=box.person)
        )
        self._apply: Apply = shared.context.executor.apply

    def serve(self) -> Wait | None:
        """Send what is due, unless another sweep does, or the channel needs time."""
        shared, at = self._shared, self._shared.now()
        if self._round.taken(at, at + 2 * shared.limits.lease):
            return Wait(reason=f"another sweep writes to {self._box.person}", soon=False)
        retry = self._round.now.retry
        if retry is not None and at < retry <= at + shared.limits.longest_backoff:
            return None
        found = opened(shared.store, self._box, shared.workers)
        for key, problem in found.broken.items():
            self._put_aside(key, problem)
        with shared.context.executor.together() as apply:
            self._apply = apply
            return self._write_to(found.waiting)

    def _write_to(self, waiting: Sequence[Waiting]) -> Wait | None:
        """What is left over from before first; then what is due, until something hinders."""
        if self._round.broken:
            self._shared.say(
                "ERROR", f"we couldn't read the message that was being sent: {self._round.broken}"
            )
        try:
            rest = self._clear_up(self._without_sent(waiting))
            for some in self._due(rest) if rest is not None else ():
                if self._shared.hurry():
                    break
                if not self._send_fresh(some):
                    break
            self._round.release()
        except LostError as lost:
            return Wait(reason=f"another sweep has taken over: {lost}", soon=False)
        return None

    def _without_sent(self, waiting: Sequence[Waiting]) -> Sequence[Waiting]:
        """What still waits, once a message that arrived is written down to the end."""
        if (sent := self._round.now.sent) is None:
            return waiting
        self._arrived(by_key(waiting, sent.notices), sent, "")
        return [notice for notice in waiting if notice.key not in sent.notices]

    def _clear_up(self, waiting: Sequence[Waiting]) -> Sequence[Waiting] | None:
        """See to a message that may or may not have arrived; what waits besides, None to stop here."""
        if (unknown := self._round.now.sending) is None:
            return waiting
        some = by_key(waiting, unknown.notices)
        others = [notice for notice in waiting if notice.key not in unknown.notices]
        over = replace(self._round.now, sending=None)
        if self._known(unknown):
            self._arrived(some, unknown, "")
            over = replace(over, last=unknown.sent_at)
        elif fresh := self._fresh(some):
            again = once_more(unknown, self._shared.now())
            if isinstance(again, Batch):
                return others if self._send(fresh, again, again=True) else None
            self._give_up(fresh, again)
        self._round.become(over)
        return others

    def _known(self, unknown: Batch) -> bool:
        """Whether the sweep that sent it has begun to write down that it arrived."""
        box, records = self._box, self._shared.records
        ids = (records.message(key, box.channel, box.person) for key in unknown.notices)
        return unknown.message_id in ids

    def _due(self, waiting: Sequence[Waiting]) -> Sequence[Sequence[Waiting]]:
        shared = self._shared
        said = self._preference if asks_pace(waiting) else None
        pace = said.pace if said else None
        last, now = self._round.now.last, shared.now()
        wanted = DueQuestion(last=last, pace=pace, limits=shared.limits, now=now)
        return due(waiting, wanted)

    @cached_property
    def _preference(self) -> Preference | None:
        """What the recipient has asked for; a hook has no wishes, and one that is broken is none."""
        if self._box.channel != Channel.EMAIL.value:
            return None
        name = self._shared.layout.build(PreferenceRecord(person=self._box.person))
        try:
            stored = self._shared.store.read(name)
            return decoded(name, stored.data, Preference) if stored else None
        except BrokenError as problem:
            self._shared.say("WARNING", str(problem))
            return None

    def _renderer(self) -> Renderer:
        """Who writes as the recipient has chosen; no message waits to know it."""
        try:
            said = self._preference
        except UnansweredError:
            said = None
        return replace(self._shared.renderer, own=said)

    def _send_fresh(self, some: Sequence[Waiting]) -> bool:
        """Send one message of what was not told before; whether one may go on."""
        fresh = self._fresh(some)
        while fresh:
            together = batch(fresh, self._shared.renderer.domain, self._shared.now())
            try:
                return self._send(fresh, together, again=bool(self._round.broken))
            except UnwritableError as problem:
                # What nobody can put into words holds up nothing else.
                bad = [pending for pending in fresh if not self._writable(pending, together)] or fresh
                self._give_up(bad, str(problem))
                fresh = [waiting for waiting in fresh if waiting not in bad]
        return True

    def _writable(self, pending: Waiting, batch: Batch) -> bool:
        try:
            return bool(self._written([pending], batch, self._shared.renderer, again=False))
        except UnwritableError:
            return False

    def _fresh(self, some: Sequence[Waiting]) -> list[Waiting]:
        """Those that have neither arrived nor failed already; the others wait no longer.

        A message that comes again while its message is written down leaves such a one behind.
        """
        shared = self._shared
        prefix = shared.layout.undelivered(self._box.channel, self._box.person)
        failed = {entry.name: entry.updated for entry in shared.store.entries(prefix)}

        def fresh(pending: Waiting) -> Waiting | None:
            at = failed.get(shared.records.failure_name(pending))
            arrived = shared.records.has_arrived(pending.key, pending.pending.recipient)
            if not arrived and (at is None or at < pending.pending.since):
                return pending
            shared.records.drop(pending)
            return None

        return shared.all(some, fresh)

    def _send(self, some: Sequence[Waiting], batch: Batch, *, again: bool) -> bool:
        """Send one message and write down what came of it; whether one may go on."""
        shared, limits = self._shared, self._shared.limits
        message = self._written(some, batch, self._renderer(), again=again)
        until = shared.now() + limits.lease
        holder = shared.context.tick.sweep
        self._round.become(replace(self._round.now, holder=holder, until=until, sending=batch, sent=None))
        ids = tuple(item.pending.notice.id for item in some)
        before = min(until, batch.sent_at + IN_TIME)
        sent = SendMessage(reason=_why(some, again=again), message=message, notices=ids, before=before)
        return self._follow(some, batch, self._apply(sent))

    def _written(self, some: Sequence[Waiting], batch: Batch, renderer: Renderer, *, again: bool) -> Message:
        """The message; `UnwritableError` where some word or moment of a notice stops its writer."""
        try:
            pendings = [self._shared.as_of(waiting.pending, batch.sent_at) for waiting in some]
            return renderer.render(pendings, batch.message_id, batch.sent_at, again)
        except (ValueError, TypeError, LookupError, ArithmeticError) as problem:
            raise UnwritableError(f"it can't be made into a message: {problem}") from problem

    def _follow(self, some: Sequence[Waiting], batch: Batch, outcome: Outcome) -> bool:
        shared = self._shared
        then = after(self._round.now, some, outcome, shared.limits, shared.now())
        if not isinstance(outcome, Done):
            self._give_up(then.given_up, then.reason)
            self._round.become(then.round)
            return then.goes_on
        hindered: Exception | None = None
        try:
            self._round.become(then.round)
        except (LostError, UnansweredError) as problem:
            hindered = problem
        # Whoever has the round by now, and whether it says so or not: this message has arrived.
        self._arrived(some, batch, outcome.detail)
        if hindered is not None:
            raise hindered
        return then.goes_on

    def _arrived(self, some: Sequence[Waiting], batch: Batch, answer: str) -> None:
        """Write down that each has arrived."""

        def write(pending: Waiting) -> None:
            record = Delivered(
                notice=pending.pending.notice.id,
                recipient=pending.pending.recipient,
                at=batch.sent_at,
                message_id=batch.message_id,
                answer=answer,
                copy=pending.pending.copy,
            )
            self._shared.records.arrived(pending, record)

        self._shared.all(some, write)

    def _give_up(self, some: Sequence[Waiting], reason: str) -> None:
        """Tell ops in his place, keep the notice, and only then let it wait no longer."""
        shared, now = self._shared, self._shared.now()
        if not some:
            return

        def give_up(pending: Waiting) -> None:
            for stand_in in stand_ins(pending.pending, reason, shared.context.policy, now):
                shared.records.put(stand_in)
            shared.records.failed(pending, Undelivered(pending=pending.pending, at=now, reason=reason))

        shared.all(some, give_up)
        what = some[0].pending.notice.what if len(some) == 1 else f"{len(some)} notices"
        shared.say("ERROR", f"not brought to {some[0].pending.recipient.address}: {what[:200]}: {reason}")

    def _put_aside(self, key: str, problem: BrokenError) -> None:
        """A record that nobody can read is kept where a person finds it."""
        shared = self._shared
        data = as_it_stands(shared.store, self._box, key)
        record = unreadable(data, str(problem), shared.now())
        record = replace(record, pending=replace(record.pending, recipient=self._box.recipient))
        object_name = UndeliveredRecord(channel=self._box.channel, person=self._box.person, notice=key)
        shared.records.put_aside(self._box.entries[key], object_name, record)
        shared.say("ERROR", record.reason)


def _why(some: Sequence[Waiting], *, again: bool) -> str:
    first = some[0].pending.notice.what[:200]
    more = f", and {len(some) - 1} more" if len(some) > 1 else ""
    return f"{first}{more}" + (" (sent again: we couldn't confirm delivery)" if again else "")
