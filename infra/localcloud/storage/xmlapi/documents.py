"""XML documents as the XML API sends them: results, and errors ("HTTP status and error codes for XML")."""

from collections.abc import Mapping, Sequence
from typing import Union
from urllib.parse import quote
from xml.sax.saxutils import escape

from starlette.responses import Response

from localcloud.errors import ApiError

OBJECTS = "http://doc.s3.amazonaws.com/2006-03-01"
"""The namespace of lists of objects; that of multipart uploads is spelled otherwise."""
UPLOADS = "http://s3.amazonaws.com/doc/2006-03-01/"

Element = tuple[str, Union[str, int, "Elements"]]
"""A tag and its text, or the elements within."""
Elements = Sequence[Element]

_CODES: Mapping[tuple[int, str], tuple[str, str]] = {
    (400, "expired"): ("ExpiredToken", "The provided token has expired."),
    (400, "badDigest"): ("BadDigest", "The hash that was sent is not that of what was received."),
    (400, "entityTooLarge"): ("EntityTooLarge", "Your proposed upload is larger than the maximum size."),
    (400, "entityTooSmall"): ("EntityTooSmall", "Your proposed upload is smaller than the minimum size."),
    (400, "invalidPart"): ("InvalidPart", "One or more of the specified parts could not be found."),
    (400, "invalidPartOrder"): ("InvalidPartOrder", "The list of parts was not in ascending order."),
    (400, "malformedXml"): ("MalformedXML", "The XML that was sent is not well-formed or not of its form."),
    (404, "noSuchUpload"): ("NoSuchUpload", "The specified upload does not exist."),
    (404, "notFound"): ("NoSuchKey", "The specified key does not exist."),
    (429, "rateLimitExceeded"): ("SlowDown", "Please reduce your request rate."),
}
_BY_STATUS: Mapping[int, tuple[str, str]] = {
    400: ("InvalidArgument", "Invalid argument."),
    401: ("AuthenticationRequired", "Authentication required."),
    403: ("AccessDenied", "Access denied."),
    404: ("NoSuchKey", "The specified key does not exist."),
    405: ("MethodNotAllowed", "The specified method is not allowed against this resource."),
    409: ("OperationAborted", "A conflicting operation is in progress."),
    412: ("PreconditionFailed", "At least one of the pre-conditions you specified did not hold."),
    416: ("InvalidRange", "The requested range cannot be satisfied."),
    500: ("InternalError", "We encountered an internal error. Please try again."),
    501: ("NotImplemented", "The requested feature is not done by the local cloud."),
    503: ("ServiceUnavailable", "Service unavailable. Please retry."),
}


def document(root: str, namespace: str, elements: Elements) -> str:
    """A document of one root element."""
    return f"<?xml version='1.0' encoding='UTF-8'?>{_element(root, elements, f' xmlns={namespace!r}')}"


def answer(root: str, namespace: str, elements: Elements) -> Response:
    """The answer that carries a document."""
    return Response(document(root, namespace, elements), media_type="application/xml; charset=UTF-8")


def error_document(status: int, reason: str, message: str) -> str:
    """The document of an error: its code and what that means, and in `Details` what happened here."""
    unknown = ("InvalidArgument", "Invalid argument.")
    code, meaning = _CODES.get((status, reason)) or _BY_STATUS.get(status, unknown)
    elements = (("Code", code), ("Message", meaning), ("Details", message))
    return f"<?xml version='1.0' encoding='UTF-8'?>{_element('Error', elements)}"


def error_of(error: ApiError) -> Response:
    """The answer that carries this error."""
    text = error_document(error.status, error.reason, error.message)
    return Response(text, error.status, media_type="application/xml; charset=UTF-8")


def encoded(name: str, encoding: str) -> str:
    """A name as `encoding-type` asks for it."""
    return quote(name, safe="/") if encoding == "url" else name


def given(*elements: Element) -> list[Element]:
    """Those that have a value."""
    return [element for element in elements if element[1] not in ("", None)]


def _element(tag: str, content: str | int | Elements, attributes: str = "") -> str:
    if isinstance(content, (str, int)):
        text = _escape(str(content))
    else:
        text = "".join(_element(name, value) for name, value in content)
    return f"<{tag}{attributes}>{text}</{tag}>" if text else f"<{tag}{attributes}/>"


def _escape(text: str) -> str:
    """Text with references in place of what XML takes for markup, and for control characters."""
    plain = escape(text)
    return "".join(f"&#{ord(char)};" if char < " " or char == "\x7f" else char for char in plain)
