"""The life of a case, as a table."""

from collections.abc import Mapping
from enum import Enum

from spotwarden.model.case import CaseState


class CaseEvent(Enum):
    """What can happen to an open case; being closed is the end of its record, from any state."""

    SUSPECT = "what was unknown is bad"
    DOUBT = "what was suspected is now unknown"
    WARN = "a warning was published and accepted"
    PLAN = "the remedy is due, and written down before it is sent"
    ACT = "Compute Engine has taken the remedy"
    FAIL = "the remedy did not work"
    KEEP = "a person wants nothing done for now"


LIFE: Mapping[CaseState, Mapping[CaseEvent, CaseState]] = {
    CaseState.UNKNOWN: {CaseEvent.SUSPECT: CaseState.SUSPECTED, CaseEvent.KEEP: CaseState.UNKNOWN},
    CaseState.SUSPECTED: {
        CaseEvent.WARN: CaseState.WARNED,
        CaseEvent.DOUBT: CaseState.UNKNOWN,
        CaseEvent.KEEP: CaseState.SUSPECTED,
    },
    CaseState.WARNED: {
        CaseEvent.WARN: CaseState.WARNED,
        CaseEvent.PLAN: CaseState.DUE,
        CaseEvent.KEEP: CaseState.SUSPECTED,
    },
    CaseState.DUE: {
        CaseEvent.WARN: CaseState.DUE,
        CaseEvent.PLAN: CaseState.DUE,
        CaseEvent.ACT: CaseState.ACTED,
        CaseEvent.FAIL: CaseState.DUE,
        CaseEvent.KEEP: CaseState.SUSPECTED,
    },
    CaseState.ACTED: {CaseEvent.FAIL: CaseState.DUE},
}


class IllegalCaseError(Exception):
    """This cannot happen to a case that stands there; nothing was changed."""


def follow(state: CaseState, event: CaseEvent) -> CaseState:
    """The state after the event; `IllegalCaseError` where it cannot happen."""
    if event not in LIFE[state]:
        raise IllegalCaseError(f"a case that is {state.value} cannot be told: {event.value}")
    return LIFE[state][event]
