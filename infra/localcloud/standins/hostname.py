"""`hostname`: the virtual machine's name, not this computer's."""

import json
import sys
from collections.abc import Callable

from localcloud.standins.transport import give_up, metadata


def _full() -> str:
    return metadata("instance/hostname")


def _short() -> str:
    return _full().partition(".")[0]


def _domain() -> str:
    return _full().partition(".")[2]


def _addresses() -> str:
    interfaces = json.loads(metadata("instance/network-interfaces/?recursive=true"))
    return " ".join(interface["ip"] for interface in interfaces)


ANSWERS: dict[str, Callable[[], str]] = {
    "": _short,  # Compute Engine's images set the short name
    "-s": _short,
    "--short": _short,
    "-f": _full,
    "--fqdn": _full,
    "--long": _full,
    "-A": _full,
    "--all-fqdns": _full,
    "-d": _domain,
    "--domain": _domain,
    "-i": _addresses,
    "--ip-address": _addresses,
    "-I": _addresses,
    "--all-ip-addresses": _addresses,
}


def main(_command: str, arguments: list[str]) -> int:
    """Print what is asked for; the name cannot be changed."""
    option = arguments[0] if len(arguments) == 1 else " ".join(arguments)
    if option not in ANSWERS:
        known = " ".join(filter(None, ANSWERS))
        give_up(f"hostname: the local cloud's stand-in does not take {option!r}; it knows {known}")
    sys.stdout.write(f"{ANSWERS[option]()}\n")
    return 0
