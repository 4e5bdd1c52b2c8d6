"""The HTTP start-up that every service shares: error bodies, raw paths, starting and stopping."""

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from datetime import timedelta

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.errors import ApiError
from localcloud.http import Json, Listener, RawRoute, build_app, read_json


async def _echo(request: Request) -> Response:
    return Json({**request.path_params, **await read_json(request)})


async def _refuse(_request: Request) -> Response:
    raise ApiError(412, "conditionNotMet", "It did not hold.")


async def _fail(_request: Request) -> Response:
    raise KeyError("lost")


ROUTES = [
    RawRoute("/b/{bucket}/o/{object}", _echo, methods=["GET", "POST"]),
    Route("/refuse", _refuse),
    Route("/fail", _fail),
]


def _ask(scenario: Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]) -> httpx.Response:
    async def run() -> httpx.Response:
        async with (
            Listener(build_app(ROUTES)) as listener,
            httpx.AsyncClient(base_url=listener.url, trust_env=False, timeout=10) as client,
        ):
            return await scenario(client)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("a%2Fb", "a/b"),
        ("a%252Fb", "a%2Fb"),
        ("..%2F..%2Fx", "../../x"),
        ("a%20b%23%3F", "a b#?"),
        ("%C3%BC%F0%9F%90%A2", "ü🐢"),
        ("%2F", "/"),
    ],
)
def test_a_raw_route_takes_a_segment_as_it_was_sent(sent: str, name: str):
    """An encoded slash is part of the name, an encoded percent sign is decoded once."""
    answer = _ask(lambda client: client.get(f"/b/bucket/o/{sent}"))
    assert answer.json() == {"bucket": "bucket", "object": name}


def test_a_raw_route_does_not_take_a_bare_slash():
    """A slash that is not encoded separates segments, so this is another path."""
    assert _ask(lambda client: client.get("/b/bucket/o/a/b")).status_code == 404


def test_a_segment_that_is_not_utf8_is_refused():
    """It is the caller's mistake, and the answer names the segment."""
    answer = _ask(lambda client: client.get("/b/bucket/o/%FF"))
    assert answer.status_code == 400
    assert "'%FF'" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status", "reason", "says"),
    [
        ("GET", "/refuse", 412, "conditionNotMet", "It did not hold."),
        ("GET", "/nowhere", 404, "notFound", "GET /nowhere"),
        ("DELETE", "/b/x/o/y", 405, "httpMethodNotAllowed", "GET, HEAD, POST"),
        ("GET", "/fail", 500, "internalError", "KeyError"),
    ],
)
def test_every_failure_has_googles_error_body(method: str, path: str, status: int, reason: str, says: str):
    """Refusals, unknown paths, wrong methods and bugs: status, code, reason and a sentence that helps."""
    answer = _ask(lambda client: client.request(method, path))
    error = answer.json()["error"]
    assert answer.status_code == error["code"] == status
    assert error["errors"][0]["reason"] == reason
    assert says in error["message"]


@pytest.mark.parametrize("body", [b"{", b"[]", b'"text"', b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(body: bytes):
    """It is 400 parseError, never a bug of ours."""
    answer = _ask(lambda client: client.post("/b/x/o/y", content=body))
    assert answer.status_code == 400
    assert answer.json()["error"]["errors"][0]["reason"] == "parseError"


def test_a_call_after_a_bug_works():
    """The connection that carried a 500 is closed by agreement, so a client does not run into it."""

    async def scenario(client: httpx.AsyncClient) -> httpx.Response:
        await client.get("/fail")
        return await client.post("/b/x/o/y")

    assert _ask(scenario).status_code == 200


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
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
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
