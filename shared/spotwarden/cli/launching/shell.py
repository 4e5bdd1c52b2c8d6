"""`spotwarden shell`: one command on a job's VM, or a shell there."""

import os
import shlex
import shutil
import sys

import click

from spotwarden.cli.completing import job_names
from spotwarden.cli.context import Context, open_context
from spotwarden.cli.launching.storing import look
from spotwarden.gcp.endpoint import is_loopback
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.recovery.folder.chain import as_told


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--job", required=True, shell_complete=job_names, help="Name of the job.")
@click.option("--node", default="", help="Node of a gang, by name or number [default: the first].")
@click.option(
    "--iap", is_flag=True, help="Connect through Identity-Aware Proxy, for VMs without an external address."
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def shell(job: str, node: str, command: tuple[str, ...], *, iap: bool) -> None:
    """Run COMMAND on a job's VM, or open a shell there.

    A COMMAND of several words runs as written; a single quoted word runs in a shell. It needs gcloud,
    for `gcloud compute ssh`. On the local cloud it runs beside the VM's processes, without input.

    \b
    Examples:
      spotwarden shell --job mnist -- nvidia-smi
      spotwarden shell --job pair --node 2 -- 'tail -n 20 /var/lib/spotwarden/log/*.log'
    """
    context = open_context()
    vm = _find(context, look(context, job), node)
    line = command[0] if len(command) == 1 else shlex.join(command)
    if is_loopback(context.settings.compute_endpoint):
        if not line:
            raise click.UsageError("add a command: the local cloud has no interactive shell")
        words = [sys.executable, "-m", "localcloud", "shell", vm.id, line]
    else:
        words = _by_gcloud(context, vm, line, iap=iap)
    # The command takes this process over: its terminal, its signals and its status are the ones that count.
    os.execv(words[0], words)  # noqa: S606 — no shell wanted


def _find(context: Context, facts: JobFacts, node: str) -> Instance:
    """The VM of the job's newest attempt; a `ClickException` says why there is none."""
    job = facts.job
    if not facts.ledger and facts.status_code is None:
        raise click.ClickException(f"unknown job {job!r}; to list jobs: spotwarden jobs")
    newest = as_told(facts).newest
    instances = newest.instances if newest else {}
    name = _node(job, list(instances), node)
    for vm in context.cloud.compute.instances(names=[name], job=job).items if name else ():
        if vm.id == instances[name]:
            return vm
    ended = f"it ended with status {facts.status_code}" if facts.status_code is not None else ""
    raise click.ClickException(f"{job} has no VM now: {ended or f'`spotwarden show {job}` shows its status'}")


def _node(job: str, names: list[str], said: str) -> str:
    """The node's name; "" where the job has none."""
    for name in names:
        number = name.rpartition("-")[2].lstrip("0")
        if said in {"", name} or (said.isdecimal() and said.lstrip("0") == number):
            return name
    if names:
        raise click.UsageError(f"--node {said!r}: {job} has {', '.join(names)}")
    return ""


def _by_gcloud(context: Context, vm: Instance, line: str, *, iap: bool) -> list[str]:
    """The words of `gcloud compute ssh` (Google: "gcloud compute ssh")."""
    gcloud = shutil.which("gcloud")
    if gcloud is None:
        raise click.ClickException(
            "`spotwarden shell` needs `gcloud compute ssh`, but gcloud isn't installed. Install the "
            f"Google Cloud CLI, or open a shell on {vm.name} ({vm.zone}) in the Cloud console"
        )
    words = [gcloud, "compute", "ssh", vm.name, f"--project={context.settings.project}", f"--zone={vm.zone}"]
    words += ["--tunnel-through-iap"] if iap else []
    return [*words, f"--command={line}"] if line else words
