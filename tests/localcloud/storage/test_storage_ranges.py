"""The two range headers."""

import pytest

from localcloud.errors import ApiError
from localcloud.storage.ranges import Piece, Span, read_content_range, read_range


@pytest.mark.parametrize(
    ("header", "span"),
    [
        ("bytes=0-4", Span(0, 5)),
        ("bytes=5-", Span(5, 10)),
        ("bytes=-3", Span(7, 10)),
        ("bytes=-30", Span(0, 10)),
        ("bytes=8-99", Span(8, 10)),
        ("bytes=0-0", Span(0, 1)),
        ("bytes=9-9", Span(9, 10)),
    ],
)
def test_a_range_is_cut_to_the_object(header: str, span: Span):
    """First to last, from, last n; never beyond the end."""
    assert read_range(header, 10) == span


@pytest.mark.parametrize("header", ["bytes=0-1,4-5", "lines=0-1", "bytes=-", "bytes=5-2", "nonsense"])
def test_a_range_nobody_understands_means_everything(header: str):
    """RFC 9110: an invalid Range header is ignored."""
    assert read_range(header, 10) is None


@pytest.mark.parametrize(
    ("header", "size"), [("bytes=10-", 10), ("bytes=11-12", 10), ("bytes=0-", 0), ("bytes=-0", 9)]
)
def test_a_range_with_nothing_in_it_is_refused(header: str, size: int):
    """It is 416, also for an empty object."""
    with pytest.raises(ApiError) as refused:
        read_range(header, size)
    assert refused.value.status == 416


@pytest.mark.parametrize(
    ("header", "length", "piece"),
    [
        ("", 10, Piece(start=0)),
        ("bytes 0-9/10", 10, Piece(start=0, end=10, total=10)),
        ("bytes 0-9/*", 10, Piece(start=0, end=10)),
        ("bytes 5-*/*", None, Piece(start=5)),
        ("bytes 5-*/20", 15, Piece(start=5, total=20)),
        ("bytes */10", 0, Piece(total=10)),
        ("bytes */*", 0, Piece()),
        ("bytes */0", 0, Piece(total=0)),
    ],
)
def test_a_content_range_says_what_a_piece_is(header: str, length: int | None, piece: Piece):
    """A piece, the last piece, an open end, a question."""
    assert read_content_range(header, length) == piece


@pytest.mark.parametrize(
    ("header", "length"),
    [("bytes 0-9/5", 10), ("bytes 0-9/*", 11), ("bytes 9-0/*", 10), ("bytes=0-9", 10), ("0-9/10", 10)],
)
def test_a_content_range_that_contradicts_itself_is_refused(header: str, length: int):
    """Beyond the total, another Content-Length, backwards, another syntax."""
    with pytest.raises(ApiError) as refused:
        read_content_range(header, length)
    assert refused.value.status == 400
