"""What starts a sweep."""

from datetime import datetime

import msgspec

BATCHED = 250
"""Jobs that one message is taken to name, whoever wrote it; further ones are due at the next tick."""


class Tick(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the world: by which function, as which sweep, at which moment (aware, UTC).

    `patient` is true for a tick of the Scheduler: the next one comes by itself. An event is not
    patient: where a sweep must wait, it asks for the event once more. `about` is the node that an
    event speaks of, by its marker, or with `lost` by the audit log; "" for all of them. With `batch` a sweep
    has asked for a look at these `jobs` alone. `message` is the id of what came, also when it comes again.
    `began` is its beginning by the machine's own clock, None where that is `now`: a local cloud travels.
    """

    function: str
    sweep: str
    now: datetime
    patient: bool = True
    about: str = ""
    lost: bool = False
    batch: bool = False
    jobs: tuple[str, ...] = ()
    message: str = ""
    began: datetime | None = None
