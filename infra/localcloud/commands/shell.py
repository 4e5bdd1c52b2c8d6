"""`spotwarden local shell`: a command in a running virtual machine."""

import base64
import json
import os
import sys

import click
import httpx

from localcloud import running
from localcloud.plain import NO_TLS


@click.command()
@click.argument("node")
@click.argument("command")
def shell(node: str, command: str) -> None:
    """Run COMMAND, a line for the shell, in the VM NODE (a name or an id), and exit with its status."""
    url = running.url(os.environ)
    if url is None:
        raise click.ClickException("no local cloud runs here; start one with `spotwarden local serve`")
    try:
        sys.exit(_run(url, node, command))
    except httpx.TransportError as error:
        raise click.ClickException(f"no local cloud answers at {url}: {error}") from error


def _run(url: str, node: str, command: str) -> int:
    """Print what it says, as it says it; gives its status."""
    body = {"node": node, "command": command}
    with httpx.stream(
        "POST",
        f"{url}/local/shell",
        json=body,
        timeout=None,  # noqa: S113 — a command takes as long as it takes
        trust_env=False,
        verify=NO_TLS,
    ) as answer:
        if answer.is_error:
            raise click.ClickException(str(json.loads(answer.read())["error"]["message"]))
        for line in answer.iter_lines():
            piece = json.loads(line)
            if "status" in piece:
                return int(piece["status"])
            stream = sys.stdout.buffer if "out" in piece else sys.stderr.buffer
            stream.write(base64.b64decode(piece.get("out") or piece["err"]))
            stream.flush()
    raise click.ClickException(f"{node} was switched off, and the command ended with it")
