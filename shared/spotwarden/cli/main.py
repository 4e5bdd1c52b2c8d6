"""The command line."""

import click

from spotwarden import __version__
from spotwarden.cli.configured import configured
from spotwarden.cli.interrupted import farewell, interruptible, said_so_far
from spotwarden.cli.lazy import LazyGroup

COMMANDS = {
    "run": ("spotwarden.cli.launching.run:run", "Run existing code on a spot VM and follow its log."),
    "submit": (
        "spotwarden.cli.launching.submit:submit",
        "Launch a job from a create script.",
    ),
    "shell": ("spotwarden.cli.launching.shell:shell", "Run one command on a job's VM."),
    "jobs": ("spotwarden.cli.looking.jobs:jobs", "List the jobs in the bucket."),
    "show": ("spotwarden.cli.looking.show:show", "Show a job's status, cost, progress and history."),
    "logs": (
        "spotwarden.cli.looking.logs:logs",
        "Print a job's log over all attempts; -f follows it.",
    ),
    "download": ("spotwarden.cli.looking.download:download", "Download a job's output."),
    "diff": (
        "spotwarden.cli.looking.diff:diff",
        "Compare two jobs: scripts, settings and metrics.",
    ),
    "stop": ("spotwarden.cli.acting.stopping:stop", "Stop a job for good."),
    "restart": (
        "spotwarden.cli.acting.stopping:restart",
        "Restart a job that is over, as its next attempt.",
    ),
    "extend": ("spotwarden.cli.acting.sparing:extend", "Give a job more time than its limit."),
    "keep": (
        "spotwarden.cli.acting.sparing:keep",
        "Exempt a job or a VM from all policy rules for a time.",
    ),
    "quarantine": (
        "spotwarden.cli.acting.quarantine:quarantine",
        "List, retry or drop quarantined markers.",
    ),
    "zones": (
        "spotwarden.cli.acting.zones:zones",
        "Keep all jobs away from a zone for a time.",
    ),
    "cases": (
        "spotwarden.cli.acting.cases:cases",
        "List and answer open policy cases.",
    ),
    "notices": (
        "spotwarden.cli.acting.notices:notices",
        "List, retry or test notifications.",
    ),
    "policy": (
        "spotwarden.cli.limits.policy:policy",
        "Check a policy, or explain a job's limits.",
    ),
    "backtest": (
        "spotwarden.cli.limits.backtest:backtest",
        "Replay recorded sweeps under another policy.",
    ),
    "doctor": (
        "spotwarden.cli.deployment.doctor:doctor",
        "Check that a deployment works.",
    ),
    "script": (
        "spotwarden.cli.launching.script:script",
        "Check what a create script would launch.",
    ),
    "config": ("spotwarden.cli.config:config", "Show and set the bucket, project, owner and more."),
    "completion": (
        "spotwarden.cli.completing:completion",
        "Print the completion script for bash, zsh or fish.",
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
@click.option("--bucket", help="Bucket of the jobs, for this command.")
@click.option("--project", help="Google Cloud project, for this command.")
@click.option("--prefix", help="Folder of the jobs in the bucket, for this command.")
@click.pass_context
def main(ctx: click.Context, bucket: str | None, project: str | None, prefix: str | None) -> None:
    """Run training jobs on spot VMs and control their cost.

    \b
    Run code on a spot VM:   spotwarden run --job my-job --gpu l4:1 --zone us-central1-a -- python train.py
    Launch a create script:  spotwarden submit create-instance.sh --code .
    List jobs:               spotwarden jobs
    Follow a job's log:      spotwarden logs -f my-job
    Stop a job:              spotwarden stop my-job
    Try it without a cloud:  spotwarden local serve --functions
                             eval "$(spotwarden local env)"

    Exit status: 0 success, 1 failure, 2 wrong usage, 130 interrupted with Ctrl-C.
    """
    if ctx.invoked_subcommand not in UNCONFIGURED:
        ctx.with_resource(configured(bucket=bucket, project=project, prefix=prefix))
