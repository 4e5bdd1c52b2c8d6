"""A protocol that is broken on purpose is found out: each promise is needed, and each is watched."""

import pytest

from tests.simulation.mutations import MUTATIONS
from tests.simulation.run import Setting, play_all

AT_MOST = 3000
"""Histories. `python -m tests.simulation --mutations` says how many each one takes."""


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_broken_promise_is_found_out(mutation):
    """Within so many histories, by what comes of it."""
    assert play_all(range(AT_MOST), Setting(mutation=mutation)).failed is not None
