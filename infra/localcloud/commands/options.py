"""Options of all commands that start a local cloud."""

import click

LIMIT = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a limit of docs/local-cloud-reference.md, such as latency_seconds=0.1; `off` lifts all.",
)
