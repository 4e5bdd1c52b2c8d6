"""Calls to the world outside: plain, and over TLS."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import certifi
import pytest

from localcloud.outbound import Outbound, Outgoing, UnreachableError
from tests.notify.channels.mail_server import authority_file, certificate


@asynccontextmanager
async def content(tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server that says 204 to everything; gives its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "localhost", 0, ssl=tls) as server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def keeping(answers: int) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that leaves after so many answers on a connection; gives its URL, and all it was asked."""
    asked: list[bytes] = []
    tasks: list[asyncio.Task[None] | None] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        peer = str(writer.get_extra_info("peername")[1]).encode()
        for _ in range(answers):
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            asked.append(peer + b" " + head)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/path?a=%20b", asked
        finally:
            await asyncio.gather(*filter(None, tasks))


def asked_of(answers: int, *, between: float = 0.0, **headers: str) -> list[bytes]:
    """What such a server is asked by three calls, one after the other."""

    async def go() -> list[bytes]:
        async with keeping(answers) as (url, asked):
            async with Outbound() as outbound:
                for _ in range(3):
                    call = Outgoing(url=url, headers=headers, timeout=timedelta(seconds=10))
                    assert await outbound.post(call) == 200
                    await asyncio.sleep(between)
            return asked

    return asyncio.run(go())


def call(tls: ssl.SSLContext | None = None) -> int:
    """The status of a call to such a server, whose name is localhost."""

    async def go() -> int:
        async with content(tls) as port, Outbound() as outbound:
            url = f"http{'s' if tls else ''}://localhost:{port}/"
            return await outbound.post(Outgoing(url=url, timeout=timedelta(seconds=10)))

    return asyncio.run(go())


def test_a_plain_call_needs_no_certificate():
    """Most go to a function on this machine."""
    assert call() == 204


def test_a_call_over_tls_trusts_whom_the_world_trusts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Only a server with such a certificate hears it."""
    server = certificate("localhost")
    with pytest.raises(UnreachableError, match="CERTIFICATE_VERIFY_FAILED"):
        call(server)
    monkeypatch.setattr(certifi, "where", lambda: authority_file(tmp_path))
    assert call(server) == 204


def test_calls_to_this_machine_share_a_connection():
    """A storm makes thousands of them."""
    asked = asked_of(3)
    assert len({head.split()[0] for head in asked}) == 1
    assert asked[0].split(b" ", 1)[1].startswith(b"POST /path?a=%20b HTTP/1.1\r\n")


def test_a_server_that_has_left_meanwhile_is_called_anew():
    """It may be a function that was started again."""
    asked = asked_of(1, between=0.1)
    assert len({head.split()[0] for head in asked}) == 3


@pytest.mark.parametrize("value", ["a\r\nanother: b", "grün"])
def test_a_header_that_http_cannot_carry_is_not_sent(value: str):
    """An attribute of a message may say so, and would be another header, or none."""
    with pytest.raises(UnreachableError):
        asked_of(1, note=value)


def test_a_server_that_does_not_answer_in_time_is_not_there():
    """Nor is one that leaves half way, or a port on which nobody listens."""

    async def go(sent: bytes, seconds: float) -> None:
        left = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(sent)
            if not sent:
                await reader.read()
            writer.close()
            await writer.wait_closed()
            left.set()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            if not seconds:
                server.close()
                left.set()
            try:
                async with Outbound() as outbound:
                    await outbound.post(Outgoing(url=url, timeout=timedelta(seconds=seconds or 10)))
            finally:
                await left.wait()

    for sent, seconds in ((b"", 0.1), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", 10), (b"", 0)):
        with pytest.raises(UnreachableError):
            asyncio.run(go(sent, seconds))
