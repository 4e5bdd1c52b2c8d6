"""Sinks: which entries go to which Pub/Sub topic."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from localcloud.clock import Clock, rfc3339
from localcloud.errors import ApiError
from localcloud.filters import Predicate
from localcloud.logs.entries import Entry
from localcloud.logs.query import entry_filter
from localcloud.ports import Publish
from localcloud.rpc import RpcError

_DESTINATION = re.compile(r"pubsub\.googleapis\.com/(projects/[^/]+/topics/[^/]+)")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)


class Exclusion(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True
):
    """Entries that a sink leaves out."""

    name: str
    filter: str
    description: str = ""
    disabled: bool = False
    create_time: str = ""
    update_time: str = ""


class SinkBody(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True
):
    """A `LogSink` as its callers write it."""

    name: str = ""
    destination: str = ""
    filter: str = ""
    description: str = ""
    disabled: bool = False
    exclusions: list[Exclusion] = []
    include_children: bool = False
    output_version_format: str = "V2"
    resource_name: str = ""
    writer_identity: str = ""
    create_time: str = ""
    update_time: str = ""


@dataclass(kw_only=True)
class Sink:
    """One sink, ready to route, with what it has done."""

    body: SinkBody
    topic: str
    matches: Predicate
    excluded: list[Predicate]
    routed: int = 0
    failed: int = 0
    last_error: str = ""

    def wants(self, entry: Entry) -> bool:
        """Whether the entry goes through this sink."""
        return (
            not self.body.disabled
            and self.matches(entry)
            and not any(excludes(entry) for excludes in self.excluded)
        )


@dataclass(kw_only=True)
class Sinks:
    """The sinks of the project, by name."""

    project: str
    clock: Clock
    publish: Publish
    found: dict[str, Sink] = field(default_factory=dict)

    def route(self, entry: Entry) -> None:
        """Send a copy of the entry to the topic of every sink that wants it; what fails is counted there."""
        for sink in self.found.values():
            if not sink.wants(entry):
                continue
            data = json.dumps(entry, ensure_ascii=False).encode()
            attributes = {"logging.googleapis.com/timestamp": str(entry["timestamp"])}
            try:
                self.publish(sink.topic, data, attributes)
                sink.routed += 1
            except ApiError as error:
                sink.failed += 1
                sink.last_error = error.message

    def create(self, body: SinkBody) -> Mapping[str, Any]:
        """Make a sink.

        Raises:
            RpcError: ALREADY_EXISTS, or INVALID_ARGUMENT for one that cannot be.
        """
        if body.name in self.found:
            raise RpcError("ALREADY_EXISTS", f"Sink {body.name} already exists")
        return self._put(body, create_time=rfc3339(self.clock.now()))

    def get(self, name: str) -> Sink:
        """Find a sink.

        Raises:
            RpcError: NOT_FOUND.
        """
        if name not in self.found:
            raise RpcError("NOT_FOUND", f"Sink {name} does not exist")
        return self.found[name]

    def update(self, name: str, body: SinkBody, mask: str) -> Mapping[str, Any]:
        """Change the fields of the mask; without one the destination, the filter and `includeChildren`."""
        present = self.get(name).body
        fields = {_snake(path) for path in mask.split(",") if path} or {
            "destination",
            "filter",
            "include_children",
        }
        unknown = fields - set(SinkBody.__struct_fields__)
        if unknown:
            raise RpcError("INVALID_ARGUMENT", f"The update mask names {min(unknown)!r}, which no sink has.")
        changed = msgspec.structs.replace(
            present, **{each: getattr(body, each) for each in fields - {"name"}}
        )
        return self._put(changed, create_time=present.create_time)

    def delete(self, name: str) -> None:
        """Remove a sink."""
        self.get(name)
        del self.found[name]

    def _put(self, body: SinkBody, *, create_time: str) -> Mapping[str, Any]:
        if not _NAME.fullmatch(body.name):
            raise RpcError(
                "INVALID_ARGUMENT", f"The sink name {body.name!r} is not 1 to 100 of A-Z a-z 0-9 _ - ."
            )
        destination = _DESTINATION.fullmatch(body.destination)
        if destination is None:
            text = f"Logs go to pubsub.googleapis.com/projects/P/topics/T here, not to {body.destination!r}."
            raise RpcError("INVALID_ARGUMENT", text)
        stored = msgspec.structs.replace(
            body,
            resource_name=f"projects/{self.project}/sinks/{body.name}",
            writer_identity="serviceAccount:cloud-logs@system.gserviceaccount.com",
            create_time=create_time,
            update_time=rfc3339(self.clock.now()),
        )
        self.found[body.name] = Sink(
            body=stored,
            topic=destination[1],
            matches=entry_filter(body.filter),
            excluded=[entry_filter(each.filter) for each in body.exclusions if not each.disabled],
        )
        return shown(self.found[body.name])


def shown(sink: Sink) -> Mapping[str, Any]:
    """A sink as the API answers with it."""
    builtins: Mapping[str, Any] = msgspec.to_builtins(sink.body)
    return builtins


def _snake(path: str) -> str:
    return re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), path)
