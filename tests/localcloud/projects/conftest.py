"""A Cloud Resource Manager behind a real listener."""

from collections.abc import Iterator

import httpx
import pytest

from localcloud.clock import Clock
from localcloud.projects import ProjectService
from tests.localcloud.stand import PROJECT, Stand


@pytest.fixture
def stand() -> Iterator[Stand]:
    """A fresh one; at the end all that was said must fit Google's document."""
    stand = Stand()
    stand.service = stand.call(
        ProjectService, project=PROJECT, number="100000000007", owner="me@example.com", clock=Clock()
    )
    stand.serve([stand.service])
    yield stand
    stand.close()
    found = stand.findings("cloudresourcemanager", "v1")
    assert not found, "\n".join(found)


@pytest.fixture
def http(stand: Stand) -> Iterator[httpx.Client]:
    """A plain HTTP client of the service."""
    with stand.client() as client:
        yield client
