"""What a person is told of what went wrong outside of us."""

import errno
import json
import re
from http import HTTPStatus

from spotwarden.cli.next_steps import next_step, role_to_ask_for
from spotwarden.layout import NotInLayoutError
from spotwarden.ports import BrokenError, RejectedError, UnansweredError

_THIS_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}
"""A disk that is full, or may not be written: nothing that a traceback helps with."""


_NO_ANSWER = "Check your network. If you use the local cloud, check it with: spotwarden local status"
_OTHER_TOPIC = (
    "Check its name with: spotwarden config list\nTo change it: spotwarden config set notices my-topic"
)
_TOO_MANY = "The project makes too many requests. Wait a minute, then run the command again"
_LOG_IN = "To log in: gcloud auth application-default login"
_NO_CREDENTIALS = f"this machine has no Google Cloud credentials\n{_LOG_IN}"
_METADATA = "metadata.google.internal"
"""Where Google's libraries ask last: only a VM of Compute Engine has it."""
_AGAIN = "\nThen run the command again"
_RATE = re.compile(r"rateLimitExceeded|RESOURCE_EXHAUSTED")
_ADDRESS = re.compile(r"host='([^']+)', port=(\d+)\).*\[Errno -?\d+\] ([\w ]+)", re.DOTALL)
_ASKED = re.compile(r"(?<=\d )(?:GET|PUT|POST|PATCH|DELETE) https?://\S+: ")
_ANSWER = re.compile(r'\{"error":.*?"message":\s*("(?:[^"\\]|\\.)*").*', re.DOTALL)
_BUCKET = re.compile(r"/b/([^/?]+).*bucket does not exist", re.DOTALL)
_TOPIC = re.compile(r"Resource not found \(resource=([^)]+)\)")
_ON_BUCKET = re.compile(r"/b/|bucket", re.IGNORECASE)


def _next(error: Exception) -> str:
    """What to type next, on a line of its own; "" where Google's own words say it."""
    code = getattr(error, "code", None)
    if code is None:
        return f"\n{_LOG_IN}"
    if code == HTTPStatus.NOT_FOUND and _ON_BUCKET.search(str(error)):
        return (
            "\nCheck the bucket's name with: spotwarden config list"
            "\nTo change it: spotwarden config set bucket my-bucket"
        )
    if code == HTTPStatus.UNAUTHORIZED:
        return "\nTo log in again: gcloud auth application-default login"
    if code == HTTPStatus.FORBIDDEN:
        return f"\n{role_to_ask_for(str(error))}{_AGAIN}"
    return ""


def _refused(error: Exception) -> str:
    """What Google's libraries say, without the address that they asked; and what to type next."""
    code, said = getattr(error, "code", None), _ANSWER.sub(_message, _ASKED.sub("", str(error)))
    if code is None and _METADATA in said:
        return _NO_CREDENTIALS
    if code is None:
        return f"no usable Google Cloud credentials: {said}{_next(error)}"
    if code == HTTPStatus.NOT_FOUND and (bucket := _BUCKET.search(str(error))):
        return f"there is no bucket {bucket[1]!r}{_next(error)}"
    if code == HTTPStatus.NOT_FOUND and (topic := _TOPIC.search(str(error))):
        return f"there is no Pub/Sub topic {topic[1]!r}\n{_OTHER_TOPIC}"
    return f"Google Cloud refused the request: {said}{_next(error)}"


def _message(answer: re.Match[str]) -> str:
    """The sentence in an answer's JSON, which the library shows whole where an upload is refused."""
    try:
        return str(json.loads(answer[1]))
    except ValueError:
        return answer[0]


def _brief(said: str) -> str:
    """What a library says of an address that does not answer, without its classes: the address, and why."""
    address = _ADDRESS.search(said)
    return f"{address[1]}:{address[2]}: {address[3].strip()}" if address else said


def _unanswered(said: str) -> str:
    """No answer in time; or only the answer that a quota of calls is used up, which no network explains."""
    if _RATE.search(said):
        return f"Google Cloud refuses further requests for now: {said}\n{_TOO_MANY}"
    if _METADATA in said:
        return _NO_CREDENTIALS
    return f"Google Cloud doesn't respond: {_brief(said)}\n{_NO_ANSWER}"


def complaint(error: Exception) -> str:
    """One sentence; "" for a fault of ours, whose traceback is what helps."""
    # Google's libraries take a while to import; whoever sees this has them already.
    from spotwarden.gcp.errors import REFUSALS  # noqa: PLC0415 — see above

    if isinstance(error, UnansweredError):
        return _unanswered(str(error))
    if isinstance(error, REFUSALS):
        return _refused(error)
    if isinstance(error, RejectedError) and (step := next_step(str(error))):
        return f"Google Cloud refused the request: {error}{step}{_AGAIN}"
    if isinstance(error, OSError) and error.errno in _THIS_MACHINE:
        where = f": {error.filename}" if error.filename else ""
        return f"this machine doesn't allow it: {error.strerror}{where}"
    return str(error) if isinstance(error, BrokenError | NotInLayoutError | RejectedError) else ""
