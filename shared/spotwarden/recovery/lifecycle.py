"""The life of an attempt, as a table: from a state, by an event, to a state. Nothing else is legal."""

from collections.abc import Mapping
from enum import Enum

from spotwarden.model.attempt import State


class Event(Enum):
    """What can happen to an attempt."""

    ASK = "a place is about to be asked"
    NEXT = "the place is known to have refused, and the next one is about to be asked"
    CREATED = "the place gave us the instances"
    FAILED = "the place is known to have refused, and no other is open now"
    NO_PLACE = "no place is open now"
    REVIVED = "its developer started the instances by hand"
    END = "the job ended"
    STOP = "its owner stopped it"
    GIVE_UP = "a limit was reached"


_CLOSING = {Event.END: State.ENDED, Event.STOP: State.STOPPED, Event.GIVE_UP: State.GAVE_UP}

_BEFORE_ASKING = {Event.ASK: State.PLACING, Event.NO_PLACE: State.BACKING_OFF, Event.REVIVED: State.RUNNING}

LIFE: Mapping[State, Mapping[Event, State]] = {
    State.CLAIMED: {**_BEFORE_ASKING, **_CLOSING},
    State.PLACING: {
        Event.NEXT: State.PLACING,
        Event.CREATED: State.RUNNING,
        Event.FAILED: State.BACKING_OFF,
        **_CLOSING,
    },
    State.BACKING_OFF: {**_BEFORE_ASKING, **_CLOSING},
    State.RUNNING: _CLOSING,
    State.ENDED: {},
    State.STOPPED: {},
    State.GAVE_UP: {},
}


class IllegalTransitionError(Exception):
    """An event that the table does not know in this state; nothing was changed."""


def follow(state: State, event: Event) -> State:
    """The state after the event; `IllegalTransitionError` where the table has none."""
    try:
        return LIFE[state][event]
    except KeyError:
        raise IllegalTransitionError(f"{event.name} does not follow {state.value}") from None
