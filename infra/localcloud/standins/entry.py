"""Running one stand-in by its name."""

import importlib
import signal
import sys

from localcloud.standins.transport import CloudError

MODULES = {"halt": "power", "poweroff": "power", "reboot": "power", "shutdown": "power"}
"""Commands that share a module; every other one has the module of its name."""


def main(command: str, arguments: list[str]) -> int:
    """Run a command; its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `gsutil cat … | head -1` ends quietly, as in C
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    name = MODULES.get(command, command).replace("-", "_")
    module = importlib.import_module(f"localcloud.standins.{name}")
    try:
        return int(module.main(command, arguments))
    except (CloudError, ConnectionError) as error:
        sys.stderr.write(f"{command}: the local cloud does not answer as it should: {error}\n")
        return 1
