"""`spotwarden local shell`: a command in a running virtual machine."""

import base64
import json
import sys

import click

from localcloud.commands.client import answering


@click.command()
@click.argument("node")
@click.argument("command")
def shell(node: str, command: str) -> None:
    """Run a shell command in a VM and exit with its status.

    NODE is the VM's name or ID.
    """
    sys.exit(_run(node, command))


def _run(node: str, command: str) -> int:
    """Print what it says, as it says it; gives its status."""
    # No time-out: a command takes as long as it takes.
    with answering("POST", "/local/shell", {"node": node, "command": command}, timeout=None) as answer:
        for line in answer:
            piece = json.loads(line)
            if "status" in piece:
                return int(piece["status"])
            stream = sys.stdout.buffer if "out" in piece else sys.stderr.buffer
            stream.write(base64.b64decode(piece.get("out") or piece["err"]))
            stream.flush()
    raise click.ClickException(f"{node} was switched off, and the command ended with it")
