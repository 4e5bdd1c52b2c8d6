"""The Subscriber service: subscriptions, and taking messages from them one call at a time."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, timedelta

from google.protobuf.empty_pb2 import Empty

from localcloud.google_types import pubsub as types
from localcloud.pubsub.chain import Held
from localcloud.pubsub.checks import check_ack_deadline, complete_subscription, updated
from localcloud.pubsub.names import already_exists, check_project, invalid, not_found
from localcloud.pubsub.registry import PubSubRegistry
from localcloud.pubsub.snapshots import Snapshots
from localcloud.pubsub.subscription import Subscription
from localcloud.pubsub.terms import AskedTerms
from localcloud.rpc import Method, Raw, RpcError, page, plain, table

SERVICE = "google.pubsub.v1.Subscriber"
_NAME = "projects/*/subscriptions/*"
_CALL = f"POST /v1/{{subscription={_NAME}}}"
ROWS = (
    ("CreateSubscription", types.Subscription, types.Subscription, f"PUT /v1/{{name={_NAME}}} *"),
    (
        "UpdateSubscription",
        types.UpdateSubscriptionRequest,
        types.Subscription,
        f"PATCH /v1/{{subscription.name={_NAME}}} *",
    ),
    (
        "GetSubscription",
        types.GetSubscriptionRequest,
        types.Subscription,
        f"GET /v1/{{subscription={_NAME}}}",
    ),
    (
        "ListSubscriptions",
        types.ListSubscriptionsRequest,
        types.ListSubscriptionsResponse,
        "GET /v1/{project=projects/*}/subscriptions",
    ),
    ("DeleteSubscription", types.DeleteSubscriptionRequest, Empty, f"DELETE /v1/{{subscription={_NAME}}}"),
    ("Pull", types.PullRequest, types.PullResponse, f"{_CALL}:pull *"),
    ("Acknowledge", types.AcknowledgeRequest, Empty, f"{_CALL}:acknowledge *"),
    ("ModifyAckDeadline", types.ModifyAckDeadlineRequest, Empty, f"{_CALL}:modifyAckDeadline *"),
    ("ModifyPushConfig", types.ModifyPushConfigRequest, Empty, f"{_CALL}:modifyPushConfig *"),
    ("Seek", types.SeekRequest, types.SeekResponse, f"{_CALL}:seek *"),
)

_ACK_ID = re.compile(r"\d+-\d+", re.ASCII)
_ReceivedMessage = plain(types.ReceivedMessage)


class Subscriber:
    """Answers the calls that `SubscriberClient` and `gcloud pubsub subscriptions` make.

    `changed` is told the name of every subscription that is new, differently configured or gone. A pull that
    finds nothing waits for `pull_wait`.
    """

    def __init__(
        self,
        registry: PubSubRegistry,
        changed: Callable[[str], None],
        *,
        snapshots: Snapshots,
        pull_wait: timedelta,
    ) -> None:
        self._registry = registry
        self._snapshots = snapshots
        self._changed = changed
        self._pull_wait = pull_wait

    def methods(self) -> Iterator[Method]:
        """The table of methods."""
        return table(SERVICE, self, ROWS)

    def create_subscription(self, request: Raw) -> Raw:
        """Make a subscription; it gets what is published from now on."""
        config = plain(types.Subscription)()
        config.CopyFrom(request)
        complete_subscription(config)
        check_project(config.name, self._registry.project)
        self._registry.topic(config.topic)
        self._check_dead_letters(config)
        if config.name in self._registry.subscriptions:
            raise already_exists(config.name)
        config.state = types.Subscription.State.ACTIVE
        self._registry.subscribe(config)
        self._changed(config.name)
        return config

    def get_subscription(self, request: Raw) -> Raw:
        """The configuration of a subscription."""
        return self._registry.subscription(request.subscription).config

    def update_subscription(self, request: Raw) -> Raw:
        """Change the fields that the mask names."""
        subscription = self._registry.subscription(request.subscription.name)
        config = updated(subscription.config, request.subscription, request.update_mask)
        self._configure(subscription, config)
        return config

    def modify_push_config(self, request: Raw) -> Raw:
        """Set the push endpoint, or turn to pull with an empty one."""
        subscription = self._registry.subscription(request.subscription)
        config = plain(types.Subscription)()
        config.CopyFrom(subscription.config)
        config.push_config.CopyFrom(request.push_config)
        self._configure(subscription, config)
        return Empty()

    def list_subscriptions(self, request: Raw) -> Raw:
        """One page of the project's subscriptions, by name."""
        check_project(request.project, self._registry.project)
        found = self._registry.subscriptions
        names, token = page(found, size=request.page_size, token=request.page_token)
        configs = [found[name].config for name in names]
        return plain(types.ListSubscriptionsResponse)(subscriptions=configs, next_page_token=token)

    def delete_subscription(self, request: Raw) -> Raw:
        """Remove a subscription and all that it holds."""
        self._registry.drop_subscription(request.subscription)
        self._changed(request.subscription)
        return Empty()

    async def pull(self, request: Raw) -> Raw:
        """Lease up to `max_messages`; wait a while for the first unless told to return immediately."""
        subscription = self._registry.subscription(request.subscription)
        check_pullable(subscription)
        if request.max_messages <= 0:
            raise invalid("max_messages")
        # Each call is a holder of its own: the next messages of a key go out when these are answered.
        ask = AskedTerms(limit=request.max_messages, holder=object())
        taken = take(subscription, ask)
        if not taken and not request.return_immediately:
            taken = await self._wait(subscription, ask)
        return plain(types.PullResponse)(received_messages=received(subscription, taken))

    async def _wait(self, subscription: Subscription, ask: AskedTerms) -> list[Held]:
        try:
            async with asyncio.timeout(self._pull_wait.total_seconds()):
                while self._registry.subscriptions.get(subscription.name) is subscription:
                    await subscription.rung()
                    if taken := take(subscription, ask):
                        return taken
        except TimeoutError:
            return []
        raise not_found(subscription.name)

    def acknowledge(self, request: Raw) -> Raw:
        """Finish messages; a lease that is over is passed over in silence, as Pub/Sub does."""
        subscription = self._registry.subscription(request.subscription)
        acknowledge(subscription, request.ack_ids)
        return Empty()

    def modify_ack_deadline(self, request: Raw) -> Raw:
        """Let leases end so many seconds from now; 0 gives the messages back."""
        subscription = self._registry.subscription(request.subscription)
        check_ack_deadline(request.ack_deadline_seconds, least=0)
        extend(subscription, ((ack_id, request.ack_deadline_seconds) for ack_id in _ids(request.ack_ids)))
        return Empty()

    def seek(self, request: Raw) -> Raw:
        """Acknowledge what was published before a time, deliver again what was not; or go by a snapshot."""
        subscription = self._registry.subscription(request.subscription)
        match request.WhichOneof("target"):
            case "time":
                moment = request.time.ToDatetime(tzinfo=UTC)
            case "snapshot":
                topic = subscription.config.topic
                subscription.restore(self._snapshots.messages_for(request.snapshot, topic))
                return plain(types.SeekResponse)()
            case _:
                text = "No target was specified in the SeekRequest. Must specify either a time or a snapshot"
                raise RpcError("INVALID_ARGUMENT", text)
        subscription.queue.seek(
            subscription.now(), lambda message: message.publish_time.ToDatetime(tzinfo=UTC) < moment
        )
        subscription.changed()
        return plain(types.SeekResponse)()

    def _configure(self, subscription: Subscription, config: Raw) -> None:
        complete_subscription(config)
        self._check_dead_letters(config)
        subscription.configure(config)
        self._changed(subscription.name)

    def _check_dead_letters(self, config: Raw) -> None:
        if topic := config.dead_letter_policy.dead_letter_topic:
            self._registry.topic(topic)


def check_pullable(subscription: Subscription) -> None:
    """Refuse to pull from a push subscription.

    Raises:
        RpcError: FAILED_PRECONDITION.
    """
    if subscription.config.push_config.push_endpoint:
        raise RpcError("FAILED_PRECONDITION", "This method is not supported for this subscription type.")


def take(subscription: Subscription, ask: AskedTerms) -> list[Held]:
    """Lease messages, and keep the subscription's time."""
    taken = subscription.queue.take(subscription.now(), ask)
    if taken:
        subscription.changed()
    return taken


def received(subscription: Subscription, taken: Iterable[Held]) -> list[Raw]:
    """Leased messages as a consumer gets them; the attempt is told only where dead letters go somewhere."""
    counted = bool(subscription.dead_letter_topic)
    return [
        _ReceivedMessage(
            ack_id=held.ack_id, message=held.message, delivery_attempt=held.attempts if counted else 0
        )
        for held in taken
    ]


def acknowledge(subscription: Subscription, ack_ids: Iterable[str]) -> None:
    """Finish messages.

    Raises:
        RpcError: INVALID_ARGUMENT for an id that no delivery can have had.
    """
    for ack_id in _ids(ack_ids):
        subscription.queue.ack(ack_id, subscription.now())
    subscription.changed()


def extend(subscription: Subscription, deadlines: Iterable[tuple[str, int]]) -> None:
    """Give leases new deadlines, in seconds from now."""
    for ack_id, seconds in deadlines:
        subscription.queue.extend(ack_id, seconds, subscription.now())
    subscription.changed()


def _ids(ack_ids: Iterable[str]) -> list[str]:
    found = list(ack_ids)
    if not found:
        raise invalid("ack_ids", "No ack ids specified.")
    for ack_id in found:
        if not _ACK_ID.fullmatch(ack_id):
            text = f"You have passed an invalid ack ID to the service (ack_id={ack_id})."
            raise RpcError("INVALID_ARGUMENT", text)
    return found
