"""Reading a multipart/related body piece by piece."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from localcloud.errors import ApiError
from localcloud.storage.related import Data, Head, Related

Part = tuple[dict[str, str], bytes]


def _read(body: bytes, pieces: list[int]) -> list[Part]:
    """The parts of a body that arrives in pieces of these sizes."""
    parser, parts = Related("limit"), []
    while body:
        size = pieces.pop(0) if pieces else len(body)
        for event in parser.feed(body[:size]):
            if isinstance(event, Head):
                parts.append((dict(event.headers), b""))
            else:
                headers, data = parts[-1]
                parts[-1] = headers, data + event.data
        body = body[size:]
    parser.close()
    return parts


def _body(content: bytes, newline: bytes) -> bytes:
    head = [
        b"--limit",
        b"content-type: application/json",
        b"",
        b"{}",
        b"--limit",
        b"content-type: a/b",
        b"",
        b"",
    ]
    return newline.join(head) + content + newline + b"--limit--"


TRICKY = st.lists(st.sampled_from([b"\r", b"\n", b"-", b"--limit", b"\r\n--limi", b"x"])).map(b"".join)


@settings(deadline=None)
@given(
    content=st.one_of(st.binary(), TRICKY),
    newline=st.sampled_from([b"\r\n", b"\n"]),
    pieces=st.lists(st.integers(1, 20), max_size=80),
)
@example(content=b"\r\n--limitless\r\n--limit", newline=b"\r\n", pieces=[1] * 80)
def test_content_comes_out_as_it_went_in(content: bytes, newline: bytes, pieces: list[int]):
    """Whatever it is, however it arrives, with either line end, unless it holds the boundary itself."""
    if newline + b"--limit" in newline + content + newline + b"-":
        lines = (newline + content).split(newline + b"--limit")[1:]
        if any(rest.lstrip(b" \t")[:1] in (b"", b"\r", b"\n", b"-") for rest in lines):
            return
    parts = _read(_body(content, newline), pieces)
    assert parts == [({"content-type": "application/json"}, b"{}"), ({"content-type": "a/b"}, content)]


def test_content_may_begin_like_the_boundary():
    """A longer line that starts with the boundary is content."""
    content = b"\r\n--limitless\r\n--lim"
    assert _read(_body(content, b"\r\n"), [])[1][1] == content


def test_a_preamble_of_blank_lines_and_an_epilogue_mean_nothing():
    """Some clients send a blank line first."""
    assert len(_read(b"\r\n" + _body(b"x", b"\r\n") + b"\r\nepilogue", [])) == 2


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"--other\r\n\r\n", "does not begin with its boundary"),
        (_body(b"x", b"\r\n")[:-2], "before its closing boundary"),
        (b"", "before its closing boundary"),
        (b"--limit\r\n" + b"a: b\r\n" * 20_000, "longer than"),
        (b"x" * 70_000, "longer than"),
    ],
)
def test_a_body_that_is_none_is_refused(body: bytes, complaint: str):
    """Another boundary, a cut-off body, an endless head."""
    parser = Related("limit")

    def read() -> None:
        list(parser.feed(body))
        parser.close()

    with pytest.raises(ApiError, match=complaint):
        read()


def test_content_is_given_out_while_it_arrives():
    """No more is held back than could be the beginning of a boundary."""
    parser = Related("limit")
    list(parser.feed(_body(b"", b"\r\n")[: -len(b"\r\n--limit--")]))
    (event,) = parser.feed(b"x" * 1000)
    assert isinstance(event, Data)
    assert len(event.data) > 980
