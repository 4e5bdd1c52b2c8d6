"""What one look at Compute Engine shows, and what it may hide."""

import pytest

from spotwarden.model.instance import Instances, Operations
from spotwarden.recovery.observed.shown import ShownInstances

A, B = "us-central1-a", "us-central1-b"


@pytest.mark.parametrize(
    ("instances", "operations", "hides"),
    [((), (), ""), ((A,), (), A), ((), (B,), B), ((A,), (B,), f"{A}, {B}"), ((A,), (A,), A)],
)
def test_a_zone_that_either_list_lacks_is_hidden(instances, operations, hides):
    """A VM that is listed may have been stopped by its owner, of which only the operations tell."""
    shown = ShownInstances(Instances(unreachable=instances), Operations(unreachable=operations))
    assert shown.unsure == (f"unreachable: {hides}" if hides else "")
