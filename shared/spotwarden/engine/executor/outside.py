"""What every action needs."""

from typing import NamedTuple

from spotwarden.layout import Layout
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud

JSON = "application/json"


class ExecutorContext(NamedTuple):
    """The cloud that is changed, where things stand in its bucket, and the sweep that does it."""

    cloud: Cloud
    layout: Layout
    tick: Tick
