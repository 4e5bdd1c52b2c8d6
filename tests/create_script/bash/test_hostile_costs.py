"""No stored script, however it is written, costs more than a second of processor time or 128 MB."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotwarden.create_script import ScriptRefused
from spotwarden.create_script.bash.evaluator.script import run_script
from spotwarden.create_script.bash.limits import MAX_NODES, MAX_STEPS, MAX_TEXT, Budget
from tests.create_script.hostile import GROWTH, MATCHES, RUNS, hostile
from tests.create_script.hostile_launches import LAUNCHES
from tests.create_script.hostile_places import FRAMES, UNITS
from tests.long import ALL, examples

MOST_SECONDS = 1.0
BUSY = 8
MOST_BYTES = 128 * 1024 * 1024
HOME = Path(__file__).parents[3]
BY_HAND = {**MATCHES, **GROWTH, **RUNS, **LAUNCHES}


def _costs(names: list[str]) -> list[dict[str, float]]:
    """What each of these takes, measured in a process of its own that cannot outlive its limits."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.create_script.hostile", *names],
        cwd=HOME,
        env={**os.environ, "PYTHONPATH": f"{HOME / 'shared'}:{HOME}"},
        capture_output=True,
        check=True,
        timeout=600,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def _names() -> list[str]:
    """All of them where that is asked for; else every third by hand, and every 27th that is pumped."""
    names = [name for name, _ in hostile()]
    by_hand = len(BY_HAND)
    return names if ALL else [*names[:by_hand:3], *names[by_hand::27]]


def test_no_hostile_script_takes_more_than_a_second_or_128_megabytes():
    """Processor time and the largest memory as the kernel counts them; none dies of a limit instead."""
    names = _names()
    costs = _costs(names)
    assert [cost["name"] for cost in costs] == names
    assert len(names) >= 60
    assert {
        cost["name"]: cost for cost in costs if cost["cpu"] > MOST_SECONDS or cost["rss"] > MOST_BYTES
    } == {}
    assert [cost["name"] for cost in costs if cost["status"]] == []


@pytest.mark.parametrize("name", ["a loop", "doubled values", "a long arithmetic", "names of variables"])
def test_what_uses_up_its_budget_is_refused_with_its_line(name: str):
    """A person has to find the place."""
    text = f"# first line\n{BY_HAND[name]}\n".encode()
    with pytest.raises(ScriptRefused) as caught:
        run_script(text, files={}, environment={})
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("r='(a*)\\1'\n[[ aaaa =~ $r ]]", "has a back-reference"),
        ("[[ aaaa =~ a{1001} ]]", "repeats more than 1000 times"),
        ("[[ aaaa =~ (.{999}){999} ]]", "cannot be matched in bounded time"),
        ("[[ aaaa == a!(b) ]]", r"`!\(…\)` beside other signs"),
    ],
)
def test_what_no_bounded_matching_can_say_is_refused_with_its_line(script: str, reason: str):
    """RE2 does not know references back, and its programs have a size."""
    with pytest.raises(ScriptRefused, match=reason) as caught:
        run_script(f"\n{script}\n".encode(), files={}, environment={})
    assert caught.value.line == 2 + script.count("\n")


@pytest.mark.parametrize(
    "name", ["alternatives in a loop", "optional signs", "a case of plusses", "loops in a loop"]
)
def test_an_expression_that_takes_others_forever_is_answered(name: str):
    """It is understood, and no longer refused for how it looks."""
    budget = Budget()
    run_script(BY_HAND[name].encode(), files={}, environment={}, budget=budget)
    assert budget.spent[2] < MAX_TEXT


def test_arithmetic_that_asks_for_itself_again_and_again_is_charged():
    """Three short lines, 360,000 evaluations."""
    script = f"a={'b+' * 600}b; b={'c+' * 600}c; c=1\n((a))\n"
    with pytest.raises(ScriptRefused, match="grow beyond"):
        run_script(script.encode(), files={}, environment={})


def _cost(text: bytes) -> tuple[Budget, float]:
    budget = Budget()
    before = time.process_time()
    try:
        run_script(text, files={"x.txt": b"l1\nl2 b\nl3"}, environment={}, budget=budget)
    except ScriptRefused as refused:
        assert refused.reason
    return budget, time.process_time() - before


REPEATED = st.builds(lambda unit, count: unit * count, st.sampled_from(UNITS), st.integers(1, 3_000))
FRAMED = st.builds(
    lambda frame, body: frame[0] + body + frame[1],
    st.sampled_from(
        [
            *FRAMES,
            ("x=aaaa\nwhile :; do x=$x$x\n", "\ndone"),
            ("a=({1..999})\nfor i in ${a[@]}; do ", "\ndone"),
        ]
    ),
    st.lists(REPEATED, min_size=1, max_size=4).map("".join),
)


@settings(max_examples=examples(150), deadline=None)
@given(text=st.lists(FRAMED, min_size=1, max_size=3).map("\n".join))
def test_no_mixture_of_shapes_costs_more_than_its_budget(text: str):
    """The steps that are charged end it, and no charge is so small that the time runs away."""
    budget, seconds = _cost(text.encode())
    nodes, steps, characters = budget.spent
    assert nodes <= MAX_NODES + 1
    assert steps <= MAX_STEPS + 1
    # One charge may ask for more than there is. A busy machine takes longer for the same steps.
    assert characters < 2 * MAX_TEXT or seconds < MOST_SECONDS
    assert seconds < BUSY * MOST_SECONDS
