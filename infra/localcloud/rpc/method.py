"""One method of an API, as data."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message


@dataclass(frozen=True, kw_only=True)
class Method:
    """A unary method: its name on the wire, its messages, what does the work, its HTTP rules.

    `http` holds rules as in `google.api.http`, each a verb and a path template, such as
    `GET /v1/{topic=projects/*/topics/*}`; none means gRPC only. `body` names the field that the JSON body
    fills, `*` the whole request.
    """

    service: str
    name: str
    request: type[Message]
    answer: type[Message]
    call: Callable[[Any], Any | Awaitable[Any]]
    http: tuple[str, ...] = ()
    body: str = ""
