"""One write a second to an object, for whoever may wait."""

import pytest

from spotwarden.gcp.spacing import APART, WriteSpacing


class Clock:
    """A clock that only waiting, and the test, moves."""

    def __init__(self):
        self.now, self.waited = 100.0, []

    def pause(self, seconds):
        """Let so many seconds pass."""
        self.waited.append(seconds)
        self.now += seconds


@pytest.fixture
def clock():
    """A clock at some time."""
    return Clock()


@pytest.fixture
def spacing(clock):
    """A spacing by that clock, after one object was written."""
    spacing = WriteSpacing(lambda: clock.now, clock.pause)
    spacing.note("a")
    return spacing


@pytest.mark.parametrize(("later", "waits"), [(0.0, [APART]), (APART / 2, [APART / 2]), (APART, [])])
def test_who_may_wait_writes_a_second_after_the_last_write(spacing, clock, later, waits):
    """The rest of that second."""
    clock.now += later
    spacing.wait("a")
    assert clock.waited == pytest.approx(waits)


def test_another_object_is_not_waited_for(spacing, clock):
    """Each has a second of its own."""
    spacing.wait("b")
    assert clock.waited == []


def test_what_was_written_long_ago_is_forgotten(spacing, clock):
    """A warm function writes millions of objects."""
    clock.now += 2 * APART
    spacing.note("b")
    assert list(spacing._last) == ["b"]


def test_an_object_that_is_written_again_counts_from_then(spacing, clock):
    """And keeps none that is older from being forgotten."""
    clock.now += APART / 2
    spacing.note("b")
    clock.now += APART / 4
    spacing.note("a")
    clock.now += APART * 0.9
    spacing.note("c")
    assert list(spacing._last) == ["a", "c"]
