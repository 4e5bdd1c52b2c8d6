"""The command line of the local cloud."""

import click

from localcloud.commands.knobs import agent, deny, env, fault, mail, preempt, status, stockout, tick, travel
from localcloud.commands.serve import serve
from localcloud.commands.shell import shell
from localcloud.commands.story import story
from localcloud.interrupted import STATUS


class LocalCommands(click.Group):
    """All commands; one that Ctrl-C ends has the exit status that a shell gives it."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; what it has to undo it has undone by then."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\ninterrupted", err=True)
            raise click.exceptions.Exit(STATUS) from None


@click.group(cls=LocalCommands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Run a local cloud and inject failures.

    It serves Google's APIs on loopback, with processes for VMs.

    \b
    Start one:           spotwarden local serve
    Point clients at it: eval "$(spotwarden local env)"
    Preempt a VM:        spotwarden local preempt test-vm
    Skip time:           spotwarden local travel 25m
    Play a demo:         spotwarden local story --once
    """


for command in (serve, env, status, preempt, stockout, fault, deny, tick, travel, agent, mail, shell, story):
    main.add_command(command)
