"""A Cloud Resource Manager behind a real listener."""

from collections.abc import Iterator

import pytest

from localcloud.clock import Clock
from localcloud.projects import ProjectService
from tests.localcloud.stand import PROJECT, Stand, standing


@pytest.fixture
def stand() -> Iterator[Stand]:
    """A fresh one; at the end all that was said must fit Google's document."""

    def make(_: Stand) -> ProjectService:
        return ProjectService(project=PROJECT, number="100000000007", owner="me@example.com", clock=Clock())

    with standing("cloudresourcemanager", "v1", make) as stand:
        yield stand
