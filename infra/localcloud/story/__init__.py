"""The demonstration: a preempted training job comes back, told while it happens."""

from localcloud.story.command import story

__all__ = ["story"]
