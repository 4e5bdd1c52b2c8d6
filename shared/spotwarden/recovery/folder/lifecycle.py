"""The life of an attempt, as a table: from a state, by an event, to a state. Nothing else is legal."""

from collections.abc import Mapping
from enum import Enum

from spotwarden.model.attempt import AttemptState


class AttemptEvent(Enum):
    """What can happen to an attempt."""

    ASK = "a zone is about to be asked"
    NEXT = "the zone refused, and the next one is about to be asked"
    CREATED = "the zone created the instances"
    FAILED = "the zone refused, and no other is available now"
    NO_PLACE = "no zone is available now"
    REVIVED = "its developer started the instances by hand"
    STAY = "the zone to move to refused, and the instances run where they are"
    END = "the job ended"
    STOP = "its owner stopped it"
    GIVE_UP = "a limit was reached"


_CLOSING = {
    AttemptEvent.END: AttemptState.ENDED,
    AttemptEvent.STOP: AttemptState.STOPPED,
    AttemptEvent.GIVE_UP: AttemptState.GAVE_UP,
}

_BEFORE_ASKING = {
    AttemptEvent.ASK: AttemptState.PLACING,
    AttemptEvent.NO_PLACE: AttemptState.BACKING_OFF,
    AttemptEvent.REVIVED: AttemptState.RUNNING,
}

LIFE: Mapping[AttemptState, Mapping[AttemptEvent, AttemptState]] = {
    AttemptState.CLAIMED: {**_BEFORE_ASKING, **_CLOSING},
    AttemptState.PLACING: {
        AttemptEvent.NEXT: AttemptState.PLACING,
        AttemptEvent.CREATED: AttemptState.RUNNING,
        AttemptEvent.REVIVED: AttemptState.RUNNING,
        AttemptEvent.FAILED: AttemptState.BACKING_OFF,
        AttemptEvent.STAY: AttemptState.RUNNING,
        **_CLOSING,
    },
    AttemptState.BACKING_OFF: {**_BEFORE_ASKING, **_CLOSING},
    AttemptState.RUNNING: _CLOSING,
    AttemptState.ENDED: {},
    AttemptState.STOPPED: {},
    AttemptState.GAVE_UP: {},
}


class IllegalTransitionError(Exception):
    """An event that the table does not know in this state; nothing was changed."""


def follow(state: AttemptState, event: AttemptEvent) -> AttemptState:
    """The state after the event; `IllegalTransitionError` where the table has none."""
    try:
        return LIFE[state][event]
    except KeyError:
        raise IllegalTransitionError(f"{event.name} does not follow {state.value}") from None
