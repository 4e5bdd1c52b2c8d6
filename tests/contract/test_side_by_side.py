"""Calls beside each other: how many at a time, and that a session has a connection for each."""

from threading import Barrier, Lock

import pytest

from spotwarden.engine.settings import WORKERS
from spotwarden.gcp.fleet_lists import ZONES_AT_ONCE
from spotwarden.gcp.session import CONNECTIONS
from spotwarden.gcp.side_by_side import AT_ONCE, side_by_side

HANGS = 30
"""Seconds after which calls that never come together are a failure and not a wait."""


class Crowd:
    """Calls that end only once so many are under way; `most` is how many there ever were."""

    def __init__(self, together: int) -> None:
        self._all_here = Barrier(together, timeout=HANGS)
        self._lock = Lock()
        self._under_way, self.most = 0, 0

    def call(self, item: int) -> int:
        """Wait for the others; gives the item."""
        with self._lock:
            self._under_way += 1
            self.most = max(self.most, self._under_way)
        self._all_here.wait()
        with self._lock:
            self._under_way -= 1
        return item


@pytest.mark.parametrize("at_once", [AT_ONCE, ZONES_AT_ONCE])
def test_so_many_are_under_way_and_no_more(at_once):
    """The answers come in the order of the items, whoever ended first."""
    crowd = Crowd(at_once)
    items = range(2 * at_once)
    assert side_by_side(items, crowd.call, at_once) == list(items)
    assert crowd.most == at_once


def test_a_session_has_a_connection_for_everything_that_is_under_way():
    """A connection that is not kept is opened anew for each call, which costs more than the call."""
    assert max(WORKERS + AT_ONCE, ZONES_AT_ONCE) <= CONNECTIONS
