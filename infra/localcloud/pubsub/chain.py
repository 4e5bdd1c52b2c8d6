"""Messages of one ordering key in one subscription, and the message as a subscription holds it."""

from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from localcloud.rpc import Raw


class State(Enum):
    """Where a message stands in a subscription."""

    WAITING = "waiting"
    LEASED = "leased"
    DONE = "done"


@dataclass(eq=False, slots=True, kw_only=True)
class Held:
    """One message in one subscription. Times count seconds of the queue's own clock."""

    message: Raw
    number: int
    ready_at: float
    expires_at: float
    attempts: int = 0
    state: State = State.WAITING
    ack_id: str = ""
    deadline: float = 0.0
    holder: object = None
    chain: "Chain | None" = None


@dataclass(eq=False, slots=True)
class Chain:
    """Messages of one key in the order of publishing. The first `lead` are leased or done, the rest wait.

    Pub/Sub's "Order messages": one that is delivered again brings every later one of its key with it, those
    already acknowledged included. So a done message stays until all before it are done.
    """

    items: deque[Held] = field(default_factory=deque)
    lead: int = 0

    def head(self) -> Held | None:
        """The next message to deliver."""
        return self.items[self.lead] if self.lead < len(self.items) else None

    def outstanding(self) -> list[Held]:
        """The messages that are delivered and not answered yet."""
        return [self.items[at] for at in range(self.lead) if self.items[at].state is State.LEASED]

    def rewind(self, held: Held) -> list[Held]:
        """Let `held` be the next to deliver; return it and what had been delivered after it."""
        at = self.items.index(held)
        again = [self.items[number] for number in range(at, self.lead)]
        self.lead = at
        return again

    def drop_done(self) -> list[Held]:
        """Let go of the messages at the front that are done, and return them."""
        dropped = []
        while self.items and self.items[0].state is State.DONE:
            dropped.append(self.items.popleft())
            self.lead = max(0, self.lead - 1)
        return dropped
