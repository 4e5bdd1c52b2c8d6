"""Streaming pull: messages flow one way, acknowledgements and deadlines the other."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc

from localcloud.google_types import pubsub as types
from localcloud.permissions import check
from localcloud.pubsub.checks import check_ack_deadline
from localcloud.pubsub.names import invalid, not_found
from localcloud.pubsub.registry import PubSubRegistry
from localcloud.pubsub.subscriber import SERVICE, acknowledge, check_pullable, extend, received, take
from localcloud.pubsub.subscription import Subscription
from localcloud.pubsub.terms import AskedTerms
from localcloud.rpc import Raw, plain

# One response must stay well under the 4 MB that a client takes by default, but for one message above that.
MOST_BYTES = 1_000_000
MOST_MESSAGES = 1000

_Response = plain(types.StreamingPullResponse)


def streaming_pull(registry: PubSubRegistry) -> tuple[str, str, Any]:
    """The stream as `grpc_handlers` takes it: service, method, handler."""

    async def behave(requests: AsyncIterator[Raw], _context: object) -> AsyncIterator[Raw]:
        first = await anext(aiter(requests), None)
        if first is None:
            return
        check(f"{SERVICE}/StreamingPull", first)
        stream = _Stream(registry, first)
        reader = asyncio.create_task(stream.read(requests))
        try:
            async for response in stream.write(reader):
                yield response
        finally:
            reader.cancel()

    handler = grpc.stream_stream_rpc_method_handler(
        behave,
        request_deserializer=plain(types.StreamingPullRequest).FromString,
        response_serializer=_Response.SerializeToString,
    )
    return SERVICE, "StreamingPull", handler


class _Stream:
    """One open stream. It is the holder of what it delivers, so that ordered keys stay with it."""

    def __init__(self, registry: PubSubRegistry, first: Raw) -> None:
        check_ack_deadline(first.stream_ack_deadline_seconds, least=10)
        self._registry = registry
        self._subscription: Subscription = registry.subscription(first.subscription)
        check_pullable(self._subscription)
        self._most_messages = first.max_outstanding_messages
        self._most_bytes = first.max_outstanding_bytes
        self._deadline = first.stream_ack_deadline_seconds
        self._answer(first)

    async def read(self, requests: AsyncIterator[Raw]) -> None:
        """Do what the client asks for until it has no more to say.

        Raises:
            RpcError: INVALID_ARGUMENT.
        """
        async for request in requests:
            if request.subscription:
                raise invalid("subscription", "Only the first request of a stream may set it.")
            if request.stream_ack_deadline_seconds:
                check_ack_deadline(request.stream_ack_deadline_seconds, least=10)
                self._deadline = request.stream_ack_deadline_seconds
            self._answer(request)

    async def write(self, reader: asyncio.Task[None]) -> AsyncIterator[Raw]:
        """Deliver until the client has closed its side, or raise what `read` raised."""
        # The first response comes at once and empty: the client knows that the stream stands.
        yield self._response([])
        reader.add_done_callback(lambda _task: self._subscription.ring())
        while not reader.done():
            if self._registry.subscriptions.get(self._subscription.name) is not self._subscription:
                raise not_found(self._subscription.name)
            check_pullable(self._subscription)
            ask = self._ask()
            taken = take(self._subscription, ask) if ask else []
            if taken:
                yield self._response(received(self._subscription, taken))
            else:
                await self._subscription.rung()
        reader.result()

    def _ask(self) -> AskedTerms | None:
        """What the client's flow control has room for; None when it is full."""
        out = self._subscription.queue.out_to(self)
        limit, room = MOST_MESSAGES, MOST_BYTES
        if self._most_messages > 0:
            limit = min(limit, self._most_messages - len(out))
        if self._most_bytes > 0:
            room = min(room, self._most_bytes - sum(held.message.ByteSize() for held in out))
        if limit <= 0 or room <= 0:
            return None
        return AskedTerms(limit=limit, room=room, holder=self, ack_deadline=float(self._deadline))

    def _answer(self, request: Raw) -> None:
        if len(request.modify_deadline_ack_ids) != len(request.modify_deadline_seconds):
            raise invalid("modify_deadline_seconds", "There must be one for each of modify_deadline_ack_ids.")
        for seconds in request.modify_deadline_seconds:
            check_ack_deadline(seconds, least=0)
        if request.modify_deadline_ack_ids:
            extend(
                self._subscription,
                zip(request.modify_deadline_ack_ids, request.modify_deadline_seconds, strict=True),
            )
        if request.ack_ids:
            acknowledge(self._subscription, request.ack_ids)
        if request.ack_ids or request.modify_deadline_ack_ids:
            self._subscription.ring()  # flow control may have room again

    def _response(self, messages: list[Raw]) -> Raw:
        response = _Response(received_messages=messages)
        ordered = self._subscription.config.enable_message_ordering
        response.subscription_properties.message_ordering_enabled = ordered
        return response
