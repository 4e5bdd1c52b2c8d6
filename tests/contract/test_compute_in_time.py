"""A request is sent before the lease of whoever sends it is over, or what it rests on is old."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from spotwarden.gcp.compute import ComputeEngine
from spotwarden.model.instance import Operation
from spotwarden.ports import ConflictError, UnansweredError
from spotwarden.ports import in_time as module
from tests.contract.scripted import Scripted
from tests.contract.worlds import ZONE, spot

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
JUST = timedelta(microseconds=1)
OPERATION = {"name": "operation-1"}

Ask = Callable[[ComputeEngine, datetime], Operation]
ASKS = pytest.mark.parametrize(
    "ask",
    [
        lambda engine, before: engine.launch(spot("node"), "r", before=before),
        lambda engine, before: engine.start(ZONE, "17", "r", before=before),
        lambda engine, before: engine.stop(ZONE, "17", "r", before=before),
        lambda engine, before: engine.delete(ZONE, "17", "r", before=before),
        lambda engine, before: engine.remove(f"projects/demo/zones/{ZONE}/disks/17", "r", before=before),
    ],
    ids=["launch", "start", "stop", "delete", "remove"],
)


class Watch:
    """A clock that shows one moment after the other, and then the last for ever."""

    def __init__(self, *moments: datetime) -> None:
        self._moments = list(moments)

    def now(self) -> datetime:
        """The next one."""
        return self._moments.pop(0) if len(self._moments) > 1 else self._moments[0]


@pytest.fixture
def shows(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the adapter's clock show these moments."""
    return lambda *moments: monkeypatch.setattr(module, "clock", Watch(*moments))


@ASKS
def test_before_the_lease_is_over_it_is_sent(google: Scripted, compute: ComputeEngine, shows, ask: Ask):
    """Up to its last moment."""
    google.say(OPERATION)
    shows(NOW)
    assert ask(compute, NOW + JUST).name == "operation-1"


@ASKS
def test_from_the_end_of_the_lease_on_nothing_is_sent(
    google: Scripted, compute: ComputeEngine, shows, ask: Ask
):
    """And the caller knows that nothing was done."""
    google.say(OPERATION)
    shows(NOW)
    with pytest.raises(ConflictError, match="the time for it was over at 12:00:00 UTC"):
        ask(compute, NOW)
    assert google.asked == []


@ASKS
def test_a_try_that_nobody_answered_is_not_repeated_after_the_lease(
    google: Scripted, hasty: ComputeEngine, shows, ask: Ask
):
    """It may have been carried out, so the caller is told that nobody knows."""
    google.say(b"", status=503)
    shows(NOW - JUST, NOW)
    with pytest.raises(UnansweredError, match="the time for it was over"):
        ask(hasty, NOW)
    assert len(google.asked) == 1
