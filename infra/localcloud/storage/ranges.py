"""The two range headers: `Range` of a download, `Content-Range` of a resumable upload (RFC 9110)."""

import re
from dataclasses import dataclass

from localcloud.errors import ApiError

SMALLEST_PIECE = 256 * 1024


@dataclass(frozen=True)
class Span:
    """Bytes from `start` to before `end`."""

    start: int
    end: int


def read_range(header: str, size: int) -> Span | None:
    """What part of `size` bytes is asked for; None for all of it, as after a header nobody can parse.

    Raises:
        ApiError: 416 when there is not a byte in that range.
    """
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", header.strip())
    if not match or match[0] == "bytes=-":
        return None
    first, last = match[1], match[2]
    if not first:
        start, end = max(size - int(last), 0), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
    if first and last and int(last) < int(first):
        return None
    if start >= end:
        raise ApiError(416, "requestedRangeNotSatisfiable", "Request range not satisfiable")
    return Span(start, end)


@dataclass(frozen=True, kw_only=True)
class Piece:
    """What a request of a resumable upload brings.

    `start` None: nothing, it asks how far the upload is. `end` None: all up to the end of its body,
    which then ends the upload, too. `total` None: not known yet.
    """

    start: int | None = None
    end: int | None = None
    total: int | None = None


def read_content_range(header: str, length: int | None) -> Piece:
    """What a request with this Content-Range and Content-Length brings; with neither, the whole upload.

    Raises:
        ApiError: 400 when the headers make no sense.
    """
    if not header:
        return Piece(start=0)
    match = re.fullmatch(r"bytes (?:(\d+)-(\d+|\*)|\*)/(\d+|\*)", header.strip())
    if not match:
        raise _invalid(header)
    first, last, size = match[1], match[2], match[3]
    piece = Piece(
        start=None if first is None else int(first),
        end=None if last in (None, "*") else int(last) + 1,
        total=None if size == "*" else int(size),
    )
    if not _sensible(piece, length):
        raise _invalid(header)
    return piece


def check_size(piece: Piece) -> None:
    """Refuse a piece, other than the last one, that is smaller than 256 KiB, as Cloud Storage words it.

    Its page "Resumable uploads" asks for multiples; Google's tests of its clients show what is refused.

    Raises:
        ApiError: 400.
    """
    if piece.start is None or piece.end is None or piece.end == piece.total:
        return
    size = piece.end - piece.start
    if size < SMALLEST_PIECE:
        message = (
            "Invalid request.  The number of bytes uploaded is required to be equal or greater than "
            f"{SMALLEST_PIECE}, except for the final request (it's recommended to be the exact multiple of "
            f"{SMALLEST_PIECE}).  The received request contained {size} bytes, which does not meet this "
            "requirement."
        )
        raise ApiError(400, "invalid", message)


def _sensible(piece: Piece, length: int | None) -> bool:
    if piece.start is None or piece.end is None:
        return True
    return (
        piece.start < piece.end
        and (piece.total is None or piece.end <= piece.total)
        and (length is None or length == piece.end - piece.start)
    )


def _invalid(header: str) -> ApiError:
    message = (
        f"Invalid Content-Range header: '{header}'; it must fit the upload's size and the Content-Length."
    )
    return ApiError(400, "invalid", message, location="Content-Range")
