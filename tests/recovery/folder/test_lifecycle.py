"""The life of an attempt."""

import pytest

from spotwarden.model.attempt import AttemptState
from spotwarden.recovery.folder.lifecycle import LIFE, AttemptEvent, IllegalTransitionError, follow


@pytest.mark.parametrize(
    ("state", "event"), [(state, event) for state in AttemptState for event in AttemptEvent]
)
def test_only_the_tables_transitions_are_legal(state, event):
    """Whatever the table does not name is refused."""
    if event in LIFE[state]:
        assert follow(state, event) is LIFE[state][event]
    else:
        with pytest.raises(IllegalTransitionError, match=state.value):
            follow(state, event)


@pytest.mark.parametrize("state", [AttemptState.ENDED, AttemptState.STOPPED, AttemptState.GAVE_UP])
def test_a_closed_attempt_stays_closed(state):
    """No event leads out of an end."""
    assert LIFE[state] == {}


def test_every_open_attempt_can_be_closed():
    """From anywhere on the way, the job's end, its owner and the limits are honoured."""
    for state in (AttemptState.CLAIMED, AttemptState.PLACING, AttemptState.BACKING_OFF, AttemptState.RUNNING):
        assert {AttemptEvent.END, AttemptEvent.STOP, AttemptEvent.GIVE_UP} <= set(LIFE[state])
