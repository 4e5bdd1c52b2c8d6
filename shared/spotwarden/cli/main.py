"""The command line."""

import click

from spotwarden import __version__
from spotwarden.cli.configured import configured
from spotwarden.cli.interrupted import farewell, interruptible, said_so_far
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
    "download": ("spotwarden.cli.looking.download:download", "Fetch what a job has produced."),
    "diff": (
        "spotwarden.cli.looking.diff:diff",
        "Hold two jobs against each other: scripts, settings, metrics.",
    ),
    "stop": ("spotwarden.cli.acting.stopping:stop", "Stop a job, and do not bring it back."),
    "restart": (
        "spotwarden.cli.acting.stopping:restart",
        "Start a job that is over once more, as its next attempt.",
    ),
    "extend": ("spotwarden.cli.acting.sparing:extend", "Give a job more time than its limit."),
    "keep": (
        "spotwarden.cli.acting.sparing:keep",
        "Have governance do nothing to a job or a VM for a while.",
    ),
    "quarantine": (
        "spotwarden.cli.acting.quarantine:quarantine",
        "Markers that could not be used: see why, put them back, drop them.",
    ),
    "cases": (
        "spotwarden.cli.acting.cases:cases",
        "List open policy cases: see it, keep a VM, extend a job.",
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
        "Read a create script: what it would launch, and what to fix.",
    ),
    "config": ("spotwarden.cli.config:config", "Bucket, project, owner and the like: see and set them."),
    "completion": (
        "spotwarden.cli.completing:completion",
        "What bash, zsh or fish need to complete commands and job names.",
    ),
    "local": ("spotwarden.cli.local:local", "Run a local cloud and inject failures."),
}


class CommandTable(LazyGroup):
    """All commands; what a person can mend is told in a sentence."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; one that is interrupted says what it has done by then."""
        try:
            with interruptible():
                return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise farewell(interrupt) from None
        except click.Abort as abort:
            # At a question, click makes one of Ctrl-C.
            if isinstance(abort.__context__, KeyboardInterrupt):
                raise farewell(abort.__context__) from None
            raise
        except (click.ClickException, click.exceptions.Exit):
            raise
        except Exception as error:
            from spotwarden.cli.complaints import complaint  # noqa: PLC0415 — most commands have none

            if said := complaint(error):
                told = said_so_far()
                raise click.ClickException(f"{said}\n{told}" if told else said) from error
            raise


UNCONFIGURED = frozenset({"config", "completion", "local"})
"""Commands that must work, and mean the same, whatever a configuration file says."""


@click.group(cls=CommandTable, commands_at=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option("--bucket", help="The bucket of the jobs, for this command.")
@click.option("--project", help="The Google Cloud project, for this command.")
@click.option("--prefix", help="The folder of the bucket that the jobs stand in, for this command.")
@click.pass_context
def main(ctx: click.Context, bucket: str | None, project: str | None, prefix: str | None) -> None:
    """Preempted training jobs come back; idle GPU machines do not burn money.

    \b
    On this machine alone:   spotwarden local serve --functions
                             eval "$(spotwarden local env)"
    Run code on a spot VM:   spotwarden run --job my-job --machine g2-standard-8 -- python train.py
    Launch a create script:  spotwarden submit create-instance.sh --code .
    See what runs:           spotwarden jobs
    Stop it:                 spotwarden stop my-job

    Exit status: 0 it was done, 1 it was not, and why was said, 2 the command makes no sense, 130 Ctrl-C.
    """
    if ctx.invoked_subcommand not in UNCONFIGURED:
        ctx.with_resource(configured(bucket=bucket, project=project, prefix=prefix))
