"""Serves an app on loopback, inside the running event loop: uvicorn's protocol behind a socket of our own.

uvicorn's own start-up takes over signals and polls ten times a second, and asyncio's server loses
connections that it accepted just before it was closed. With hundreds of listeners neither will do.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Self

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from localcloud.access import Owner, Rules, owner
from localcloud.access.gate import ABSOLUTE, STRANGER, Gate
from localcloud.faults import CUT

HOST = "127.0.0.1"
BACKLOG = 2048
# Longer than any client pools a connection: a server that closes first makes a client's next POST fail.
KEEP_ALIVE_SECONDS = 600
STOP_GRACE = timedelta(seconds=2)
OUT_OF_FILES_SECONDS = 1.0
"""How long nobody is let in after the process ran out of file descriptors."""

_log = logging.getLogger(__name__)
SHOWN = 40
HTTP2 = b"PRI * HTTP/2"
TLS = b"\x16\x03"


def _told(data: bytes) -> str:
    """What came instead of HTTP/1.1, in words where it is known."""
    if data.startswith(HTTP2):
        return "HTTP/2, so probably a gRPC client: the gRPC port is another"
    if data.startswith(TLS):
        return "TLS: the address here begins with http://"
    return repr(data[:SHOWN])


class Door:
    """A listening socket; each connection it accepts gets a protocol."""

    def __init__(self, connect: Callable[[], asyncio.Protocol], port: int) -> None:
        self._connect = connect
        self._loop = asyncio.get_running_loop()
        self._socket = socket.create_server((HOST, port), backlog=BACKLOG)
        self._socket.setblocking(False)
        self._entering: set[asyncio.Task[object]] = set()
        self._open = True
        self._listen()

    @property
    def port(self) -> int:
        """Where it is."""
        return int(self._socket.getsockname()[1])

    async def close(self) -> None:
        """Let nobody in any more; when this returns, whoever was accepted has a protocol."""
        self._open = False
        self._loop.remove_reader(self._socket)
        self._socket.close()
        await asyncio.gather(*self._entering, return_exceptions=True)

    def _listen(self) -> None:
        if self._open:
            self._loop.add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:  # out of file descriptors, most likely: asking again at once would only burn time
            _log.exception("port %d takes no connection for %.0f s", self.port, OUT_OF_FILES_SECONDS)
            self._loop.remove_reader(self._socket)
            self._loop.call_later(OUT_OF_FILES_SECONDS, self._listen)
            return
        connection.setblocking(False)
        # Head and body of an answer are two writes: Nagle's algorithm would hold the second back for 40 ms.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        enter = self._loop.connect_accepted_socket(self._connect, connection)
        task: asyncio.Task[object] = self._loop.create_task(enter)
        self._entering.add(task)
        task.add_done_callback(self._entering.discard)


class _Protocol(HttpToolsProtocol):
    """Hands the fault middleware the means to cut a connection, and the gate what it cannot see itself."""

    owner: Owner

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        self._newest = b""
        self._stranger = self.owner.refusal_of(transport)

    def data_received(self, data: bytes) -> None:
        self._newest = data
        super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        here, there = self.server or ("", 0), self.client or ("", 0)
        _log.warning(
            "port %s refused what port %s sent, which is not HTTP/1.1: %s",
            here[1],
            there[1],
            _told(self._newest),
        )
        super().send_400_response(msg)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        told: dict[str, Any] = {CUT: {"abort": self.transport.abort}, STRANGER: self._stranger}
        self.scope["extensions"] = told

    def on_headers_complete(self) -> None:
        told: dict[str, Any] = self.scope["extensions"]
        told[ABSOLUTE] = not self.url.startswith(b"/")
        super().on_headers_complete()


class Listener:
    """Serves one app: no signal handlers, no access log, no polling. Any number can run in one loop.

    It answers its owner's programs and pages only, and what keeps to the rules of this door.
    """

    def __init__(
        self, app: ASGIApp, *, port: int = 0, rules: Rules | None = None, user: Owner | None = None
    ) -> None:
        self._owner = user or owner()
        # The client of a proxy has no place for a token: it sends whole URLs of others.
        self._prefix = "" if rules and rules.proxy else self._owner.prefix
        self._app = Gate(app, rules or Rules(), prefix=self._prefix)
        self._port = port
        self._state = ServerState()
        self._door: Door | None = None
        self._stopping = False

    @property
    def port(self) -> int:
        """The port it really listens on; 0 before `start` when any was asked for."""
        return self._port

    @property
    def url(self) -> str:
        """The base URL, without a slash at the end; it carries the token, where there has to be one."""
        return f"http://{HOST}:{self._port}{self._prefix}"

    async def start(self) -> Self:
        """Listen; when this returns, a client can connect.

        Raises:
            OSError: the port is taken or not ours to use.
        """
        config = uvicorn.Config(
            self._serve,
            http=_Protocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        config.load()
        # Its warnings don't say what was invalid, and recommend packages; ours do.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)

        def connect() -> asyncio.Protocol:
            protocol = _Protocol(config=config, server_state=self._state, app_state={})
            protocol.owner = self._owner
            return protocol

        self._stopping = False
        try:
            self._door = Door(connect, self._port)
        except OSError as error:
            raise OSError(error.errno, f"cannot listen on {HOST}:{self._port}: {error.strerror}") from error
        self._port = self._door.port
        return self

    async def stop(self, *, grace: timedelta = STOP_GRACE) -> None:
        """Refuse new connections, let running calls finish for at most `grace`, then cut what is left.

        Does nothing when it does not run.
        """
        if self._door is None:
            return
        door, self._door = self._door, None
        await door.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        if self._state.tasks:
            await asyncio.wait(self._state.tasks, timeout=grace.total_seconds())
        await self._cut_the_rest()

    async def _cut_the_rest(self) -> None:
        self._stopping = True
        for connection in list(self._state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        tasks = list(self._state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # connection_lost of an aborted transport runs in the next round of the loop

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            # `stop` cancels a call after cutting its connection; raised on, uvicorn would log a bug.
            if not self._stopping:
                raise

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_exc: object) -> None:
        await self.stop()
