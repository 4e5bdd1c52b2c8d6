"""Batch calls: several requests in one multipart/mixed body ("Batching requests").

Each part goes through the whole app as if it had come alone, faults included, one after another.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message as AsgiMessage
from starlette.types import Scope

from localcloud.errors import ApiError

MOST_CALLS = 1000
BOUNDARY = "batch_localcloud"


@dataclass(frozen=True, kw_only=True)
class _Call:
    """One request of a batch."""

    id: str
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """What came of it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def batch_route(path: str) -> Route:
    """The route of a batch path, such as `/batch/compute/v1`."""
    return Route(path, _batch, methods=["POST"])


async def _batch(request: Request) -> Response:
    calls = _read(request.headers.get("content-type", ""), await request.body())
    parts = [_part(call, await _run(request, call)) for call in calls]
    end = f"--{BOUNDARY}--\r\n".encode()
    return Response(b"".join([*parts, end]), media_type=f"multipart/mixed; boundary={BOUNDARY}")


def _read(content_type: str, body: bytes) -> list[_Call]:
    """Read the calls of a batch.

    Raises:
        ApiError: 400 when the body is no batch, or a part of it no request.
    """
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1")
    batch = BytesParser().parsebytes(head + body)
    parts = batch.get_payload()
    if not batch.is_multipart() or not isinstance(parts, list):
        raise ApiError(400, "badRequest", "A batch needs a body of type multipart/mixed with its boundary.")
    if len(parts) > MOST_CALLS:
        raise ApiError(
            400, "badRequest", f"The batch has {len(parts)} calls, at most {MOST_CALLS} are taken."
        )
    return [_call(part) for part in parts if isinstance(part, Message)]


def _call(part: Message) -> _Call:
    raw = part.get_payload(decode=True)
    line, _, rest = (raw if isinstance(raw, bytes) else b"").lstrip().partition(b"\n")
    words = line.decode("latin-1").split()
    if len(words) not in (2, 3):
        raise ApiError(
            400, "badRequest", f"Part {part.get('content-id', '')} of the batch is no HTTP request."
        )
    message = BytesParser().parsebytes(rest)
    body = message.get_payload(decode=True)
    return _Call(
        id=str(part.get("content-id", "")),
        method=words[0],
        url=words[1],
        headers={key.lower(): str(value) for key, value in message.items()},
        body=body if isinstance(body, bytes) else b"",
    )


async def _run(request: Request, call: _Call) -> _Answer:
    messages: list[AsgiMessage] = []
    pending = itertools.chain([{"type": "http.request", "body": call.body}])

    async def receive() -> AsgiMessage:
        return next(pending, {"type": "http.disconnect"})

    async def send(message: AsgiMessage) -> None:
        messages.append(message)

    await request.app(_scope(request, call), receive, send)
    status = next((message["status"] for message in messages if "status" in message), 503)
    headers = [header for message in messages for header in message.get("headers", ())]
    return _Answer(status=status, headers=headers, body=b"".join(_bodies(messages)))


def _bodies(messages: Iterable[AsgiMessage]) -> Iterable[bytes]:
    return (message.get("body", b"") for message in messages if message["type"] == "http.response.body")


def _scope(request: Request, call: _Call) -> Scope:
    """The scope of the call as the server would have made it; the connection is the batch's."""
    url = urlsplit(call.url)
    outer = {
        key: request.scope[key] for key in ("type", "asgi", "http_version", "server", "client", "scheme")
    }
    # What authorises the batch authorises its calls, unless they say otherwise.
    inherited = {key: value for key, value in request.headers.items() if key in {"host", "authorization"}}
    headers = {**inherited, **call.headers}
    return {
        **outer,
        "method": call.method.upper(),
        "path": unquote(url.path),
        "raw_path": url.path.encode(),
        "query_string": url.query.encode(),
        "root_path": "",
        "headers": [(key.encode("latin-1"), value.encode("latin-1")) for key, value in headers.items()],
        "state": {},
        "extensions": request.scope.get("extensions", {}),
    }


def _part(call: _Call, answer: _Answer) -> bytes:
    phrase = HTTPStatus(answer.status).phrase if answer.status in list(HTTPStatus) else ""
    lines = [f"--{BOUNDARY}", "Content-Type: application/http"]
    if call.id:
        lines.append(f"Content-ID: {_response_id(call.id)}")
    lines += ["", f"HTTP/1.1 {answer.status} {phrase}"]
    lines += [f"{key.decode('latin-1').title()}: {value.decode('latin-1')}" for key, value in answer.headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body + b"\r\n"


def _response_id(call_id: str) -> str:
    """`<abc>` is answered as `<response-abc>`, and so is `abc` without brackets."""
    return "<response-" + call_id[1:] if call_id.startswith("<") else "response-" + call_id
