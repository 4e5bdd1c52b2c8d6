"""The GPUs that an instance has, as NVIDIA's driver would name them."""

import uuid
from dataclasses import dataclass

from localcloud.ports import Resource

KINDS: dict[str, tuple[str, int]] = {
    "nvidia-tesla-k80": ("Tesla K80", 11441),
    "nvidia-tesla-p4": ("Tesla P4", 7680),
    "nvidia-tesla-p100": ("Tesla P100-PCIE-16GB", 16384),
    "nvidia-tesla-v100": ("Tesla V100-SXM2-16GB", 16384),
    "nvidia-tesla-t4": ("Tesla T4", 15360),
    "nvidia-l4": ("NVIDIA L4", 23034),
    "nvidia-tesla-a100": ("NVIDIA A100-SXM4-40GB", 40960),
    "nvidia-a100-80gb": ("NVIDIA A100-SXM4-80GB", 81920),
    "nvidia-h100-80gb": ("NVIDIA H100 80GB HBM3", 81559),
    "nvidia-h100-mega-80gb": ("NVIDIA H100 80GB HBM3", 81559),
    "nvidia-h200-141gb": ("NVIDIA H200", 143771),
    "nvidia-b200": ("NVIDIA B200", 183359),
}
"""Accelerator type → the driver's name and MiB of memory; any other type goes by its own name."""

UNKNOWN_MIB = 16384
_SPACE = uuid.UUID("5b0c2a3e-6f0e-4a59-8a9c-0f3f8e6f8f11")


@dataclass(frozen=True, kw_only=True)
class Card:
    """One GPU. `number` counts from 0, `uuid` starts with `GPU-` and stays the same for an instance."""

    number: int
    model: str
    uuid: str
    memory_mib: int


def cards_of(instance: Resource) -> list[Card]:
    """All GPUs of an instance, in the order of its `guestAccelerators`."""
    types = [
        entry["acceleratorType"].rpartition("/")[2]
        for entry in instance.get("guestAccelerators", [])
        for _ in range(int(entry.get("acceleratorCount", 1)))
    ]
    return [_card(number, kind, str(instance["id"])) for number, kind in enumerate(types)]


def _card(number: int, kind: str, instance_id: str) -> Card:
    model, memory = KINDS.get(kind.removesuffix("-vws"), (kind, UNKNOWN_MIB))
    identity = uuid.uuid5(_SPACE, f"{instance_id}/{number}")
    return Card(number=number, model=model, uuid=f"GPU-{identity}", memory_mib=memory)
