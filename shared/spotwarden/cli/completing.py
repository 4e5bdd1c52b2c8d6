"""`spotwarden completion`, and what a shell is then offered; whatever goes wrong, it is offered nothing."""

import contextlib
import threading

import click
from click.shell_completion import CompletionItem, get_completion_class

TIMEOUT = 2.0
"""Seconds: a shell that waits longer for a list of jobs is felt as one that hangs."""


def job_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The jobs of the bucket that begin so."""
    del ctx, param
    return [CompletionItem(name) for name in within(TIMEOUT) if name.startswith(incomplete)]


def within(seconds: float) -> list[str]:
    """The names of the jobs, none where the bucket does not answer in time or cannot be asked."""
    found: list[str] = []
    asking = threading.Thread(target=_ask, args=(found,), daemon=True)
    asking.start()
    asking.join(seconds)
    return [] if asking.is_alive() else sorted(found)


def _ask(found: list[str]) -> None:
    # A shell in the middle of a line can do nothing with an error, whatever it is.
    with contextlib.suppress(Exception):
        from spotwarden.cli.configured import configured  # noqa: PLC0415 — nothing is loaded before it is needed
        from spotwarden.cli.context import open_context  # noqa: PLC0415 — as above
        from spotwarden.layout import RESERVED_JOBS, job_problem  # noqa: PLC0415 — as above

        with configured():
            context = open_context()
            names = context.cloud.store.folders(context.settings.layout.prefix)
        found.extend(name for name in names if name not in RESERVED_JOBS and job_problem(name) is None)


SHELLS = ("bash", "zsh", "fish")
PROGRAM, VARIABLE = "spotwarden", "_SPOTWARDEN_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    Completing job names reads the bucket, for at most 2 s.

    \b
    Examples:
      eval "$(spotwarden completion bash)"                  # in ~/.bashrc (bash 4.4 or newer)
      eval "$(spotwarden completion zsh)"                   # in ~/.zshrc, after compinit
      spotwarden completion fish > ~/.config/fish/completions/spotwarden.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"completion isn't supported for {shell}")
    click.echo(kind(ctx.find_root().command, {}, PROGRAM, VARIABLE).source())
