"""The command line of the local cloud."""

import click

from localcloud.commands.knobs import agent, env, fault, mail, preempt, status, stockout, tick, travel
from localcloud.commands.serve import serve
from localcloud.commands.shell import shell
from localcloud.commands.story import story


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """A Google Cloud of this machine's own: APIs on loopback, VMs that are process groups.

    \b
    Start one:           spotwarden local serve
    Point clients at it: eval "$(spotwarden local env)"
    Take a VM away:      spotwarden local preempt test-vm
    Let time pass:       spotwarden local travel 25m
    Be told a story:     spotwarden local story --once
    """


for command in (serve, env, status, preempt, stockout, fault, tick, travel, agent, mail, shell, story):
    main.add_command(command)
