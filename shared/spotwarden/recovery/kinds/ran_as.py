"""What the VMs of an attempt were, by what it asked for."""

from msgspec.structs import replace

from spotwarden.model.attempt import Attempt, Try
from spotwarden.model.prices import VmKind
from spotwarden.recovery.kinds.machines import split_key


def provisioned(tried: Try, scripted: str) -> str:
    """The provisioning model of a try, in Google's word; `scripted` where the script decided."""
    if tried.model is not None:
        return tried.model.google
    return scripted if tried.spot else "STANDARD"


def on_its_machine(attempt: Attempt, like: VmKind) -> VmKind:
    """The kind, on the machine type that the attempt asked for: not all of a job's VMs need have that."""
    if attempt.tries and (machine := attempt.tries[-1].machine):
        # What GPUs it has come with it.
        return replace(like, machine_type=machine, gpu="", gpus=0)
    own, gpu = split_key(attempt.machine)
    if own and own != like.machine_type:
        return replace(like, machine_type=own, gpu=gpu, gpus=attempt.gpus)
    return like
