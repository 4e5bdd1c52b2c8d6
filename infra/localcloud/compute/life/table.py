"""The life cycle of an instance, as a table ("Compute Engine instance lifecycle")."""

from collections.abc import Mapping
from enum import Enum

GONE = "GONE"
"""Not a status of the API: the instance is deleted and its name is free."""


class Event(Enum):
    """What changes the status of an instance."""

    ACQUIRED = "there is room for one that waited for it"
    PROVISIONED = "resources were allocated"
    REFUSED = "there were no resources for a new one"
    TURNED_AWAY = "there were no resources to start it again"
    BOOTED = "the machine was prepared and runs"
    STOP = "it is being stopped, for whatever reason"
    STOPPED = "its processes have ended"
    CRASHED = "its host failed"
    START = "it is started again"
    SUSPEND = "it is being suspended"
    SUSPENDED = "its processes stand still"
    RESUME = "it is resumed"
    LEFT_ASLEEP = "there were no resources to resume it"
    DELETE = "it is being deleted"
    DELETED = "it is deleted"


TRANSITIONS: Mapping[str, Mapping[Event, str]] = {
    "PENDING": {Event.ACQUIRED: "PROVISIONING", Event.REFUSED: GONE, Event.DELETE: "STOPPING"},
    "PROVISIONING": {
        Event.PROVISIONED: "STAGING",
        Event.REFUSED: GONE,
        Event.TURNED_AWAY: "TERMINATED",
        Event.LEFT_ASLEEP: "SUSPENDED",
    },
    "STAGING": {Event.BOOTED: "RUNNING"},
    "RUNNING": {
        Event.STOP: "STOPPING",
        Event.DELETE: "STOPPING",
        Event.CRASHED: "TERMINATED",
        Event.SUSPEND: "SUSPENDING",
    },
    "SUSPENDING": {Event.SUSPENDED: "SUSPENDED"},
    "SUSPENDED": {Event.RESUME: "PROVISIONING", Event.DELETE: "STOPPING"},
    "STOPPING": {Event.STOPPED: "TERMINATED", Event.DELETED: GONE},
    "TERMINATED": {Event.START: "PROVISIONING", Event.DELETE: "STOPPING"},
}


class IllegalTransitionError(Exception):
    """An event that cannot happen in this status; nothing was changed."""


def follow(status: str, event: Event) -> str:
    """The status after an event.

    Raises:
        IllegalTransitionError: the event cannot happen in this status.
    """
    after = TRANSITIONS.get(status, {}).get(event)
    if after is None:
        raise IllegalTransitionError(f"{status} knows no event {event.name}")
    return after
