"""One method of an API, as data."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

Raw = Any
"""A message of protocol buffers, or a class of them: Google's packages publish no types of theirs."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A unary method: its name on the wire, its messages, what does the work, its HTTP rules.

    `http` holds rules as in `google.api.http`: a verb, a path template, and where there is a JSON body the
    field that it fills, `*` for the whole request: `PUT /v1/{name=projects/*/topics/*} *`. None: gRPC only.
    `render` makes the JSON of an answer where protobuf's own way is too slow.
    """

    service: str
    name: str
    request: type[Message]
    answer: type[Message]
    call: Callable[[Any], Any | Awaitable[Any]]
    http: tuple[str, ...] = ()
    render: Callable[[Any], Mapping[str, Any]] | None = None


Row = tuple[str, Raw, Raw, str]
"""Name, request, answer, HTTP rule; several rules are separated by ` | `, and an empty one means none."""


def table(service: str, owner: object, rows: Iterable[Row]) -> Iterator[Method]:
    """The methods of these rows; `GetTopic` is done by the owner's `get_topic`.

    Classes of proto-plus are taken for the plain ones inside them, which are several times faster.
    """
    for name, request, answer, http in rows:
        yield Method(
            service=service,
            name=name,
            request=plain(request),
            answer=plain(answer),
            call=getattr(owner, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()),
            http=tuple(rule for rule in http.split(" | ") if rule),
        )


def plain(kind: Raw) -> Raw:
    """The protocol buffer class inside a proto-plus class; any other class as it is."""
    return kind if issubclass(kind, Message) else kind.pb()
