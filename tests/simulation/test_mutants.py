"""Mutants: what they patch is there, and some of them are found in each run of the tests.

`python -m tests.simulation.mutants_table` holds all of them against histories and unit tests; its table is
`mutants.md`.
"""

from pathlib import Path

import pytest

from tests.long import some
from tests.simulation.mutants import MUTANTS, TESTS
from tests.simulation.mutants_table import ROOT, row_of

WRITTEN = Path(__file__).with_name("mutants.md").read_text()
SOON = (
    "markers are never cleared",
    "ids are never registered",
    "launches by hand are not seen",
    "no warning counts as arrived",
    "nothing fits the policy",
    "a notice is taken in and forgotten",
)


def test_there_are_enough_of_them():
    """What nobody breaks nobody knows to be held."""
    assert len(MUTANTS) > 100


def test_no_mutant_counts_as_found_because_it_cannot_be_called():
    """What it patches takes other arguments by now: that says nothing of what it breaks."""
    assert not [row for row in WRITTEN.splitlines() if "raised TypeError(" in row]


@pytest.mark.parametrize("name", [name for name, mutant in MUTANTS.items() if mutant.patch])
def test_what_a_mutant_patches_is_there(name):
    """A name that has moved would be broken no more, and the mutant would seem to be found by nothing."""
    patch = MUTANTS[name].patch
    assert patch is not None
    before = patch.original
    with patch.applied():
        assert patch.original is not before
    assert patch.original is before


@pytest.mark.parametrize("name", some(SOON))
def test_a_mutant_is_found_by_a_history(name):
    """Within a few of them, of recovery or of the plane."""
    row = row_of(name, recovery=20, plane=20)
    assert row.recovery.failed or row.plane.failed


def test_a_unit_test_that_finds_a_mutant_is_there():
    """By its file and its name, and about a mutant that there is."""
    assert set(TESTS) <= set(MUTANTS)
    for test in TESTS.values():
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text(), test


def test_the_table_tells_of_every_mutant():
    """And of each that something has found it."""
    rows = {line.split("|")[1].strip(): line for line in WRITTEN.splitlines() if line.startswith("| ")}
    assert set(MUTANTS) <= set(rows)
    assert "nothing finds it" not in WRITTEN
