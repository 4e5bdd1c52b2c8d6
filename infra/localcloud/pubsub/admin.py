"""The local cloud's own view of Pub/Sub, and its knobs."""

from collections.abc import Callable
from datetime import UTC
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.errors import ApiError
from localcloud.http import Json
from localcloud.pubsub.fault_injection import PubSubFault
from localcloud.pubsub.names import DELETED_TOPIC, short
from localcloud.pubsub.registry import PubSubRegistry, Topic
from localcloud.pubsub.subscription import Subscription


class PubSubAdmin:
    """`/local/topics` and `/local/messages`. `last_push` tells how the last push of a subscription ended."""

    def __init__(self, registry: PubSubRegistry, last_push: Callable[[str], str]) -> None:
        self._registry = registry
        self._last_push = last_push

    def routes(self) -> list[BaseRoute]:
        """GET the overview; GET, POST and DELETE the rules of what befalls messages."""
        return [
            Route("/local/topics", self._overview, methods=["GET"]),
            Route("/local/messages", self._rules, methods=["GET"]),
            Route("/local/messages", self._set, methods=["POST"]),
            Route("/local/messages", self._clear, methods=["DELETE"]),
        ]

    async def _overview(self, _request: Request) -> Response:
        registry = self._registry
        topics = [self._topic(topic) for _, topic in sorted(registry.topics.items())]
        left = [each for each in registry.subscriptions.values() if each.config.topic == DELETED_TOPIC]
        return Json({"topics": topics, "without_topic": [self._subscription(each) for each in left]})

    def _topic(self, topic: Topic) -> dict[str, Any]:
        return {
            "name": topic.config.name,
            "published": topic.published,
            "subscriptions": [self._subscription(each) for _, each in sorted(topic.subscriptions.items())],
        }

    def _subscription(self, subscription: Subscription) -> dict[str, Any]:
        queue = subscription.queue
        queue.advance(subscription.now())
        oldest = queue.oldest()
        return {
            "name": subscription.name,
            "push_endpoint": subscription.config.push_config.push_endpoint,
            "last_push": self._last_push(subscription.name),
            "dead_letter_topic": subscription.dead_letter_topic,
            "backlog": queue.backlog(),
            "outstanding": queue.outstanding(),
            "oldest_publish_time": oldest.publish_time.ToDatetime(tzinfo=UTC).isoformat() if oldest else None,
            **vars(queue.counts),
        }

    async def _rules(self, _request: Request) -> Response:
        return Json({"messages": self._registry.fault_injection.rules()})

    async def _set(self, request: Request) -> Response:
        try:
            rule = msgspec.json.decode(await request.body(), type=PubSubFault)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"This is no rule for messages: {error}") from error
        self._registry.fault_injection.set(rule, self._full_name(rule.topic))
        return await self._rules(request)

    async def _clear(self, request: Request) -> Response:
        self._registry.fault_injection.clear()
        return await self._rules(request)

    def _full_name(self, topic: str) -> str:
        """The topic that a rule means.

        Raises:
            ApiError: 404, with the topics that there are.
        """
        if not topic:
            return ""
        name = topic if "/" in topic else f"projects/{self._registry.project}/topics/{topic}"
        if name not in self._registry.topics:
            known = ", ".join(sorted(map(short, self._registry.topics))) or "none"
            raise ApiError(404, "notFound", f"There is no topic {topic!r}. There are: {known}.")
        return name
