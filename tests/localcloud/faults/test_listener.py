"""The listener that every service shares: starting, stopping, and what happens to connections then."""

import asyncio
import errno
import socket
from datetime import timedelta

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.http import Json, Listener, RawRoute, build_app, read_json


async def _echo(request: Request) -> Response:
    return Json({**request.path_params, **await read_json(request)})


ROUTES = [RawRoute("/b/{bucket}/o/{object}", _echo, methods=["GET", "POST"])]


@pytest.mark.parametrize("rounds", range(6))
def test_a_stop_closes_connections_accepted_a_moment_ago(rounds: int):
    """Clients that connect and say nothing, up to the last moment, see their connections end."""

    async def run() -> list[bytes]:
        listener = await Listener(build_app(ROUTES)).start()
        sockets = [socket.create_connection(("127.0.0.1", listener.port), timeout=10) for _ in range(20)]
        for _ in range(rounds):  # so far has the loop come with accepting them
            await asyncio.sleep(0)
        await listener.stop()
        for _ in range(10):  # whatever was still under way would turn up now
            await asyncio.sleep(0)
        assert listener._state.connections == set()
        ends = [_end(connection) for connection in sockets]
        for connection in sockets:
            connection.close()
        return ends

    assert asyncio.run(run()) == [b""] * 20


def _end(connection: socket.socket) -> bytes:
    """What the other side says at the end: nothing, in whatever way it closed."""
    try:
        return connection.recv(1)
    except ConnectionResetError:
        return b""


def test_small_answers_are_not_held_back():
    """Accepted sockets have TCP_NODELAY, so header and body leave at once on a connection that is kept."""

    async def run() -> list[int]:
        async with Listener(build_app(ROUTES)) as listener, httpx.AsyncClient(trust_env=False) as client:
            await client.get(f"{listener.url}/nowhere")
            return [
                connection.transport.get_extra_info("socket").getsockopt(
                    socket.IPPROTO_TCP, socket.TCP_NODELAY
                )
                for connection in listener._state.connections
            ]

    assert asyncio.run(run()) == [1]


def test_many_listeners_share_a_loop():
    """Each gets a port of its own."""

    async def run() -> set[int]:
        listeners = [await Listener(build_app(ROUTES)).start() for _ in range(20)]
        async with httpx.AsyncClient(trust_env=False) as client:
            for listener in listeners:
                assert (await client.get(f"{listener.url}/b/x/o/y")).status_code == 200
        ports = {listener.port for listener in listeners}
        for listener in listeners:
            await listener.stop()
        return ports

    assert len(asyncio.run(run())) == 20


def test_a_port_that_is_taken_is_refused():
    """The error says which address."""

    async def run() -> None:
        async with Listener(build_app(ROUTES)) as listener:
            with pytest.raises(OSError, match=str(listener.port)):
                await Listener(build_app(ROUTES), port=listener.port).start()

    asyncio.run(run())


def test_out_of_file_descriptors_is_got_over(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """It is logged once and tried again later; who waited is let in then."""
    monkeypatch.setattr("localcloud.listener.OUT_OF_FILES_SECONDS", 0.01)

    async def run() -> int:
        async with Listener(build_app(ROUTES)) as listener, httpx.AsyncClient(trust_env=False) as client:
            assert listener._door is not None
            listener._door._socket = _OutOfFiles(listener._door._socket, times=2)
            return (await client.get(f"{listener.url}/b/x/o/y")).status_code

    assert asyncio.run(run()) == 200
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]


class _OutOfFiles:
    """A listening socket that fails a few times to accept."""

    def __init__(self, real: socket.socket, times: int) -> None:
        self._real = real
        self._times = times

    def accept(self) -> tuple[socket.socket, object]:
        if self._times:
            self._times -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return self._real.accept()

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)


def test_after_a_stop_nobody_can_connect_and_a_start_takes_the_same_port():
    """A listener can be stopped and started again; a second stop does nothing."""

    async def run() -> None:
        listener = await Listener(build_app(ROUTES)).start()
        first = listener.port
        await listener.stop()
        await listener.stop()
        async with httpx.AsyncClient(trust_env=False) as client:
            with pytest.raises(httpx.ConnectError):
                await client.get(listener.url)
            await listener.start()
            assert listener.port == first
            assert (await client.get(f"{listener.url}/b/x/o/y")).status_code == 200
        await listener.stop()

    asyncio.run(run())


class _Slow:
    """A route that answers when it is let."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.let = asyncio.Event()

    async def __call__(self, _request: Request) -> Response:
        self.entered.set()
        await self.let.wait()
        return Json({})


async def _stop_with_a_call_running(grace: timedelta, *, finish: bool) -> object:
    slow = _Slow()
    listener = await Listener(build_app([Route("/slow", slow.__call__)])).start()
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        call = asyncio.create_task(client.get(f"{listener.url}/slow"))
        await slow.entered.wait()
        stop = asyncio.create_task(listener.stop(grace=grace))
        if finish:
            slow.let.set()
        await stop
        (outcome,) = await asyncio.gather(call, return_exceptions=True)
        return outcome


def test_a_stop_lets_a_running_call_finish():
    """Within the grace the caller gets its answer."""
    outcome = asyncio.run(_stop_with_a_call_running(timedelta(seconds=30), finish=True))
    assert isinstance(outcome, httpx.Response)
    assert outcome.status_code == 200


def test_a_stop_cuts_a_call_that_does_not_end(caplog):
    """After the grace the connection is cut, and this is not logged as a bug."""
    outcome = asyncio.run(_stop_with_a_call_running(timedelta(milliseconds=1), finish=False))
    assert isinstance(outcome, httpx.TransportError)
    assert caplog.records == []


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2, so probably a gRPC client: the gRPC port is another"),
        (b"\x16\x03\x01\x02\x00\x01\x00", "TLS: the address here begins with http://"),
        (b"hello there\r\n\r\n", "b'hello there\\r\\n\\r\\n'"),
    ],
)
def test_what_is_no_http_is_refused_and_told(caplog, sent: bytes, says: str):
    """With whose it was: a client that has the wrong port would else be looked for in vain."""

    async def run() -> bytes:
        async with Listener(build_app(ROUTES)) as listener:
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
            writer.write(sent)
            answer = await reader.read()
            writer.close()
            return answer

    assert asyncio.run(run()).startswith(b"HTTP/1.1 400")
    assert [record.getMessage().partition("HTTP/1.1: ")[2] for record in caplog.records] == [says]
