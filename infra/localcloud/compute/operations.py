"""Operations: what was asked of Compute Engine, or happened to it, and how far it is."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from localcloud.clock import Clock, pacific
from localcloud.compute import ids
from localcloud.compute.links import Links
from localcloud.compute.refusals import Failure, not_found
from localcloud.compute.shelf import Resource, Shelf

SYSTEM = "system"
LONGEST_WAIT = timedelta(minutes=2)
"""A wait answers when the operation is done or "approaches the 2 minute deadline" (`zoneOperations.wait`)."""

Finished = Callable[["Running"], None]


@dataclass(frozen=True, kw_only=True)
class Order:
    """What is to be done. `target` is a path such as `zones/Z/instances/N`; `user` who asked."""

    kind: str
    scope: str
    target: str
    target_id: str
    user: str = SYSTEM
    request_id: str = ""
    group: str = ""
    description: str = ""


class Running:
    """An operation under way. It ends once: `end` a second time changes nothing."""

    def __init__(self, book: "Operations", order: Order, name: str) -> None:
        self._book = book
        self.order = order
        self.name = name
        self.finished: Finished | None = None
        self.failure: Failure | None = None

    @property
    def resource(self) -> Resource:
        """The `compute#operation` resource as it is now."""
        return self._book.get(self.order.scope, self.name)

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return bool(self.resource["status"] == "DONE")

    def start(self) -> None:
        """Say that it is being worked on."""
        if not self.done:
            self._book.change(self, {"status": "RUNNING", "startTime": self._book.now()})

    def tell(self, fields: Mapping[str, Any]) -> None:
        """Add fields to the resource, such as the progress of a bulk request."""
        self._book.change(self, fields)

    def end(self, failure: Failure | None = None) -> None:
        """Say that it is done, or why it could not be."""
        if self.done:
            return
        self.failure = failure
        self._book.finish(self)
        if self.finished:
            self.finished(self)


class Operations:
    """The operations of the project, by scope and name."""

    def __init__(self, *, links: Links, clock: Clock, numbers: ids.Ids, shelf: Shelf) -> None:
        self.shelf = shelf
        self._links = links
        self._clock = clock
        self._numbers = numbers
        self._waiting: dict[tuple[str, str], asyncio.Event] = {}

    def now(self) -> str:
        """The moment, as resources write it."""
        return pacific(self._clock.now())

    def get(self, scope: str, name: str) -> Resource:
        """The operation of this name.

        Raises:
            ApiError: 404 when there is none.
        """
        resource = self.shelf.get(scope, name)
        if resource is None:
            raise not_found(f"projects/{self._links.project}/{scope}/operations/{name}")
        return resource

    def begin(self, order: Order) -> Running:
        """Write down an operation that was asked for; it is PENDING."""
        running = Running(self, order, ids.operation_name(self._clock.now(), prefix="operation"))
        self._put(running, self._resource(running, {"status": "PENDING", "progress": 0}))
        return running

    def record(self, order: Order, message: str) -> Running:
        """Write down something that the system did; it is DONE at once, as such operations are."""
        running = Running(self, order, ids.operation_name(self._clock.now(), prefix="systemevent"))
        moment = {"startTime": self.now(), "endTime": self.now(), "statusMessage": message}
        self._put(running, self._resource(running, {"status": "DONE", "progress": 100, **moment}))
        return running

    def change(self, running: Running, fields: Mapping[str, Any]) -> None:
        """Replace fields of an operation's resource."""
        self._put(running, {**running.resource, **fields})

    def finish(self, running: Running) -> None:
        """Write down that an operation is done, and wake who waits for it."""
        started = running.resource.get("startTime", self.now())
        done = {"status": "DONE", "progress": 100, "startTime": started, "endTime": self.now()}
        self.change(running, {**done, **(running.failure.fields() if running.failure else {})})
        event = self._waiting.pop((running.order.scope, running.name), None)
        if event:
            event.set()

    async def wait(self, scope: str, name: str, limit: timedelta = LONGEST_WAIT) -> Resource:
        """Wait until an operation is done, at most `limit`; return it as it is then.

        Raises:
            ApiError: 404 when there is none.
        """
        if self.get(scope, name)["status"] != "DONE":
            event = self._waiting.setdefault((scope, name), asyncio.Event())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), limit.total_seconds())
        return self.get(scope, name)

    def forget(self, scope: str, name: str) -> None:
        """Take a finished operation off the list.

        Raises:
            ApiError: 404 when there is none.
        """
        self.get(scope, name)
        self.shelf.take(scope, name)

    def _put(self, running: Running, resource: Resource) -> None:
        self.shelf.put(running.order.scope, running.name, resource)

    def _resource(self, running: Running, state: Mapping[str, Any]) -> Resource:
        order = running.order
        optional = {
            "clientOperationId": order.request_id,
            "operationGroupId": order.group,
            "description": order.description,
        }
        return {
            "kind": "compute#operation",
            "id": self._numbers.take(),
            "name": running.name,
            **{key: value for key, value in optional.items() if value},
            **self._place(order.scope),
            "operationType": order.kind,
            "targetLink": self._links.link(order.target),
            **({"targetId": order.target_id} if order.target_id else {}),
            "user": order.user,
            "insertTime": self.now(),
            **state,
            "selfLink": self._links.link(f"{order.scope}/operations/{running.name}"),
        }

    def _place(self, scope: str) -> Mapping[str, str]:
        """The field `zone` or `region`; a global operation has neither."""
        kind = {"zones": "zone", "regions": "region"}.get(scope.partition("/")[0])
        return {kind: self._links.link(scope)} if kind else {}
