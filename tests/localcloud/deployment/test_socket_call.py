"""What a function's socket answers arrives as it was sent, and half an answer is none."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from localcloud.deployment.front import Front
from localcloud.deployment.processes import url_of
from localcloud.place import Place
from tests.localcloud.deployment.test_processes import HEADERS, TIMEOUT_SECONDS, row

EVENT = {**HEADERS, "content-type": "application/json"}


@contextlib.asynccontextmanager
async def fronted(folder: Path, *pieces: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A front before a function that sends these pieces and leaves; gives its URL, and what it was asked."""
    place, asked = Place(), list[bytes]()
    front = Front(row("echo"), place, folder)

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(
            line.split(b":")[1] for line in head.lower().splitlines() if line.startswith(b"content-length")
        )
        asked.extend([head, await reader.readexactly(int(size))])
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        writer.close()

    server = await asyncio.start_unix_server(respond, front.socket)
    await front.start()
    try:
        yield url_of(place), asked
    finally:
        await front.stop()
        server.close()
        place.close()


def call(
    folder: Path, *pieces: bytes, method: str = "POST", path: str = "", body: bytes = b"{}"
) -> tuple[httpx.Response, list[bytes]]:
    """What is answered, and what the function was asked."""

    async def story() -> tuple[httpx.Response, list[bytes]]:
        async with (
            fronted(folder, *pieces) as (url, asked),
            httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as client,
        ):
            return await client.request(method, url + path, headers=EVENT, content=body), asked

    return asyncio.run(story())


HEAD = b"HTTP/1.1 418 I'm a teapot\r\nX-Kind: a\r\nX-Kind: b\r\nConnection: close\r\n"
WHOLE = {
    "with its length": [HEAD + b"Content-Length: 5\r\n\r\nwhole"],
    "byte by byte": [bytes([byte]) for byte in HEAD + b"content-length: 5\r\n\r\nwhole"],
    "in chunks": [HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\nwh\r\n", b"3\r\nole\r\n0\r\n\r\n"],
    "to the end of the connection": [HEAD + b"\r\nwh", b"ole"],
}


@pytest.mark.parametrize("pieces", WHOLE.values(), ids=WHOLE)
def test_an_answer_arrives_whole_however_it_is_sent(tmp_path: Path, pieces: list[bytes]) -> None:
    """With its status and headers, but for those that belong to a connection."""
    answer, _ = call(tmp_path, *pieces)
    assert (answer.status_code, answer.content) == (418, b"whole")
    assert answer.headers.get_list("x-kind") == ["a", "b"]


BROKEN = {
    "nothing": [],
    "half a head": [HEAD],
    "half a body": [HEAD + b"content-length: 9\r\n\r\nhalf"],
    "half its chunks": [HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\nwh\r\n"],
    "no HTTP": [b"nonsense\r\n\r\n"],
}


@pytest.mark.parametrize("pieces", BROKEN.values(), ids=BROKEN)
def test_whoever_leaves_before_the_end_cuts_the_caller_off(
    tmp_path: Path, pieces: list[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """As a function that dies does: what was pushed comes again. No fault of the local cloud's is logged."""
    with pytest.raises(httpx.TransportError):
        call(tmp_path, *pieces)
    assert caplog.records == []


@pytest.mark.parametrize(
    "pieces",
    [[HEAD + b"content-length: 5\r\n\r\n"], [b"HTTP/1.1 204 No Content\r\n\r\n"]],
    ids=["HEAD", "204"],
)
def test_an_answer_without_a_body_is_not_waited_for(tmp_path: Path, pieces: list[bytes]) -> None:
    """A HEAD's tells the length of what a GET would give."""
    answer, _ = call(tmp_path, *pieces, method="HEAD")
    assert (answer.status_code, answer.content) == (418 if b"418" in pieces[0] else 204, b"")


def test_a_function_is_asked_just_as_the_caller_asks(tmp_path: Path) -> None:
    """Path and query as they were sent, with the whole body."""
    body = bytes(range(256)) * 4096
    _, [head, sent] = call(tmp_path, *WHOLE["in chunks"], path="/a%2Fb?c=%20d", body=body)
    assert head.startswith(b"POST /a%2Fb?c=%20d HTTP/1.1\r\n")
    assert b"\r\ncontent-type: application/json\r\n" in head.lower()
    assert sent == body
