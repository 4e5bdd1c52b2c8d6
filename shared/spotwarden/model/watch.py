"""The list of open jobs: what a tick looks at beside the markers."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from spotwarden.model.moment import Moment


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """One open job: the instances that should be there, as the ledger said when this was written.

    It may be behind the ledger. It is ahead of it only while a launch is begun: then `attempt` is the number
    that the attempt will have, and `owner` is who launches it (`recovery/steps/begun.py`). `whole` is None
    while nothing is missing; then it is when all instances were last seen, and `gone` is true once a complete
    list has shown one of them gone: `missing` are the ids of all that did not run then. `recorded` is true
    once what runs has been written down. `past` are ids that the job has left behind. `lacks` is true while
    nodes of a gang that bends are to be refilled. `movable` is true for a job that may be moved while it
    runs, and `moving` while one is about to be.
    """

    job: str
    attempt: int = 0
    instances: Mapping[str, str] = {}
    whole: Moment | None = None
    gone: bool = False
    missing: tuple[str, ...] = ()
    recorded: bool = False
    past: tuple[str, ...] = ()
    owner: str = ""
    lacks: bool = False
    movable: bool = False
    moving: bool = False


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """A watch as it was read: its generation, and since when it has said so, by the bucket's clock."""

    watch: Watch
    generation: int
    since: datetime
