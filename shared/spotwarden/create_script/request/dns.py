"""Zonal DNS names of a job's own nodes in metadata values, such as `MASTER_ADDR`; they follow a move.

The names have the form `NODE.ZONE.c.PROJECT.internal` (Google: "Internal DNS"). A project of a domain,
`example.com:lab`, stands in them as `lab.example.com`. Everything else that mentions a zone is left alone.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from spotwarden.create_script.request.requested import project_of
from spotwarden.model.request import Request

_NODE = r"(?<![\w.-])(?P<node>[a-z](?:[-a-z0-9]*[a-z0-9])?)"
_END = r"(?![\w-]|\.\w)"


def followed(request: Request, nodes: Collection[str], source: str, target: str) -> Request:
    """The request, with its own nodes' names in zone `source` written for zone `target`."""
    tail, own = _tail(request), frozenset(nodes)
    name = re.compile(rf"{_NODE}\.{re.escape(source)}{re.escape(tail)}{_END}")

    def renamed(found: re.Match[str]) -> str:
        return f"{found['node']}.{target}{tail}" if found["node"] in own else found[0]

    if not size_of_mentions(request, source):
        return request
    return _with_values(request, lambda value: name.sub(renamed, value))


def zonal_mentions(request: Request, nodes: Collection[str]) -> tuple[str, ...]:
    """The keys of the metadata values that name one of these nodes in a zone."""
    own = frozenset(nodes)
    name = re.compile(rf"{_NODE}\.[a-z]+-[a-z0-9-]+-[a-z]{re.escape(_tail(request))}{_END}")
    return tuple(
        key for key, value in _values(request) if any(found["node"] in own for found in name.finditer(value))
    )


def size_of_mentions(request: Request, zone: str) -> int:
    """The characters of all metadata values that name a machine in this zone: written anew elsewhere."""
    tail = _tail(request)
    return sum(len(value) for _, value in _values(request) if f".{zone}{tail}" in value)


def _tail(request: Request) -> str:
    domain, _, name = project_of(request).rpartition(":")
    return f".c.{name}.{domain}.internal" if domain else f".c.{name}.internal"


def _machine(body: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = body.get("instanceProperties", body)
    return found


def _values(request: Request) -> Iterator[tuple[str, str]]:
    for item in _machine(request.body).get("metadata", {}).get("items", ()):
        yield item["key"], item.get("value", "")


def _with_values(request: Request, change: Callable[[str], str]) -> Request:
    machine = _machine(request.body)
    items = [{**item, "value": change(item.get("value", ""))} for item in machine["metadata"]["items"]]
    changed = {**machine, "metadata": {**machine["metadata"], "items": items}}
    body = {**request.body, "instanceProperties": changed} if machine is not request.body else changed
    return replace(request, body=body)
