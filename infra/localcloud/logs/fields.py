"""The fields of a `LogEntry` as queries name them, and reading them out of an entry's JSON."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from localcloud.filters import FilterError

# "LogEntry": its fields, and those of the messages inside it. None is a field with members of any name.
_TEXT, _NUMBER, _FLAG = "", 0, False
SCHEMA: Mapping[str, Any] = {
    "logName": _TEXT,
    "timestamp": _TEXT,
    "receiveTimestamp": _TEXT,
    "severity": "DEFAULT",
    "insertId": _TEXT,
    "textPayload": _TEXT,
    "trace": _TEXT,
    "spanId": _TEXT,
    "traceSampled": _FLAG,
    "labels": None,
    "jsonPayload": None,
    "protoPayload": None,
    "metadata": None,
    "errorGroups": None,
    "resource": {"type": _TEXT, "labels": None},
    "operation": {"id": _TEXT, "producer": _TEXT, "first": _FLAG, "last": _FLAG},
    "sourceLocation": {"file": _TEXT, "line": _NUMBER, "function": _TEXT},
    "split": {"uid": _TEXT, "index": _NUMBER, "totalSplits": _NUMBER},
    "httpRequest": {
        **dict.fromkeys(("requestMethod", "requestUrl", "userAgent", "remoteIp", "serverIp"), _TEXT),
        **dict.fromkeys(("referer", "latency", "protocol"), _TEXT),
        **dict.fromkeys(("requestSize", "status", "responseSize", "cacheFillBytes"), _NUMBER),
        **dict.fromkeys(("cacheLookup", "cacheHit", "cacheValidatedWithOriginServer"), _FLAG),
    },
}
"""The default of each declared field, which a comparison takes when an entry leaves the field out."""

_SNAKE = re.compile(r"_([a-z])")


class Field:
    """One field by its path, checked once and read from many entries."""

    def __init__(self, path: tuple[str, ...], at: int) -> None:
        self.path, self.default = _resolved(path, at)
        self.name = ".".join(self.path)

    def values(self, entry: Mapping[str, Any]) -> list[Any]:
        """Every value that the path leads to; of a list, each element. A declared scalar is never missing."""
        found = list(_walk(entry, self.path))
        return found or ([] if self.default is None else [self.default])

    def is_present(self, entry: Mapping[str, Any]) -> bool:
        """Whether the entry itself has the field."""
        return any(True for _ in _walk(entry, self.path))


def _resolved(path: tuple[str, ...], at: int) -> tuple[tuple[str, ...], Any]:
    """The path in camel case as far as it is declared, and the default at its end if there is one."""
    known: Any = SCHEMA
    done: list[str] = []
    for number, part in enumerate(path):
        if not isinstance(known, Mapping):
            if known is not None:
                raise FilterError(f"{'.'.join(done)} has no field {part!r}", at)
            return (*done, *path[number:]), None
        name = part if part in known else _SNAKE.sub(lambda match: match[1].upper(), part)
        if name not in known:
            where = ".".join(done) or "a log entry"
            raise FilterError(f"{where} has no field {part!r}", at)
        done.append(name)
        known = known[name]
    return tuple(done), None if isinstance(known, Mapping) else known


def _walk(value: Any, path: tuple[str, ...]) -> Iterator[Any]:
    if isinstance(value, list):
        for element in value:
            yield from _walk(element, path)
    elif not path:
        yield value
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _walk(value[path[0]], path[1:])


def scalars(value: Any) -> Iterator[Any]:
    """Every scalar inside a JSON value, keys not included."""
    if isinstance(value, Mapping):
        for member in value.values():
            yield from scalars(member)
    elif isinstance(value, list):
        for element in value:
            yield from scalars(element)
    elif value is not None:
        yield value


def text_of(value: Any) -> str:
    """A scalar as it is written in JSON."""
    return str(value).lower() if isinstance(value, bool) else str(value)
