"""The life of an instance: what is asked of it, and what happens to it."""

from localcloud.compute.life.ask import Ask
from localcloud.compute.life.commands import Commands
from localcloud.compute.life.events import Events
from localcloud.compute.life.steps import Steps
from localcloud.compute.life.tasks import Tasks

__all__ = ["Ask", "Commands", "Events", "Steps", "Tasks"]
