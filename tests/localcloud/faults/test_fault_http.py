"""What a rule does to calls over HTTP."""

import asyncio
from collections.abc import Awaitable, Callable

from localcloud.faults import Rule
from tests.localcloud.faults.conftest import World

Play = Callable[[Callable[[World], Awaitable[None]]], None]


def test_without_a_rule_nothing_happens(play: Play):
    """Calls go through."""

    async def scenario(world: World) -> None:
        answer = await world.ask()
        assert answer is not None
        assert answer.json() == {"worked": 1}

    play(scenario)


def test_a_status_is_answered_before_the_work(play: Play):
    """The caller sees Google's body, and the service never saw the call."""

    async def scenario(world: World) -> None:
        world.faults.add(Rule(status=503, count=1, retry_after_seconds=7))
        answer = await world.ask("POST")
        assert answer is not None
        assert answer.status_code == 503
        assert answer.json()["error"]["errors"][0]["reason"] == "backendError"
        assert answer.headers["retry-after"] == "7"
        assert world.worked == []

    play(scenario)


def test_no_retry_after_is_sent_unless_asked_for(play: Play):
    """Compute and Storage send none, so the default has none."""

    async def scenario(world: World) -> None:
        world.faults.add(Rule(status=503))
        answer = await world.ask()
        assert answer is not None
        assert "retry-after" not in answer.headers

    play(scenario)


def test_a_connection_is_cut_before_the_work(play: Play):
    """The caller gets no answer, nothing was done, and the next call on a new connection goes through."""

    async def scenario(world: World) -> None:
        world.faults.add(Rule(cut=True, count=1))
        assert await world.ask("POST") is None
        assert world.worked == []
        assert await world.ask("POST") is not None

    play(scenario)


def test_an_answer_is_lost_after_success(play: Play):
    """The caller gets no answer although the work was done."""

    async def scenario(world: World) -> None:
        world.faults.add(Rule(cut=True, after_work=True, count=1))
        assert await world.ask("POST") is None
        assert world.worked == ["POST /compute/v1/zones"]

    play(scenario)


def test_success_is_answered_with_an_error(play: Play):
    """The caller is told 503 although the work was done."""

    async def scenario(world: World) -> None:
        world.faults.add(Rule(status=503, after_work=True, count=1))
        answer = await world.ask("POST")
        assert answer is not None
        assert answer.status_code == 503
        assert world.worked == ["POST /compute/v1/zones"]

    play(scenario)


def _delayed(play: Play, *, after_work: bool, monkeypatch) -> list[str]:
    """The order of the work and of the wait, whose length must be the rule's."""
    order: list[str] = []

    async def sleep(seconds: float) -> None:
        order.append(f"{seconds} s, work done: {len(world_now[0].worked)}")

    world_now: list[World] = []

    async def scenario(world: World) -> None:
        world_now.append(world)
        world.faults.add(Rule(path="/compute", delay_seconds=5, after_work=after_work))
        with monkeypatch.context() as patch:
            patch.setattr("localcloud.faults.rule.asyncio", _Asyncio(sleep))
            answer = await world.ask()
        assert answer is not None
        assert answer.json() == {"worked": 1}

    play(scenario)
    return order


class _Asyncio:
    def __init__(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        self.sleep = sleep


def test_a_call_is_delayed_before_the_work(play: Play, monkeypatch):
    """The service sees the call only after the delay."""
    assert _delayed(play, after_work=False, monkeypatch=monkeypatch) == ["5.0 s, work done: 0"]


def test_an_answer_is_delayed_after_the_work(play: Play, monkeypatch):
    """The work is done at once, the answer comes late."""
    assert _delayed(play, after_work=True, monkeypatch=monkeypatch) == ["5.0 s, work done: 1"]


def test_a_delayed_call_does_not_hold_up_others(play: Play):
    """While one call waits, another is answered."""

    async def scenario(world: World) -> None:
        world.faults.add(Rule(path="/slow", delay_seconds=3600))
        slow = asyncio.create_task(world.ask(path="/compute/v1/slow"))
        assert await world.ask() is not None
        assert not slow.done()
        slow.cancel()

    play(scenario)


def test_the_admin_api_adds_lists_and_removes_rules(play: Play):
    """What POST puts in force, GET shows with its hits, and DELETE ends, one or all."""

    async def scenario(world: World) -> None:
        rule = {"service": "compute", "status": 503, "count": 2}
        added = (await world.client.post("/local/faults", json=rule)).json()
        assert added["rule"] == rule
        await world.ask()
        (listed,) = (await world.client.get("/local/faults")).json()["faults"]
        assert (listed["hits"], listed["left"]) == (1, 1)
        await world.client.delete(f"/local/faults/{added['id']}")
        assert (await world.client.get("/local/faults")).json() == {"faults": []}
        world.faults.add(Rule(cut=True))
        await world.client.delete("/local/faults")
        assert await world.ask() is not None

    play(scenario)


def test_the_admin_api_is_never_hit(play: Play):
    """With every call cut, a person can still end the rule."""

    async def scenario(world: World) -> None:
        world.faults.add(Rule(cut=True))
        assert await world.ask() is None
        assert (await world.client.delete("/local/faults")).status_code == 200
        assert await world.ask() is not None

    play(scenario)


def test_the_admin_api_refuses_nonsense_with_the_reason(play: Play):
    """A bad rule is 400 and says why; an unknown id is 404 and says where to look."""

    async def scenario(world: World) -> None:
        bad = await world.client.post("/local/faults", content=b'{"status": "often"}')
        assert bad.status_code == 400
        assert "status" in bad.json()["error"]["message"]
        gone = await world.client.delete("/local/faults/77")
        assert gone.status_code == 404
        assert "GET /local/faults" in gone.json()["error"]["message"]

    play(scenario)
