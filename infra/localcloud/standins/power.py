"""`shutdown`, `poweroff`, `halt` and `reboot`: of the virtual machine, not of this computer."""

import re
import sys
import time
from typing import NamedTuple

from localcloud.standins.transport import guest

HARMLESS = frozenset(
    {"-f", "--force", "--no-wall", "-k0", "-q", "--quiet", "-w0", "-y", "-n", "-p", "--poweroff", "-P"}
)
"""Options that make no difference here: there is nobody to tell, and nothing that could keep it on."""

ACTIONS = {
    "-r": "reboot",
    "--reboot": "reboot",
    "-h": "poweroff",
    "-H": "poweroff",
    "--halt": "poweroff",
    "-P": "poweroff",
    "-p": "poweroff",
    "--poweroff": "poweroff",
    "-c": "cancel",
}
ONE_MINUTE = 60
DAY_SECONDS = 24 * 3600


class PowerOrder(NamedTuple):
    """What to do, and in how many seconds."""

    action: str
    after: int


class Unclear(Exception):
    """An argument that the stand-in does not take."""


def main(command: str, arguments: list[str]) -> int:
    """Send the order to the machine, which carries it out."""
    try:
        order = (
            read_shutdown(arguments, now=time.localtime())
            if command == "shutdown"
            else read(command, arguments)
        )
    except Unclear as unclear:
        sys.stderr.write(f"{command}: the local cloud's stand-in does not take {unclear}\n")
        return 1
    guest("POST", "/local/guest/power", {"action": order.action, "after_seconds": order.after})
    return 0


def read(command: str, arguments: list[str]) -> PowerOrder:
    """Read the arguments of `poweroff`, `halt` and `reboot`, which act at once."""
    action = "reboot" if command == "reboot" else "poweroff"
    for argument in arguments:
        if argument in ("-p", "--poweroff"):
            action = "poweroff"
        elif argument not in HARMLESS:
            raise Unclear(repr(argument))
    return PowerOrder(action, 0)


def read_shutdown(arguments: list[str], now: time.struct_time) -> PowerOrder:
    """Read the arguments of shutdown(8): options, a time (in a minute by default), a message."""
    action, words = "poweroff", list(arguments)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option not in ACTIONS and option not in HARMLESS:
            raise Unclear(repr(option))
        action = ACTIONS.get(option, action)
    return PowerOrder(action, _delay(words[0], now) if words else ONE_MINUTE)


def _delay(when: str, now: time.struct_time) -> int:
    if when == "now":
        return 0
    if match := re.fullmatch(r"\+?(\d{1,4})", when):
        return int(match[1]) * 60
    if match := re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", when):
        passed = now.tm_hour * 3600 + now.tm_min * 60 + now.tm_sec
        return (int(match[1]) * 3600 + int(match[2]) * 60 - passed) % DAY_SECONDS
    raise Unclear(f"the time {when!r}: say now, +MINUTES or HH:MM")
