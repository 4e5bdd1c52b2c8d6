"""One local cloud for all tests of the job kit."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.job.lab import Lab
from tests.job.shell import Shell


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The cloud; each test has jobs of its own in it."""
    lab = Lab(tmp_path_factory.mktemp("lab"))
    yield lab
    lab.close()


@pytest.fixture
def lab(cloud: Lab) -> Iterator[Lab]:
    """The cloud, without the faults of other tests."""
    yield cloud
    cloud.well()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """The kit's functions, without a VM."""
    return Shell(tmp_path)
