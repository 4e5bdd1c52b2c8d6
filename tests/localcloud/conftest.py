"""What the tests of one service of the local cloud share; each folder has its own `stand`."""

from collections.abc import Iterator

import httpx
import pytest

from tests.localcloud.stand import Stand


@pytest.fixture
def http(stand: Stand) -> Iterator[httpx.Client]:
    """A plain HTTP client of the service."""
    with stand.client() as client:
        yield client
