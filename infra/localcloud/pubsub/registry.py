"""The topics and subscriptions of the project, and what passes from one to the other."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from localcloud.clock import Clock
from localcloud.google_types import pubsub as types
from localcloud.pubsub.fault_injection import FaultInjection
from localcloud.pubsub.names import DELETED_TOPIC, check_project, not_found, short
from localcloud.pubsub.subscription import Subscription
from localcloud.rpc import Raw, RpcError, plain

PubsubMessage = plain(types.PubsubMessage)


@dataclass(eq=False, kw_only=True)
class Topic:
    """One topic with the subscriptions that get its messages."""

    config: Raw
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    published: int = 0


class PubSubRegistry:
    """Everything that exists. `now` counts seconds for deadlines; `clock` stamps what people read."""

    def __init__(self, *, project: str, clock: Clock, now: Callable[[], float]) -> None:
        self.project = project
        self.clock = clock
        self.now = now
        self.fault_injection = FaultInjection()
        self.topics: dict[str, Topic] = {}
        self.subscriptions: dict[str, Subscription] = {}
        self.published: Callable[[str, Raw], None] = lambda _topic, _message: None
        """Told of each message that is published, with its topic."""
        # Ids must not come again after a restart: receivers keep them to know a double by.
        self._ids = itertools.count(int(clock.now().timestamp() * 1e6))

    def topic(self, name: str) -> Topic:
        """Find a topic by its full name.

        Raises:
            RpcError: NOT_FOUND.
        """
        check_project(name, self.project)
        found = self.topics.get(name)
        if found is None:
            raise not_found(name)
        return found

    def subscription(self, name: str) -> Subscription:
        """Find a subscription by its full name.

        Raises:
            RpcError: NOT_FOUND.
        """
        check_project(name, self.project)
        found = self.subscriptions.get(name)
        if found is None:
            raise not_found(name)
        return found

    def publish(self, name: str, messages: Iterable[Raw]) -> list[str]:
        """Give each message an id and a time, and put it in line at every subscription; return the ids.

        Raises:
            RpcError: NOT_FOUND without the topic.
        """
        topic = self.topic(name)
        return [self._publish(topic, message) for message in messages]

    def _publish(self, topic: Topic, message: Raw) -> str:
        stamped = PubsubMessage()
        stamped.CopyFrom(message)
        stamped.message_id = str(next(self._ids))
        stamped.publish_time.FromDatetime(self.clock.now())
        topic.published += 1
        self.published(topic.config.name, stamped)
        for subscription in list(topic.subscriptions.values()):
            endpoint = subscription.config.push_config.push_endpoint
            subscription.offer(stamped, self.fault_injection.delays(topic.config.name, endpoint))
        return str(stamped.message_id)

    def subscribe(self, config: Raw) -> Subscription:
        """Put a new subscription on its topic; it gets what is published from now on.

        Raises:
            RpcError: NOT_FOUND without the topic.
        """
        topic = self.topic(config.topic)
        subscription = Subscription(
            config, lambda message, attempts: self._bury(config.name, message, attempts), now=self.now
        )
        topic.subscriptions[config.name] = self.subscriptions[config.name] = subscription
        return subscription

    def drop_topic(self, name: str) -> None:
        """Remove a topic; its subscriptions stay with what they hold.

        Raises:
            RpcError: NOT_FOUND.
        """
        topic = self.topic(name)
        for subscription in topic.subscriptions.values():
            subscription.config.topic = DELETED_TOPIC
        del self.topics[name]

    def drop_subscription(self, name: str) -> None:
        """Remove a subscription and all that it holds.

        Raises:
            RpcError: NOT_FOUND.
        """
        subscription = self.subscription(name)
        del self.subscriptions[name]
        if topic := self.topics.get(subscription.config.topic):
            topic.subscriptions.pop(name, None)
        subscription.close()

    def close(self) -> None:
        """Stop every timer and wake all who wait."""
        for subscription in self.subscriptions.values():
            subscription.close()

    def _bury(self, name: str, message: Raw, attempts: int) -> bool:
        """Publish a message to the dead-letter topic of the subscription; False when that topic is gone."""
        subscription = self.subscriptions.get(name)
        if subscription is None:
            return False
        dead = PubsubMessage()
        dead.CopyFrom(message)
        dead.attributes.update(_obituary(name, message, attempts))
        with suppress(RpcError):
            self.publish(subscription.dead_letter_topic, [dead])
            return True
        return False


def _obituary(subscription: str, message: Raw, attempts: int) -> Mapping[str, str]:
    """The attributes that Pub/Sub adds to a dead letter ("Forward to dead-letter topics")."""
    published = message.publish_time.ToDatetime(tzinfo=UTC)
    return {
        "CloudPubSubDeadLetterSourceDeliveryCount": str(attempts),
        "CloudPubSubDeadLetterSourceSubscription": short(subscription),
        "CloudPubSubDeadLetterSourceSubscriptionProject": subscription.split("/")[1],
        "CloudPubSubDeadLetterSourceTopicPublishTime": _iso(published),
    }


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
