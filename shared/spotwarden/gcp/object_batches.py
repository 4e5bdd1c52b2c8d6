"""Several deletes in one call (Google: "Batching requests"), and what came of each."""

from collections.abc import Iterator, Sequence
from email.message import Message
from email.parser import BytesParser
from http import HTTPStatus
from uuid import uuid4

from google.api_core.exceptions import NotFound

from spotwarden.gcp.authorized import Answered
from spotwarden.gcp.errors import call_error, is_unanswered
from spotwarden.ports import UnansweredError

A_BATCH = 100
"""Calls that Cloud Storage takes in one batch."""


def in_one_call(paths: Sequence[str]) -> tuple[bytes, dict[str, str]]:
    """Deletes of these paths, and the headers to them."""
    between = uuid4().hex
    parts = [
        f"--{between}\r\nContent-Type: application/http\r\nContent-ID: <{number}>\r\n\r\n"
        f"DELETE {path} HTTP/1.1\r\n\r\n\r\n"
        for number, path in enumerate(paths)
    ]
    body = f"{''.join(parts)}--{between}--\r\n"
    return body.encode(), {"Content-Type": f"multipart/mixed; boundary={between}"}


def came_of(answer: Answered, count: int) -> list[Exception | None]:
    """What went wrong with each part, in the order of the parts; None where it is gone, or newer.

    Raises:
        UnansweredError: it is no answer to so many parts.
    """
    found = list(_parts(answer))
    if len(found) != count:
        raise UnansweredError(f"the answer to a batch of {count} deletes has {len(found)} parts")
    return [_went_wrong(status, content) for status, content in found]


def _parts(answer: Answered) -> Iterator[tuple[int, bytes]]:
    """The status and the content of each part."""
    head = f"Content-Type: {answer.headers.get('Content-Type', '')}\r\n\r\n".encode("latin-1")
    parts = BytesParser().parsebytes(head + answer.content).get_payload()
    for part in parts if isinstance(parts, list) else ():
        raw = part.get_payload(decode=True) if isinstance(part, Message) else b""
        line, _, rest = (raw if isinstance(raw, bytes) else b"").lstrip().partition(b"\n")
        _, _, said = line.partition(b" ")
        status = said[:3]
        if status.isdigit():
            yield int(status), rest.replace(b"\r\n", b"\n").partition(b"\n\n")[2]


def _went_wrong(status: int, content: bytes) -> Exception | None:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES or status == HTTPStatus.PRECONDITION_FAILED:
        return None
    error = call_error("DELETE in a batch", status, content)
    if is_unanswered(error):
        return UnansweredError(f"{type(error).__name__}: {error}")
    gone = isinstance(error, NotFound) and "bucket does not exist" not in error.message
    return None if gone else error
