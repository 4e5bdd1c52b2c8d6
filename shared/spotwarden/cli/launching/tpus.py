"""What `--tpu` says, as a machine."""

import click

from spotwarden.model.tpus import TpuHost, elsewhere, is_elsewhere, tpu_host


def tpu_machine(said: str) -> TpuHost:
    """The VM that `--tpu` means.

    Raises:
        UsageError: it is no TPU of one host that Compute Engine makes VMs of; says what to write.
    """
    host = tpu_host(said)
    if isinstance(host, str):
        raise click.UsageError(f"--tpu {host}")
    return host


def check_made(machine: str) -> None:
    """Refuse a machine type with TPUs that stands in Compute Engine's lists, but of which it makes no VM.

    Raises:
        UsageError: it is one of those; says what to write.
    """
    if is_elsewhere(machine):
        raise click.UsageError(f"--machine {machine}: {elsewhere('this TPU')}")
