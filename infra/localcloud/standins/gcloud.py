"""`gcloud`: the commands that startup scripts use, against the local cloud."""

import sys

from localcloud.standins.cli import instances, others, storage
from localcloud.standins.cli.command import Run
from localcloud.standins.cli.properties import Properties
from localcloud.standins.cli.reading import read

COMMANDS = {**instances.COMMANDS, **storage.COMMANDS, **others.COMMANDS}
VERSION = "Google Cloud SDK (stand-in of the Spotwarden local cloud)\n"


def main(_command: str, arguments: list[str]) -> int:
    """Run one gcloud command; what goes wrong ends it with gcloud's words and status."""
    if arguments in (["version"], ["--version"], ["-v"]):
        sys.stdout.write(VERSION)
        return 0
    line = read(arguments, COMMANDS)
    run = Run(".".join(("gcloud", *line.path)), line.flags, line.arguments, Properties())
    COMMANDS[line.path].run(run)
    return 0
