"""`spotwarden completion`: what a shell needs to complete commands, options and the names of jobs."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
PROGRAM, VARIABLE = "spotwarden", "_SPOTWARDEN_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell; job names are asked of the bucket, for two seconds at most.

    \b
    Examples:
      eval "$(spotwarden completion bash)"                  # in ~/.bashrc (bash 4.4 or newer)
      eval "$(spotwarden completion zsh)"                   # in ~/.zshrc, after compinit
      spotwarden completion fish > ~/.config/fish/completions/spotwarden.fish
    """  # noqa: D301 — \b is click's mark for lines that stay as they are
    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"click knows no completion for {shell}")
    click.echo(kind(ctx.find_root().command, {}, PROGRAM, VARIABLE).source())
