"""The limits in force, and the path that changes them."""

import asyncio
from typing import Any

import httpx
import msgspec
import pytest
from starlette.applications import Starlette

from localcloud.http import build_app
from localcloud.limits import OFF, Limits, LimitsBook

PATH = "/local/limits"


def play(*calls: tuple[str, object], app: Starlette) -> list[httpx.Response]:
    """The answers to these calls."""

    async def story() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://local") as http:
            return [await http.request(method, PATH, json=body) for method, body in calls]

    return asyncio.run(story())


def builtins(limits: Limits) -> dict[str, Any]:
    """As JSON has them."""
    return dict(msgspec.to_builtins(limits))


def test_the_limits_are_a_knob() -> None:
    """Shown, put back to what Google has, changed one at a time, lifted; whoever follows hears of each."""
    book, heard = LimitsBook(), list[Limits]()
    book.follow(heard.append)
    app = build_app(book.admin_routes())
    calls: list[tuple[str, object]] = [
        ("GET", None),
        ("POST", {}),
        ("POST", {"object_writes": 3}),
        ("DELETE", None),
    ]
    shown = [answer.json() for answer in play(*calls, app=app)]
    changed = Limits(object_writes=3)
    assert shown == [builtins(limits) for limits in (OFF, Limits(), changed, OFF)]
    assert heard == [OFF, Limits(), changed, OFF]
    assert book.now == OFF


@pytest.mark.parametrize("body", [{"objects": 3}, {"object_writes": -1}, {"doubled": 2}, {"seed": "x"}, [1]])
def test_what_is_no_limit_is_refused_and_changes_nothing(body: object) -> None:
    """In words."""
    book = LimitsBook()
    (answer,) = play(("POST", body), app=build_app(book.admin_routes()))
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("These are no limits: ")
    assert book.now == OFF


def test_off_lifts_everything() -> None:
    """Whatever is added to the limits."""
    assert {name: value for name, value in builtins(OFF).items() if value} == {}
