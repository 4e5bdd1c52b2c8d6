"""Push delivery: each message as an HTTP call to the subscription's endpoint."""

import asyncio
import base64
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from localcloud.outbound import CallIdentity, Outgoing, Post, UnreachableError
from localcloud.pubsub.chain import Held
from localcloud.pubsub.subscription import Subscription
from localcloud.pubsub.terms import AskedTerms
from localcloud.rpc import Raw

# "Receive messages with push": these acknowledge, every other one does not.
ACKNOWLEDGED = frozenset({102, 200, 201, 202, 204})

# Of a subscription of one's own; only Eventarc adds the headers of a CloudEvent.
_WRAPPED: Mapping[str, str] = {"content-type": "application/json", "user-agent": "CloudPubSub-Google"}


class Pusher:
    """Delivers one push subscription, at most `most` messages at a time and one per ordering key."""

    def __init__(self, subscription: Subscription, post: Post, *, most: int) -> None:
        self._subscription = subscription
        self._post = post
        self._most = most
        self._busy: set[asyncio.Task[None]] = set()
        self.last = ""
        """How the last delivery ended, for the overview; empty before the first."""

    def start(self) -> asyncio.Task[None]:
        """Deliver until the task is cancelled."""
        return asyncio.create_task(self._run(), name=f"push {self._subscription.name}")

    async def _run(self) -> None:
        try:
            while True:
                self._send_all()
                await self._subscription.rung()
        finally:
            for task in self._busy:
                task.cancel()

    def _send_all(self) -> None:
        subscription = self._subscription
        free = self._most - len(self._busy)
        ask = AskedTerms(limit=free, holder=self, per_key=1)
        for held in subscription.queue.take(subscription.now(), ask):
            task = asyncio.create_task(self._send(held, held.ack_id))
            self._busy.add(task)
            task.add_done_callback(self._free)
        subscription.changed()

    def _free(self, task: asyncio.Task[None]) -> None:
        self._busy.discard(task)
        self._subscription.changed()

    async def _send(self, held: Held, ack_id: str) -> None:
        subscription = self._subscription
        try:
            status = await self._post(push_call(subscription.config, held.message, held.attempts))
            self.last = f"HTTP {status}"
        except UnreachableError as error:
            status, self.last = 0, str(error)
        if status in ACKNOWLEDGED:
            subscription.queue.ack(ack_id, subscription.now())
        else:
            subscription.queue.extend(ack_id, 0, subscription.now())


def push_call(config: Raw, message: Raw, attempt: int) -> Outgoing:
    """The HTTP call that delivers one message."""
    push = config.push_config
    if push.HasField("no_wrapper"):
        headers, body = _plain_headers(config, message), message.data
    else:
        headers, body = dict(_WRAPPED), _wrapped(config, message, attempt)
    timeout = timedelta(seconds=config.ack_deadline_seconds)
    return Outgoing(url=push.push_endpoint, headers=headers, body=body, timeout=timeout, caller=_caller(push))


def _caller(push: Raw) -> CallIdentity | None:
    email = push.oidc_token.service_account_email
    audience = push.oidc_token.audience or push.push_endpoint
    return CallIdentity(email=email, audience=audience) if email else None


def _wrapped(config: Raw, message: Raw, attempt: int) -> bytes:
    """The JSON body of a push, with the doubled field names that Pub/Sub really sends."""
    published = message.publish_time.ToJsonString()
    inner: dict[str, Any] = {
        "messageId": message.message_id,
        "message_id": message.message_id,
        "publishTime": published,
        "publish_time": published,
    }
    if message.attributes:
        inner["attributes"] = dict(message.attributes)
    if message.data:
        inner["data"] = base64.b64encode(message.data).decode()
    if message.ordering_key:
        inner["orderingKey"] = message.ordering_key
    body: dict[str, Any] = {"message": inner, "subscription": config.name}
    if config.dead_letter_policy.dead_letter_topic:
        body["deliveryAttempt"] = attempt
    return json.dumps(body).encode()


def _plain_headers(config: Raw, message: Raw) -> dict[str, str]:
    """The headers of a push whose body is the data itself."""
    headers: dict[str, str] = {"content-type": "application/octet-stream", "user-agent": "CloudPubSub-Google"}
    if not config.push_config.no_wrapper.write_metadata:
        return headers
    attributes: Mapping[str, str] = message.attributes
    return (
        headers
        | dict(attributes)
        | {
            "x-goog-pubsub-subscription-name": config.name,
            "x-goog-pubsub-message-id": message.message_id,
            "x-goog-pubsub-publish-time": message.publish_time.ToJsonString(),
        }
    )
