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
