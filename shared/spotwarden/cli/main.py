"""The command line."""

import click

from spotwarden.cli.jobs import jobs, show
from spotwarden.cli.local import local
from spotwarden.cli.submit import submit


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Preempted training jobs come back; idle GPU machines do not burn money.

    \b
    On this machine alone:   spotwarden local serve --functions
                             eval "$(spotwarden local env)"
    Launch a job:            spotwarden submit create-instance.sh --code .
    See what runs:           spotwarden jobs
    """  # noqa: D301 — \b is click's mark for lines that stay as they are


for command in (submit, jobs, show, local):
    main.add_command(command)
