"""What the tests of one service of the local cloud share; each folder has its own `stand`."""

from collections.abc import Iterator
from functools import cache

import httpx
import pytest
from starlette import routing

from tests.localcloud.stand import Stand


@pytest.fixture(scope="session", autouse=True)
def _each_path_is_compiled_once() -> Iterator[None]:
    """A service that is made anew for each of a thousand tests has the same 150 routes each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routing, "compile_path", cache(routing.compile_path))
        yield


@pytest.fixture
def http(stand: Stand) -> Iterator[httpx.Client]:
    """A plain HTTP client of the service."""
    with stand.client() as client:
        yield client
