"""The app that every service is part of: raw paths and error bodies."""

import asyncio
from collections.abc import Awaitable, Callable

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


DEEP = pytest.param(b"[" * 100_000, id="deeper than Python goes")


@pytest.mark.parametrize("body", [b"{", b"[]", b'"text"', b"\xff", DEEP])
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
