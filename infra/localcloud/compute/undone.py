"""Members of Compute Engine's bodies that the local cloud does not do: refused with 501 and their name.

Who asks for nothing by them (false, nothing) is let through. What is kept and has no effect is listed in
infra/localcloud/METHODS.md.
"""

from collections.abc import Mapping, Sequence

UNDONE: Mapping[str, Sequence[str]] = {
    "AttachedDiskInitializeParams": ("sourceImageEncryptionKey", "sourceSnapshotEncryptionKey"),
    # Compute Engine shows only a hash of such a key, and asks for it again at each start.
    "CustomerEncryptionKey": ("rawKey", "rsaEncryptedKey"),
    "Instance": ("sourceMachineImageEncryptionKey",),
    # A machine image has all disks of its VM.
    "MachineImageParams": ("excludedDisks", "includedDisks"),
    # Stateful instances.
    "PerInstanceConfig": ("preservedState",),
    # It changes how a VM ends, which is what the local cloud is there for.
    "SchedulingGracefulShutdown": ("enabled",),
}
