"""Service accounts behind a real listener."""

from collections.abc import Iterator

import pytest

from localcloud.service_accounts import ServiceAccounts
from tests.localcloud.stand import PROJECT, Stand, standing


@pytest.fixture
def stand() -> Iterator[Stand]:
    """A fresh one; at the end all that was said must fit Google's document."""

    def make(_: Stand) -> ServiceAccounts:
        return ServiceAccounts(project=PROJECT, number="100000000007")

    with standing("iam", "v1", make) as stand:
        yield stand
