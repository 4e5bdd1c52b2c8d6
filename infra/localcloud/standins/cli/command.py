"""What a gcloud command of the stand-in is: its flags, its arguments and what it does."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from localcloud.standins.cli.properties import Properties
from localcloud.standins.transport import StorageTransport, cloud, give_up

SWITCH = "switch"
VALUE = "value"
YES_NO = "yes or no"
"""A flag whose value may be left out, which means yes."""

Path = tuple[str, ...]
"""The words of a command after `gcloud`."""

Flags = Mapping[str, str]
"""Flag name, with its dashes → `SWITCH`, `VALUE` or `YES_NO`."""

MANY = 1_000_000


class Run(NamedTuple):
    """One run of a command. `name` is its path with dots, as gcloud's errors give it."""

    name: str
    flags: Mapping[str, str]
    arguments: list[str]
    properties: Properties

    def door(self) -> StorageTransport:
        """The local cloud."""
        return cloud()

    def fail(self, message: str, status: int = 1) -> NoReturn:
        """End with an error as gcloud words it."""
        give_up(f"ERROR: ({self.name}) {message}", status)

    @property
    def project(self) -> str:
        """The project that the command is about."""
        return (
            self.flags.get("--project")
            or self.properties.get("core/project")
            or self.fail("no project is set")
        )


class Command(NamedTuple):
    """`least` and `most` count the arguments that are no flags, which gcloud calls `noun`."""

    run: Callable[[Run], None]
    flags: Flags
    noun: str = ""
    least: int = 0
    most: int = 0


GLOBAL: Flags = {
    "--project": VALUE,
    "--format": VALUE,
    "--verbosity": VALUE,
    "--account": VALUE,
    "--configuration": VALUE,
    "--quiet": SWITCH,
    "-q": SWITCH,
    "--user-output-enabled": SWITCH,
    "--no-user-output-enabled": SWITCH,
    "--log-http": SWITCH,
}
"""Flags of every command. There is one account and nobody to prompt, so only two of them change anything."""
