"""What `--tpu` says, as a machine."""

import click

from spotwarden.model.tpus import TpuSlice, accelerator_type, elsewhere, is_elsewhere, tpu_host, tpu_slice


def tpu_machine(said: str) -> TpuSlice:
    """The VMs that `--tpu` means: one without a topology, or those of a slice.

    Raises:
        UsageError: it is no TPU that Compute Engine makes VMs of; says what to write.
    """
    kind = accelerator_type(said)
    if found := tpu_slice(kind):
        return found
    host = tpu_host(kind)
    if isinstance(host, str):
        raise click.UsageError(f"--tpu {host}")
    return TpuSlice(host, 1, "")


def check_made(machine: str) -> None:
    """Refuse a machine type with TPUs that stands in Compute Engine's lists, but of which it makes no VM.

    Raises:
        UsageError: it is one of those; says what to write.
    """
    if is_elsewhere(machine):
        raise click.UsageError(f"--machine {machine}: {elsewhere('this TPU')}")
