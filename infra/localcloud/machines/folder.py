"""The files of one virtual machine: all that it should write lies below one folder."""

from dataclasses import dataclass
from pathlib import Path

from localcloud.ports import Resource


@dataclass(frozen=True)
class Folder:
    """`NAME-ID/` with `root` (HOME), `tmp` (TMPDIR), `var/log` and the console; it outlives the machine."""

    path: Path

    @classmethod
    def of(cls, instance: Resource, below: Path) -> "Folder":
        """The folder of an instance; ids are never reused, so neither is a folder."""
        return cls((below / f"{instance['name']}-{instance['id']}").absolute())

    def prepare(self) -> None:
        """Make the folders that are not there yet."""
        for folder in (self.home, self.temporary, self.logs):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def home(self) -> Path:
        """The home folder of the one user that there is."""
        return self.path / "root"

    @property
    def temporary(self) -> Path:
        """What `mktemp` and Python's `tempfile` use."""
        return self.path / "tmp"

    @property
    def logs(self) -> Path:
        """The raw output of the startup and shutdown scripts."""
        return self.path / "var" / "log"

    @property
    def console(self) -> Path:
        """What came over the serial port."""
        return self.path / "console.log"
