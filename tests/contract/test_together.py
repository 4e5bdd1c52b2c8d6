"""Lists that several threads ask for at once are one list, and nobody is told anything stale."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from spotwarden.gcp.compute import ComputeEngine
from spotwarden.gcp.together import Together
from spotwarden.ports import UnansweredError
from tests.contract.worlds import World, new_id, spot

ASKERS = 8
PATIENCE_SECONDS = 30


class Call:
    """A call whose first run waits until everybody else waits for the second."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.began = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, asks: Sequence[int]) -> int:
        """Write down who asked, and say how many calls that makes."""
        self.asked.append(sorted(asks))
        self.began.set()
        assert self.go_on.wait(PATIENCE_SECONDS)
        return len(self.asked)


def crowd(call: Call) -> list[int]:
    """One asks, and while it is answered all others do; what each was told."""
    together = Together(call)
    with ThreadPoolExecutor(ASKERS) as pool:
        first = pool.submit(together.ask, 0)
        assert call.began.wait(PATIENCE_SECONDS)
        others = [pool.submit(together.ask, number) for number in range(1, ASKERS)]
        while together.waiting < ASKERS - 1:
            assert not first.done()
        call.go_on.set()
        return [one.result(PATIENCE_SECONDS) for one in (first, *others)]


def test_who_asks_meanwhile_shares_the_next_call():
    """Two calls for eight who ask, however many they are."""
    call = Call()
    assert crowd(call) == [1] + [2] * (ASKERS - 1)
    assert call.asked == [[0], list(range(1, ASKERS))]


def test_nobody_is_given_an_answer_that_began_before_it_asked():
    """One after the other, each has a call of its own."""
    call = Call()
    call.go_on.set()
    together = Together(call)
    assert [together.ask(number) for number in range(3)] == [1, 2, 3]


def test_an_error_is_everybodys_who_asked_and_nobody_elses():
    """The next call is made as if nothing had been."""
    answers = iter([UnansweredError("no"), "fine"])

    def call(_asks: Sequence[int]) -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    together = Together(call)
    with pytest.raises(UnansweredError):
        together.ask(1)
    assert together.ask(2) == "fine"


def test_each_is_given_what_it_asked_for(world: World):
    """However the lists are put together: by name, by job, all, and the log from then on."""
    for number in range(ASKERS):
        world.compute.launch(spot(f"node-{number}", job=f"job-{number}"), new_id())
    barrier = threading.Barrier(ASKERS)

    def look(number: int) -> list[list[str]]:
        barrier.wait()
        found = [
            world.compute.instances(names=[f"node-{number}"]),
            world.compute.instances(job=f"job-{number}"),
            world.compute.instances() if number == 0 else world.compute.instances(names=["nobody"]),
        ]
        return [[one.name for one in listed.items] for listed in found]

    with ThreadPoolExecutor(ASKERS) as pool:
        told = list(pool.map(look, range(ASKERS)))
    everybody = [f"node-{number}" for number in range(ASKERS)]
    assert told[0] == [["node-0"], ["node-0"], everybody]
    assert told[1:] == [[[f"node-{number}"], [f"node-{number}"], []] for number in range(1, ASKERS)]


def test_each_log_begins_where_it_was_asked_to(compute: ComputeEngine, google):
    """Though one call reads it for both, from the earlier moment on."""
    times = [datetime(2026, 1, 5, 20, minute, tzinfo=UTC) for minute in (0, 30)]
    link = "https://x/zones/z/instances/"
    logged = [
        {"name": f"o-{at.minute}", "targetLink": f"{link}n-{at.minute}", "insertTime": at.isoformat()}
        for at in times
    ]
    google.say({"items": {"zones/z": {"operations": logged}}})
    told = [[one.target_name for one in compute.operations(at).items] for at in times]
    assert told == [["n-0", "n-30"], ["n-30"]]
