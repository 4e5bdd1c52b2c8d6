"""What was last heard of each node's heartbeat.

It is remembered from sweep to sweep: progress that was made stays made.
"""

from datetime import datetime

import msgspec
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.model.heartbeat import Beat
from spotwarden.recovery.folder.heartbeats import progress_in

TEXT = 200
"""Characters of a checkpoint's name that are kept."""


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What one heartbeat said, when it came, and when its program had last made progress by it."""

    came: datetime
    progress: datetime
    beat: Beat = Beat()


_HEARD: GenerationCache[Heard] = GenerationCache(most=100_000)


def heard_of(name: str) -> Heard | None:
    """What the heartbeat of this name said when it was last heard; None where it never was."""
    return _HEARD.get(name, 0)


def hear(name: str, beat: Beat, came: datetime) -> Heard:
    """Remember what the heartbeat of this name says that came then; metrics and long texts are not kept."""
    short = replace(beat, metrics={}, checkpoint=beat.checkpoint[:TEXT], instance_id=beat.instance_id[:TEXT])
    return _HEARD.keep(name, 0, Heard(came=came, progress=progress_in(beat, came), beat=short))
