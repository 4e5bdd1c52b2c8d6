"""What starts a sweep."""

from datetime import datetime

import msgspec


class Tick(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the world: by which function, as which sweep, at which moment (aware, UTC).

    `patient` is true for a tick of the Scheduler: the next one comes by itself. An event is not
    patient: where a sweep must wait, it asks for the event once more. `about` is the node that an
    event speaks of, by its marker, or with `lost` by the audit log; "" for all of them.
    """

    function: str
    sweep: str
    now: datetime
    patient: bool = True
    about: str = ""
    lost: bool = False
