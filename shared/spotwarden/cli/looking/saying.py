"""Lines of a job's log as a person sees them: cleaned, and each attempt under a line of its own."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime

import click

from spotwarden.cli.table import plain
from spotwarden.recovery.folder.whereabouts import VmStay

_COLOUR = re.compile("\x1b\\[[0-9;]*m")
TAB = 8


def readable(text: str) -> list[str]:
    """The lines of what a program has printed, as a terminal would leave them, steering none.

    Of a line that was written over, as bars of progress do, the last writing counts; colours are taken off.
    """
    return [_line(line) for line in text.removesuffix("\n").split("\n")]


def _line(text: str) -> str:
    last = text.rstrip("\r").rpartition("\r")[2]
    return plain(_COLOUR.sub("", last).expandtabs(TAB))


class Teller:
    """Prints lines; `times` puts the moment before each. Lines of several nodes carry their node's name.

    `before` is called with the number of an attempt before the line above its lines is printed.
    """

    def __init__(
        self,
        *,
        times: bool = False,
        echo: Callable[[str], None] = click.echo,
        before: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._times = times
        self._echo = echo
        self._before = before
        self._at: int | str | None = None

    def tell(self, stay: VmStay, text: str, *, among: Sequence[VmStay], at: datetime | None = None) -> None:
        """Print what was said in a stay, one of those of its attempt that are shown."""
        together = len(among) > 1
        if self._at != (place := stay.attempt if together else stay.instance_id):
            self._at = place
            self._before(stay.attempt)
            self._echo(heading(among if together else [stay]))
        who = f"{stay.node} | " if together else ""
        when = f"{at:%Y-%m-%d %H:%M:%S} " if self._times and at else ""
        for line in readable(text):
            self._echo(f"{when}{who}{line}")


def heading(stays: Sequence[VmStay]) -> str:
    """The line above an attempt."""
    vms = ", ".join(f"{stay.node} is {_vm(stay)}" if len(stays) > 1 else _vm(stay) for stay in stays)
    zone = stays[0].zone
    return plain(f"-- attempt {stays[0].attempt}, {vms}{f', {zone}' if zone else ''} --")


def _vm(stay: VmStay) -> str:
    return f"instance {stay.instance_id}" if stay.instance_id else "an instance that is not on record"
