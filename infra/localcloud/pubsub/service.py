"""Pub/Sub, put together."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import grpc
from starlette.routing import BaseRoute

from localcloud.clock import Clock
from localcloud.outbound import Post
from localcloud.permissions import checked_methods
from localcloud.pubsub.admin import PubSubAdmin
from localcloud.pubsub.checks import check_messages
from localcloud.pubsub.fault_injection import PubSubFault
from localcloud.pubsub.iam import Policies
from localcloud.pubsub.publisher import Publisher
from localcloud.pubsub.push import Pusher
from localcloud.pubsub.registry import PubsubMessage, PubSubRegistry
from localcloud.pubsub.snapshots import Snapshots
from localcloud.pubsub.streaming import streaming_pull
from localcloud.pubsub.subscriber import Subscriber
from localcloud.rpc import grpc_handlers, rest_routes


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How Pub/Sub behaves where the real one does not say.

    `push_limit` bounds the calls that one push subscription has open; a pull that finds nothing answers after
    `pull_wait`; `now` counts the seconds of deadlines and delays, and never goes back.
    """

    push_limit: int = 16
    pull_wait: timedelta = timedelta(seconds=10)
    now: Callable[[], float] = time.monotonic


class PubSubService:
    """The Pub/Sub of one project, in memory, for gRPC and REST clients and for the local cloud itself."""

    def __init__(
        self,
        *,
        project: str,
        clock: Clock,
        post: Post,
        settings: Settings = Settings(),
    ) -> None:
        self._registry = PubSubRegistry(project=project, clock=clock, now=settings.now)
        self._post = post
        self._push_limit = settings.push_limit
        self._pushers: dict[str, tuple[Pusher, asyncio.Task[None]]] = {}
        snapshots = Snapshots(self._registry)
        subscriber = Subscriber(
            self._registry, self._follow, snapshots=snapshots, pull_wait=settings.pull_wait
        )
        services = (Publisher(self._registry), subscriber, snapshots, Policies(self._registry))
        self._methods = [*checked_methods(method for service in services for method in service.methods())]

    def publish(self, topic: str, data: bytes, attributes: Mapping[str, str]) -> str:
        """Publish one message to `projects/P/topics/T`; this method is the `Publish` that services take.

        Raises:
            ApiError: 404 without the topic, 400 for a message that is empty or too large.
        """
        message = PubsubMessage(data=data, attributes=attributes)
        check_messages([message], message.ByteSize())
        return self._registry.publish(topic, [message])[0]

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """The gRPC services."""
        return grpc_handlers(self._methods, [streaming_pull(self._registry)])

    def routes(self) -> list[BaseRoute]:
        """The REST paths, `/v1/projects/P/topics` and `…/subscriptions`."""
        return rest_routes(self._methods)

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/topics` shows what is there, `/local/messages` sets what befalls messages."""
        return PubSubAdmin(self._registry, self._last_push).routes()

    def at_work(self) -> int:
        """How many messages are being pushed, or about to be, those included that are late as usual."""
        pushed = (self._registry.subscriptions[name] for name in self._pushers)
        within = self._registry.fault_injection.usual_delay
        return sum(each.queue.at_work(each.now(), within) for each in pushed)

    def befall_usually(self, rule: PubSubFault, *, spared: str = "") -> None:
        """Say what befalls pushed messages where no rule of `/local/messages` holds.

        Endpoints that end as `spared` does are left alone.
        """
        self._registry.fault_injection.set_usual(rule, spared)

    async def close(self) -> None:
        """End push deliveries and everything that waits."""
        tasks = [task for _, task in self._pushers.values()]
        for task in tasks:
            task.cancel()
        self._pushers.clear()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._registry.close()

    def _follow(self, name: str) -> None:
        """Start or stop pushing after a subscription was made, configured or removed."""
        subscription = self._registry.subscriptions.get(name)
        wanted = subscription is not None and bool(subscription.config.push_config.push_endpoint)
        if wanted and subscription is not None and name not in self._pushers:
            pusher = Pusher(subscription, self._post, most=self._push_limit)
            self._pushers[name] = pusher, pusher.start()
        elif not wanted and name in self._pushers:
            self._pushers.pop(name)[1].cancel()
        if subscription is not None:
            subscription.ring()

    def _last_push(self, name: str) -> str:
        found = self._pushers.get(name)
        return found[0].last if found else ""
