"""A protocol that is broken on purpose is found out: each promise is needed, and each is watched."""

import pytest

from tests.long import some
from tests.simulation.mutations import MUTATIONS
from tests.simulation.run import Setting, play_all

AT_MOST = 3000
"""Histories. `python -m tests.simulation --mutations` says how many each one takes."""
HELD_BY_ANOTHER = {"requests are sent after the lease"}
"""Not found in 6,000: the chain is listed again right before a create, so a late request is refused there."""


@pytest.mark.parametrize("mutation", some([name for name in MUTATIONS if name not in HELD_BY_ANOTHER]))
def test_a_broken_promise_is_found_out(mutation):
    """Within so many histories, by what comes of it."""
    assert play_all(range(AT_MOST), Setting(mutation=mutation)).failed is not None
