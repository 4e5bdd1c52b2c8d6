"""The life of an attempt."""

import pytest

from spotwarden.model.attempt import State
from spotwarden.recovery.lifecycle import LIFE, Event, IllegalTransitionError, follow


@pytest.mark.parametrize(("state", "event"), [(state, event) for state in State for event in Event])
def test_only_the_tables_transitions_are_legal(state, event):
    """Whatever the table does not name is refused."""
    if event in LIFE[state]:
        assert follow(state, event) is LIFE[state][event]
    else:
        with pytest.raises(IllegalTransitionError, match=state.value):
            follow(state, event)


@pytest.mark.parametrize("state", [State.ENDED, State.STOPPED, State.GAVE_UP])
def test_a_closed_attempt_stays_closed(state):
    """No event leads out of an end."""
    assert LIFE[state] == {}


def test_every_open_attempt_can_be_closed():
    """From anywhere on the way, the job's end, its owner and the limits are honoured."""
    for state in (State.CLAIMED, State.PLACING, State.BACKING_OFF, State.RUNNING):
        assert {Event.END, Event.STOP, Event.GIVE_UP} <= set(LIFE[state])
