"""The protocol, broken on purpose: each mutation must be found out by the histories.

A mutation stands between a sweep and its ports, so that it breaks the promise and not a line of code.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import count
from random import Random
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import msgspec

from spotwarden.model.instance import Operation, Status
from spotwarden.ports import Cloud, RejectedError, Stored

LEDGER = "/metadata/attempts/"


class Bent:
    """A port with some of its calls replaced."""

    def __init__(self, port: object, **calls: Callable[..., Any]) -> None:
        self._port = port
        self.__dict__.update(calls)

    def __getattr__(self, call: str) -> Any:
        return getattr(self._port, call)


def claims_overwrite(cloud: Cloud) -> Cloud:
    """A claim is written whether or not there is one."""

    def write(name: str, data: bytes, *, generation: int | None, **said: Any) -> int:
        blind = LEDGER in name and generation == 0
        return cloud.store.write(name, data, generation=None if blind else generation, **said)

    return _with(cloud, store=Bent(cloud.store, write=write))


def ledger_ignores_generations(cloud: Cloud) -> Cloud:
    """Records are changed whoever has changed them meanwhile."""

    def write(name: str, data: bytes, *, generation: int | None, **said: Any) -> int:
        blind = LEDGER in name and generation != 0
        return cloud.store.write(name, data, generation=None if blind else generation, **said)

    return _with(cloud, store=Bent(cloud.store, write=write))


def hidden_is_gone(cloud: Cloud) -> Cloud:
    """What a partial list leaves out is taken for gone."""

    def instances(**chosen: Any) -> Any:
        return msgspec.structs.replace(cloud.compute.instances(**chosen), unreachable=())

    def operations(since: Any) -> Any:
        return msgspec.structs.replace(cloud.compute.operations(since), unreachable=())

    return _with(cloud, compute=Bent(cloud.compute, instances=instances, operations=operations))


def stopping_is_gone(cloud: Cloud) -> Cloud:
    """Nobody waits for an instance that is still stopping."""

    def instances(**chosen: Any) -> Any:
        found = cloud.compute.instances(**chosen)
        left = tuple(one for one in found.items if one.status is not Status.STOPPING)
        return msgspec.structs.replace(found, items=left)

    return _with(cloud, compute=Bent(cloud.compute, instances=instances))


def no_lease_and_any_request_id(cloud: Cloud) -> Cloud:
    """Whoever finds an attempt works on it at once, and each request has an id of its own."""
    chance = Random(f"{next(_CLOUDS)}")

    def read(name: str, **how: Any) -> Stored | None:
        stored = cloud.store.read(name, **how)
        return _unleased(stored) if stored is not None and LEDGER in name else stored

    def fresh() -> str:
        return str(UUID(int=chance.getrandbits(128), version=4))

    def launch(request: Any, _request_id: str, **how: Any) -> Any:
        return cloud.compute.launch(request, fresh(), **how)

    def start(zone: str, instance_id: str, _request_id: str, **how: Any) -> Any:
        return cloud.compute.start(zone, instance_id, fresh(), **how)

    return _with(
        cloud,
        store=Bent(cloud.store, read=read),
        compute=Bent(cloud.compute, launch=launch, start=start),
    )


def failure_is_assumed(cloud: Cloud) -> Cloud:
    """A place that has not answered yet counts as one that refused, so that the next one is asked."""

    def operation(place: str, name: str) -> Any:
        found = cloud.compute.operation(place, name)
        if found.done:
            return found
        return msgspec.structs.replace(found, done=True, error="ZONE_RESOURCE_POOL_EXHAUSTED: assumed")

    return _with(cloud, compute=Bent(cloud.compute, operation=operation))


def forgotten_is_refused(cloud: Cloud) -> Cloud:
    """An operation that answers 404 counts as a refusal, so that the next place is asked."""

    def operation(place: str, name: str) -> Any:
        try:
            return cloud.compute.operation(place, name)
        except RejectedError:
            return Operation(
                name=name,
                zone=place,
                kind="insert",
                target_id="",
                target_name="",
                done=True,
                error="ZONE_RESOURCE_POOL_EXHAUSTED: assumed",
            )

    return _with(cloud, compute=Bent(cloud.compute, operation=operation))


def repeated_requests_are_new(cloud: Cloud) -> Cloud:
    """What is asked once more is asked under another id."""
    sent = _SENT.setdefault(cloud.compute.port, Counter())  # type: ignore[attr-defined]  # the port is behind a door

    def launch(request: Any, request_id: str, **how: Any) -> Any:
        sent[request_id] += 1
        return cloud.compute.launch(request, f"{request_id}-{sent[request_id]}", **how)

    return _with(cloud, compute=Bent(cloud.compute, launch=launch))


def forbidden_is_for_good(cloud: Cloud) -> Cloud:
    """A right that is missing counts as a faulty request, which no later try can change."""

    def launch(*arguments: Any, **how: Any) -> Any:
        try:
            return cloud.compute.launch(*arguments, **how)
        except RejectedError as refused:
            code = "invalid" if refused.code == "forbidden" else refused.code
            raise RejectedError(code, refused.message) from refused

    return _with(cloud, compute=Bent(cloud.compute, launch=launch))


def requests_are_sent_late(cloud: Cloud) -> Cloud:
    """A sweep that slept sends its request all the same, though its lease is over."""

    def launch(request: Any, request_id: str, **_before: Any) -> Any:
        return cloud.compute.launch(request, request_id)

    def start(zone: str, instance_id: str, request_id: str, **_before: Any) -> Any:
        return cloud.compute.start(zone, instance_id, request_id)

    return _with(cloud, compute=Bent(cloud.compute, launch=launch, start=start))


def no_end_is_seen(cloud: Cloud) -> Cloud:
    """The status code of a job is not looked at."""

    def read(name: str, **how: Any) -> Stored | None:
        return None if name.endswith("/status-code") else cloud.store.read(name, **how)

    return _with(cloud, store=Bent(cloud.store, read=read))


def no_delete_is_seen(cloud: Cloud) -> Cloud:
    """Who deleted or stopped an instance is not looked at."""

    def operations(since: Any) -> Any:
        found = cloud.compute.operations(since)
        left = tuple(one for one in found.items if one.kind not in {"delete", "stop"})
        return msgspec.structs.replace(found, items=left)

    return _with(cloud, compute=Bent(cloud.compute, operations=operations))


def markers_go_first(cloud: Cloud) -> Cloud:
    """A marker is deleted as soon as it was read."""

    def read(name: str, **how: Any) -> Stored | None:
        stored = cloud.store.read(name, **how)
        if stored is not None and name.startswith("preempted-jobs/"):
            cloud.store.delete(name, generation=stored.generation)
        return stored

    return _with(cloud, store=Bent(cloud.store, read=read))


_CLOUDS = count()
_SENT: WeakKeyDictionary[object, Counter[str]] = WeakKeyDictionary()
"""How often each request was sent to a Compute Engine, by whichever sweep."""


def _unleased(stored: Stored) -> Stored:
    record = {**msgspec.json.decode(stored.data), "lease": None}
    return msgspec.structs.replace(stored, data=msgspec.json.encode(record))


def _with(cloud: Cloud, **ports: Any) -> Cloud:
    return msgspec.structs.replace(cloud, **ports)


MUTATIONS: Mapping[str, Callable[[Cloud], Cloud]] = {
    "claims overwrite one another": claims_overwrite,
    "the ledger ignores generations": ledger_ignores_generations,
    "what is hidden counts as gone": hidden_is_gone,
    "what is stopping counts as gone": stopping_is_gone,
    "no lease, and request ids by chance": no_lease_and_any_request_id,
    "no answer yet counts as a refusal": failure_is_assumed,
    "an operation that is forgotten counts as a refusal": forgotten_is_refused,
    "what is asked again gets another id": repeated_requests_are_new,
    "what is forbidden is so for good": forbidden_is_for_good,
    "requests are sent after the lease": requests_are_sent_late,
    "the end of a job is not seen": no_end_is_seen,
    "an owner's delete is not seen": no_delete_is_seen,
    "markers are cleared before they are answered": markers_go_first,
}
