"""Cloud Logging in memory: what VMs have said."""

from collections.abc import Collection, Iterator
from datetime import datetime

from spotwarden.model.logline import LogLine
from tests.fakes.trouble import Trouble


class MemoryLogs:
    """`Logs`: `say` has a VM write a line."""

    def __init__(self) -> None:
        self.trouble = Trouble()
        self._said: list[LogLine] = []

    def say(self, instance_id: str, at: datetime, *texts: str) -> None:
        """Have an instance write these lines at a moment."""
        for text in texts:
            key = f"{len(self._said):06}"
            self._said.append(LogLine(at=at, instance_id=instance_id, text=text, key=key))

    def lines(self, ids: Collection[str], since: datetime, *, newest: int = 0) -> Iterator[LogLine]:
        """As `Logs.lines`."""
        found = [line for line in self._said if line.instance_id in ids and line.at >= since]
        found.sort(key=lambda line: (line.at, line.key))
        wanted = found[-newest:] if newest else found
        return self.trouble.around("lines", "", lambda: iter(wanted))
