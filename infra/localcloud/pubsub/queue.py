"""The messages of one subscription: what waits, what is leased, what comes again, what is given up.

No I/O and no clock: what needs the time is told it, in seconds of any clock that never goes back.
"""

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Iterable

from localcloud.pubsub.chain import Chain, Held, State
from localcloud.pubsub.terms import AskedTerms, Counts, Terms
from localcloud.rpc import Raw

Bury = Callable[[Raw, int], bool]
"""Take a message that failed this many times away; False when that is not possible, and it is tried again."""

_Entry = tuple[float, int, Held]


class Queue:
    """At-least-once delivery of one subscription's messages."""

    def __init__(self, terms: Terms, bury: Bury) -> None:
        self.terms = terms
        self.counts = Counts()
        self._bury = bury
        self._ticket = itertools.count()
        self._live: dict[int, Held] = {}
        self._chains: dict[str, Chain] = {}
        self._leases: dict[str, Held] = {}
        self._done: deque[Held] = deque()
        self._later: list[_Entry] = []
        self._ready: list[_Entry] = []
        self._deadlines: list[_Entry] = []

    def add(self, message: Raw, now: float, *, delay: float = 0.0) -> None:
        """Put a message in line; it can be delivered once `delay` has passed."""
        number = next(self._ticket)
        held = Held(
            message=message, number=number, ready_at=now + delay, expires_at=now + self.terms.retention
        )
        self._live[number] = held
        if self.terms.ordered and message.ordering_key:
            held.chain = self._chains.setdefault(message.ordering_key, Chain())
            held.chain.items.append(held)
        self._line_up(held)

    def take(self, now: float, ask: AskedTerms) -> list[Held]:
        """Lease messages to the holder who asks, in order where the subscription keeps one."""
        self.advance(now)
        deadline = now + (ask.ack_deadline or self.terms.ack_deadline)
        room = ask.room
        taken: list[Held] = []
        aside: list[_Entry] = []
        while self._ready and len(taken) < ask.limit:
            entry = heapq.heappop(self._ready)
            held = entry[2]
            if not _current(entry):
                continue
            if held.chain is not None and _blocked(held.chain, ask):
                aside.append(entry)
                continue
            if room is not None:
                room -= held.message.ByteSize()
                if room < 0 and taken:
                    aside.append(entry)
                    break
            taken.append(self._lease(held, now, deadline, ask.holder))
        for entry in aside:
            heapq.heappush(self._ready, entry)
        return taken

    def ack(self, ack_id: str, now: float) -> bool:
        """Finish a message; False when the lease is over, and then it will be delivered again."""
        self.advance(now)
        held = self._leases.pop(ack_id, None)
        if held is None:
            return False
        self.counts.acknowledged += 1
        self._finish(held)
        self.advance(now)
        return True

    def extend(self, ack_id: str, seconds: float, now: float) -> bool:
        """Let a lease end `seconds` from now, at once when 0; False when it is over already."""
        self.advance(now)
        held = self._leases.get(ack_id)
        if held is None:
            return False
        if seconds <= 0:
            self._fail(held, now)
            self.advance(now)
        else:
            held.deadline = now + seconds
            heapq.heappush(self._deadlines, (held.deadline, next(self._ticket), held))
        return True

    def advance(self, now: float) -> None:
        """Do what time alone brings about: delays and leases that are over, messages too old to keep."""
        while self._deadlines and self._deadlines[0][0] <= now:
            deadline, _, held = heapq.heappop(self._deadlines)
            if held.state is State.LEASED and held.deadline == deadline:
                self._fail(held, now)
        while self._live and (oldest := next(iter(self._live.values()))).expires_at <= now:
            self._leases.pop(oldest.ack_id, None)
            self.counts.expired += oldest.state is not State.DONE
            self._finish(oldest)
            self._live.pop(oldest.number, None)
        while self._done and self._done[0].expires_at <= now:
            self._done.popleft()
        while self._later and self._later[0][0] <= now:
            heapq.heappush(self._ready, heapq.heappop(self._later))

    def wake_at(self) -> float | None:
        """When `advance` will next have something to do; None when only a call can change anything."""
        times = [heap[0][0] for heap in (self._later, self._deadlines) if heap]
        return min(times, default=None)

    def has_ready(self) -> bool:
        """Whether `take` might find something; what waits for others of its key counts too."""
        return bool(self._ready)

    def at_work(self, now: float, within: float = 0.0) -> int:
        """How many messages are leased or could be; new ones count that will be `within` so many seconds.

        Those that wait for longer do not count, nor those that come again.
        """
        self.advance(now)
        soon = [entry for entry in self._later if not entry[2].attempts and entry[0] <= now + within]
        return len(self._leases) + sum(map(_current, [*self._ready, *soon]))

    def backlog(self) -> int:
        """How many messages are not acknowledged, leased ones included."""
        return sum(held.state is not State.DONE for held in self._live.values())

    def outstanding(self) -> int:
        """How many messages are leased."""
        return len(self._leases)

    def out_to(self, holder: object) -> list[Held]:
        """The messages that are leased to this holder."""
        return [held for held in self._leases.values() if held.holder is holder]

    def oldest(self) -> Raw | None:
        """The oldest message that is not acknowledged."""
        waiting = (held.message for held in self._live.values() if held.state is not State.DONE)
        return next(waiting, None)

    def unacknowledged(self) -> list[Raw]:
        """The messages that are not acknowledged, leased ones included, in the order of publishing."""
        return [held.message for held in self._live.values() if held.state is not State.DONE]

    def restore(self, now: float, messages: Iterable[Raw]) -> None:
        """Deliver these messages again, and acknowledge every other."""
        self.advance(now)
        again = list(messages)
        ids = {message.message_id for message in again}
        gone = [held for held in self._live.values() if held.message.message_id not in ids]
        self._done = deque(held for held in self._done if held.message.message_id not in ids)
        self._clear()
        for message in again:
            self.add(message, now)
        if self.terms.keep_done:
            self._done.extend(gone)

    def _clear(self) -> None:
        for pile in (self._live, self._chains, self._leases, self._later, self._ready, self._deadlines):
            pile.clear()

    def seek(self, now: float, is_past: Callable[[Raw], bool]) -> None:
        """Acknowledge every message that is past; deliver again every other that is still kept."""
        self.advance(now)
        kept = [held for held in self._done if not is_past(held.message)]
        self._done = deque(held for held in self._done if is_past(held.message))
        again = [held for held in self._live.values() if not is_past(held.message)]
        past = [held for held in self._live.values() if is_past(held.message)]
        self._clear()
        for held in sorted([*kept, *again], key=lambda held: held.number):
            self.add(held.message, now)
        if self.terms.keep_done:
            self._done.extend(past)

    def _line_up(self, held: Held) -> None:
        if held.chain is None or held.chain.head() is held:
            heapq.heappush(self._later, (held.ready_at, next(self._ticket), held))

    def _lease(self, held: Held, now: float, deadline: float, holder: object) -> Held:
        held.state, held.holder = State.LEASED, holder
        held.attempts += 1
        held.deadline = deadline
        held.ack_id = f"{held.number}-{next(self._ticket)}"
        self._leases[held.ack_id] = held
        heapq.heappush(self._deadlines, (held.deadline, next(self._ticket), held))
        self.counts.delivered += 1
        if held.chain is not None:
            held.chain.lead += 1
            if following := held.chain.head():
                following.ready_at = max(following.ready_at, held.ready_at)
                heapq.heappush(
                    self._ready if following.ready_at <= now else self._later,
                    (following.ready_at, next(self._ticket), following),
                )
        return held

    def _fail(self, held: Held, now: float) -> None:
        self.counts.failed += 1
        self._leases.pop(held.ack_id, None)
        limit = self.terms.attempts
        if limit is not None and held.attempts >= limit and self._bury(held.message, held.attempts):
            self.counts.dead_lettered += 1
            self._finish(held)
            return
        wait = self.terms.backoff.after(held.attempts) if self.terms.backoff else 0.0
        for each in held.chain.rewind(held) if held.chain else [held]:
            self._leases.pop(each.ack_id, None)
            each.state, each.ready_at = State.WAITING, now + wait
        self._line_up(held)

    def _finish(self, held: Held) -> None:
        held.state = State.DONE
        if held.chain is None:
            self._forget(held)
            return
        for done in held.chain.drop_done():
            self._forget(done)
        if following := held.chain.head():
            self._line_up(following)
        elif not held.chain.items:
            self._chains.pop(held.message.ordering_key, None)

    def _forget(self, held: Held) -> None:
        self._live.pop(held.number, None)
        if self.terms.keep_done:
            self._done.append(held)


def _current(entry: _Entry) -> bool:
    """Whether an entry still says what is true; entries are left behind rather than searched for."""
    ready_at, _, held = entry
    in_line = held.chain is None or held.chain.head() is held
    return held.state is State.WAITING and held.ready_at == ready_at and in_line


def _blocked(chain: Chain, ask: AskedTerms) -> bool:
    """Whether the next of this key must wait for those before it."""
    out = chain.outstanding()
    if not out:
        return False
    return out[0].holder is not ask.holder or (ask.per_key is not None and len(out) >= ask.per_key)
