"""The local cloud's weight in small: what it takes by the piece. The bench has the whole amounts."""

import pytest

from tests.bench.local_cloud_weight import (
    Client,
    Work,
    large_object,
    many_connections,
    many_objects,
    many_vms,
    peak_mb,
    serving,
)
from tests.long import long


@pytest.mark.parametrize(
    ("work", "amount", "most_mb"),
    [
        pytest.param(large_object, 0.2, 40, id="200 MB pass through and not into memory", marks=long),
        pytest.param(many_objects, 800, 20, id="an object stays on the disk", marks=long),
        pytest.param(many_vms, 2000, 36, id="a VM takes 18 KB with disk, operations and log", marks=long),
        pytest.param(many_connections, 300, 30, id="a connection takes 100 KB, and all are answered at once"),
    ],
)
def test_memory_grows_by_so_much(work: Work, amount: float, most_mb: float):
    """Never more, from the start of the process on: its highest resident memory is looked at."""
    with serving() as (address, process):
        idle = peak_mb(process)
        with Client(address) as call:
            work(call, amount)
        assert peak_mb(process) - idle < most_mb
