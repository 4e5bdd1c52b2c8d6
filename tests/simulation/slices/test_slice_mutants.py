"""Recovery of slices, broken on purpose: the judge of the histories finds it."""

import pytest

from spotwarden.recovery import attempts, clearing, ending, slice_filling, slice_groups, slice_placing
from tests.simulation.slices.play import play

PREEMPTED = [("settle",), ("preempt", 0), ("pass", 60)]
ENDED = [("settle",), ("delete_group",)]
NO_ROOM = [("stock_out", 0), ("sweep", 0, False, "", ()), ("pass", 20), ("sweep", 0, False, "", ())]
BROKEN = [("settle",), ("delete_vm", 0)]
WHERE = (attempts, clearing, ending, slice_filling, slice_groups, slice_placing)
MUTANTS = {
    "the slice before is not deleted": ("clear_former", lambda *_given: None, PREEMPTED),
    "what is left of a job that is over stays": ("left_over", lambda *_given: None, ENDED),
    "a refused try is not cleared away": ("clear", lambda *_given: None, NO_ROOM),
    "a slice that lacks a VM is never closed": ("end_broken", lambda *_given: None, BROKEN),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_found(recover, monkeypatch, mutant):
    """The same history is well without it."""
    name, instead, blows = MUTANTS[mutant]
    assert play(recover, "SPOT", blows) == ""
    patched = [module for module in WHERE if hasattr(module, name)]
    for module in patched:
        if name != "clear" or module is slice_groups:
            monkeypatch.setattr(module, name, instead)
    assert patched
    assert play(recover, "SPOT", blows) != ""
