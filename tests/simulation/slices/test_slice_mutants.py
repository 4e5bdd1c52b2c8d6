"""Recovery of slices, broken on purpose: the judge of the histories finds it."""

import pytest

from tests.simulation.mutants import MUTANTS, SLICES
from tests.simulation.slices.play import play

PREEMPTED = [("settle",), ("preempt", 0), ("pass", 60)]
ENDED = [("settle",), ("delete_group",)]
NO_ROOM = [("stock_out", 0), ("sweep", 0, False, "", ()), ("pass", 20), ("sweep", 0, False, "", ())]
BROKEN = [("settle",), ("delete_vm", 0)]
BLOWS = {
    "slices: the slice before is not deleted": PREEMPTED,
    "slices: what is left of a job that is over stays": ENDED,
    "slices: a refused try is not cleared away": NO_ROOM,
    "slices: a slice that lacks a VM is never closed": BROKEN,
}


@pytest.mark.parametrize("mutant", SLICES)
def test_a_mutant_is_found(recover, mutant):
    """The same history is well without it."""
    assert play(recover, "SPOT", BLOWS[mutant]) == ""
    with MUTANTS[mutant].applied():
        assert play(recover, "SPOT", BLOWS[mutant]) != ""
