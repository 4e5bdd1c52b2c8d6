"""What all virtual machines of one local cloud have in common."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from localcloud.clock import Clock
from localcloud.machines.agents import Agents
from localcloud.ports import Audit, Measure, Resource


def nobody(_entry: Resource) -> None:
    """There is no Logging."""


@dataclass(frozen=True, kw_only=True)
class Host:
    """This computer, as the machines see it.

    `folder` holds the machines' folders and `standins` the commands that come first on their PATH. `cloud` is
    asked at each boot for the settings that point clients at the local cloud; `environment` is our own.
    `on_poweroff` is told the id of an instance whose guest wants to be switched off; `agents` knows which
    machines tell of their GPUs and logs, and `write` takes a line of the latter as an entry of Logging. The
    processes in machines have the `umask`, or ours where it is -1.
    """

    folder: Path
    standins: Path
    clock: Clock
    cloud: Callable[[], Mapping[str, str]]
    environment: Mapping[str, str]
    measure: Measure
    on_poweroff: Callable[[str], None]
    metric_period: timedelta
    agents: Agents = field(default_factory=Agents)
    write: Audit = nobody
    umask: int = -1
