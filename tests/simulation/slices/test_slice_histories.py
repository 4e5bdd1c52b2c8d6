"""Histories of a TPU slice, played by the real sweep of recover_spot."""

import json
import os
from pathlib import Path

import pytest

from tests.simulation.slices.blows import draw
from tests.simulation.slices.play import play, play_seed

HISTORIES = int(os.environ.get("SPOTWARDEN_SLICE_HISTORIES") or "200")
FOUND = [json.loads(line) for line in Path(__file__).with_name("found.jsonl").read_text().splitlines()]


def test_whatever_befalls_a_slice_it_runs_whole_or_was_ended(recover):
    """Nothing of it is left behind, nor is a slice deleted to which nothing happened."""
    failed = [
        f"{number}: {wrong}" for number in range(HISTORIES) if (wrong := play_seed(recover, f"test/{number}"))
    ]
    assert failed == []


@pytest.mark.parametrize("line", FOUND, ids=[line["what"] for line in FOUND])
def test_a_history_that_failed_once_holds(recover, line):
    """Each was wrong before what it names was mended."""
    assert play(recover, line["model"], line["blows"]) == ""


def test_histories_have_all_that_may_befall_a_slice():
    """None of the blows is drawn so seldom that it isn't played."""
    blows = [blow for number in range(HISTORIES) for blow in draw(f"test/{number}")[1]]
    names = {blow[0] for blow in blows}
    assert names >= {"preempt", "host", "delete_vm", "delete_group", "delete_policy", "delete_template"}
    assert names >= {"forget", "lag", "stock_out", "restock", "sweep", "rule"}
    assert {blow[3] for blow in blows if blow[0] == "sweep"} >= {"kill", "offline", "sweep", "blow"}
