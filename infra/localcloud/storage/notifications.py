"""`notificationConfigs`: which events of a bucket go to which Pub/Sub topic."""

import re
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from localcloud.errors import ApiError
from localcloud.http import Json, RawRoute, read_json
from localcloud.storage.events import PAYLOADS, EventType
from localcloud.storage.links import StorageLinks
from localcloud.storage.model import StorageSubscription
from localcloud.storage.resource import listing_json
from localcloud.storage.store import Store

ALL = "/storage/v1/b/{bucket}/notificationConfigs"
ONE = ALL + "/{notification}"
_TOPIC = re.compile(r"(?://pubsub\.googleapis\.com/)?(projects/[^/]+/topics/[^/]+)")


class NotificationBody(msgspec.Struct, kw_only=True):
    """The settable members of the `Notification` resource, which has its own style of names."""

    topic: str
    payload_format: str
    event_types: list[str] = []
    object_name_prefix: str = ""
    custom_attributes: dict[str, str] = {}


class Notifications:
    """Keeps the configurations."""

    def __init__(self, *, store: Store, links: StorageLinks) -> None:
        self._store = store
        self._links = links

    def routes(self) -> list[RawRoute]:
        """The paths of the four methods."""
        return [
            RawRoute(ALL, self._insert, methods=["POST"]),
            RawRoute(ALL, self._list, methods=["GET"]),
            RawRoute(ONE, self._get, methods=["GET"]),
            RawRoute(ONE, self._delete, methods=["DELETE"]),
        ]

    async def _insert(self, request: Request) -> Response:
        body = _read(await read_json(request))
        bucket = self._store.buckets.get(request.path_params["bucket"]).name
        topic = _TOPIC.fullmatch(body.topic)
        if not topic:
            message = (
                f"Invalid Pub/Sub topic: '{body.topic}'; it is //pubsub.googleapis.com/projects/P/topics/T."
            )
            raise ApiError(400, "invalid", message)
        index = self._store.index
        subscription = StorageSubscription(
            id=str(index.next_number(f"notification/{bucket}", 1)),
            bucket=bucket,
            topic=topic[1],
            payload=body.payload_format,
            events=tuple(body.event_types),
            prefix=body.object_name_prefix,
            attributes=body.custom_attributes,
        )
        self._store.buckets.limits.check_update(bucket)
        index.put_subscription(subscription)
        self._store.buckets.limits.count_update(bucket)
        return Json(self._links.subscription(subscription))

    async def _list(self, request: Request) -> Response:
        bucket = self._store.buckets.get(request.path_params["bucket"])
        items = [self._links.subscription(item) for item in self._store.index.subscriptions(bucket.name)]
        return Json(listing_json("storage#notifications", items))

    async def _get(self, request: Request) -> Response:
        path = request.path_params
        bucket = self._store.buckets.get(path["bucket"])
        for subscription in self._store.index.subscriptions(bucket.name):
            if subscription.id == path["notification"]:
                return Json(self._links.subscription(subscription))
        raise _missing(path)

    async def _delete(self, request: Request) -> Response:
        path = request.path_params
        self._store.buckets.get(path["bucket"])
        self._store.buckets.limits.check_update(path["bucket"])
        if not self._store.index.drop_subscription(path["bucket"], path["notification"]):
            raise _missing(path)
        self._store.buckets.limits.count_update(path["bucket"])
        return Response(status_code=204)


def _read(body: dict[str, Any]) -> NotificationBody:
    try:
        notification = msgspec.convert(body, NotificationBody)
    except msgspec.ValidationError as error:
        raise ApiError(400, "invalid", f"Invalid value in the request body: {error}") from error
    if notification.payload_format not in PAYLOADS:
        message = (
            f"Invalid payload format: '{notification.payload_format}'; it is one of {', '.join(PAYLOADS)}."
        )
        raise ApiError(400, "invalid", message)
    for event in notification.event_types:
        if event not in list(EventType):
            raise ApiError(
                400, "invalid", f"Invalid event type: '{event}'; it is one of {', '.join(EventType)}."
            )
    return notification


def _missing(path: dict[str, str]) -> ApiError:
    message = f"There is no notification {path['notification']} of bucket {path['bucket']}."
    return ApiError(404, "notFound", message)
