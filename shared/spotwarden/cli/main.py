"""The command line."""

import click

from spotwarden.cli.complaints import complaint
from spotwarden.cli.lazy import LazyGroup

COMMANDS = {
    "run": ("spotwarden.cli.launching.run:run", "Run existing code on a spot VM, and follow it."),
    "submit": (
        "spotwarden.cli.launching.submit:submit",
        "Store a create script with its files and code, and launch its job.",
    ),
    "shell": ("spotwarden.cli.launching.shell:shell", "Run one command on a job's VM."),
    "jobs": ("spotwarden.cli.looking.jobs:jobs", "Print the experiment table: every job of the bucket."),
    "show": ("spotwarden.cli.looking.show:show", "Print how one job stands, and how it came there."),
    "logs": (
        "spotwarden.cli.looking.logs:logs",
        "Print what a job has said, over all attempts; -f follows it.",
    ),
    "quarantine": (
        "spotwarden.cli.acting.quarantine:quarantine",
        "Markers that could not be used: see why, put them back, drop them.",
    ),
    "cases": (
        "spotwarden.cli.acting.cases:cases",
        "What governance has against whom: see it, keep a VM, extend a job.",
    ),
    "notices": (
        "spotwarden.cli.acting.notices:notices",
        "What people are told: what waits, what could not be delivered, samples of all kinds.",
    ),
    "policy": (
        "spotwarden.cli.limits.policy:policy",
        "The limits your team agreed on: check them, see which hold for a job.",
    ),
    "backtest": (
        "spotwarden.cli.limits.backtest:backtest",
        "Replay recorded sweeps under another policy: what it would warn, stop and save.",
    ),
    "doctor": (
        "spotwarden.cli.deployment.doctor:doctor",
        "Is a deployment well? Look at all of it, and try it out.",
    ),
    "script": (
        "spotwarden.cli.launching.script:script",
        "Read a create script: what it would launch, what to mend.",
    ),
    "local": ("spotwarden.cli.local:local", "Run and torment a Google Cloud of this machine's own."),
}


class Commands(LazyGroup):
    """All commands; what a person can mend is told in a sentence."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if said := complaint(error):
                raise click.ClickException(said) from error
            raise


@click.group(cls=Commands, commands_at=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Preempted training jobs come back; idle GPU machines do not burn money.

    \b
    On this machine alone:   spotwarden local serve --functions
                             eval "$(spotwarden local env)"
    Launch a job:            spotwarden submit create-instance.sh --code .
    See what runs:           spotwarden jobs
    """  # noqa: D301 — \b is click's mark for lines that stay as they are
