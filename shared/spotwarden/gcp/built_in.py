"""The GPUs or TPUs that a machine type brings along, for where a VM's own resource does not list them.

Compute Engine answers with `guestAccelerators` for VMs with GPUs, but no page of its reference promises it.
Source: "Accelerator-optimized machine family", "GPU machine types" and "TPU machines in accelerator-optimized
machine family" (Google), read in November 2026.
"""

import re

from spotwarden.model.accelerators import TPU

_NAMED = re.compile(r"(?P<series>[a-z0-9]+-[a-z]+)-(?P<count>\d+)g(?:-[a-z]+)?")
"""The families that say the number of GPUs in the name, as `a3-highgpu-8g` does."""

_SERIES = {
    "a2-highgpu": "nvidia-tesla-a100",
    "a2-megagpu": "nvidia-tesla-a100",
    "a2-ultragpu": "nvidia-a100-80gb",
    "a3-edgegpu": "nvidia-h100-80gb",
    "a3-highgpu": "nvidia-h100-80gb",
    "a3-megagpu": "nvidia-h100-mega-80gb",
    "a3-ultragpu": "nvidia-h200-141gb",
    "a4-highgpu": "nvidia-b200",
    "a4x-highgpu": "nvidia-gb200",
}
_TPU = re.compile(r"(?P<series>ct\d+[a-z]*|tpu\d+x)-[a-z]+-(?P<count>\d+)t(?:-tpu)?")
"""Machines with TPUs say the number of chips, as `ct6e-standard-4t` does."""
_TPU_SERIES = {"ct5lp": "tpu-v5e", "ct5p": "tpu-v5p", "ct6e": "tpu-v6e"}
_L4 = {4: 1, 8: 1, 12: 1, 16: 1, 24: 2, 32: 1, 48: 4, 96: 8}
_TYPES = {f"g2-standard-{cpus}": (gpus, "nvidia-l4") for cpus, gpus in _L4.items()}


def built_in(machine_type: str) -> tuple[int, str]:
    """How many GPUs or TPU chips come with the machine type, and which; 0 and "" for none that we know of."""
    named = _NAMED.fullmatch(machine_type)
    if named and named["series"] in _SERIES:
        return int(named["count"]), _SERIES[named["series"]]
    if tpu := _TPU.fullmatch(machine_type):
        series = tpu["series"]
        of_its_own = series if series.startswith(TPU) else f"{TPU}-{series}"
        return int(tpu["count"]), _TPU_SERIES.get(series, of_its_own)
    return _TYPES.get(machine_type, (0, ""))
