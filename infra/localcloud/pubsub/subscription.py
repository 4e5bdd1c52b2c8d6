"""One subscription at run time: its configuration, its queue, and the timer that keeps the queue's time."""

import asyncio
import time
from collections.abc import Callable, Iterable

from localcloud.pubsub.filter import attribute_filter
from localcloud.pubsub.queue import Bury, Queue
from localcloud.pubsub.terms import Backoff, Terms
from localcloud.rpc import Raw

# Pub/Sub's "Push backoff": without a retry policy a push endpoint that fails is asked again this soon.
PUSH_BACKOFF = Backoff(least=0.1, most=60.0)


class Subscription:
    """What one subscription holds. Whoever delivers takes from `queue`, answers, and calls `changed`."""

    def __init__(self, config: Raw, bury: Bury, *, now: Callable[[], float] = time.monotonic) -> None:
        self.config = config
        self.now = now
        self.queue = Queue(terms(config), bury)
        self._matches = attribute_filter(config.filter)
        self._rung = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def name(self) -> str:
        """The full name, `projects/P/subscriptions/S`."""
        return str(self.config.name)

    @property
    def dead_letter_topic(self) -> str:
        """The topic of its dead letters; empty without a policy."""
        return str(self.config.dead_letter_policy.dead_letter_topic)

    def configure(self, config: Raw) -> None:
        """Deliver by another configuration from now on; messages already leased keep their deadline."""
        self.config = config
        self.queue.terms = terms(config)
        self.changed()

    def offer(self, message: Raw, delays: list[float]) -> None:
        """Put a message in line, once per delay; what the filter does not want is acknowledged by that."""
        if not self._matches(message.attributes):
            return
        for delay in delays:
            self.queue.add(message, self.now(), delay=delay)
        self.changed()

    def restore(self, messages: Iterable[Raw]) -> None:
        """Deliver these messages again as far as the filter wants them, and acknowledge every other."""
        self.queue.restore(self.now(), filter(lambda message: self._matches(message.attributes), messages))
        self.changed()

    def changed(self) -> None:
        """Wake those who wait, if there is something for them, and set the timer for what time will bring."""
        self.queue.advance(self.now())
        if self.queue.has_ready():
            self.ring()
        self._disarm()
        wake_at = self.queue.wake_at()
        if wake_at is not None:
            wait = max(0.0, wake_at - self.now())
            self._timer = asyncio.get_running_loop().call_later(wait, self.changed)

    def ring(self) -> None:
        """Wake everyone who waits."""
        self._rung.set()
        self._rung = asyncio.Event()

    async def rung(self) -> None:
        """Wait until something may have changed since the last look at the queue."""
        await self._rung.wait()

    def close(self) -> None:
        """Stop the timer and wake everyone who waits, to see that the subscription is gone."""
        self._disarm()
        self.ring()

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def terms(config: Raw) -> Terms:
    """How a subscription with this configuration delivers."""
    policy = config.dead_letter_policy
    return Terms(
        ack_deadline=float(config.ack_deadline_seconds),
        retention=_seconds(config.message_retention_duration),
        backoff=_backoff(config),
        attempts=policy.max_delivery_attempts if policy.dead_letter_topic else None,
        ordered=config.enable_message_ordering,
        keep_done=config.retain_acked_messages,
    )


def _backoff(config: Raw) -> Backoff | None:
    if config.HasField("retry_policy"):
        policy = config.retry_policy
        return Backoff(least=_seconds(policy.minimum_backoff), most=_seconds(policy.maximum_backoff))
    return PUSH_BACKOFF if config.push_config.push_endpoint else None


def _seconds(duration: Raw) -> float:
    return float(duration.ToMicroseconds()) / 1e6
