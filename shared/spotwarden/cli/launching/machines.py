"""Which machine has which GPUs: what fits, or what would.

Source: "GPU machine types" (Google), read in November 2026, as `spotwarden.gcp.built_in`. Machines that are
accelerator-optimized bring their GPUs along; to N1 machines some kinds can be attached, so many for so many
vCPUs; all others take none.
"""

import re
from collections.abc import Mapping

import click
import msgspec

from spotwarden.cli.launching.tpus import check_made, tpu_machine
from spotwarden.gcp.built_in import built_in
from spotwarden.model.accelerators import is_tpu

ALIASES: Mapping[str, str] = {
    "t4": "nvidia-tesla-t4",
    "p4": "nvidia-tesla-p4",
    "p100": "nvidia-tesla-p100",
    "v100": "nvidia-tesla-v100",
    "l4": "nvidia-l4",
    "a100": "nvidia-tesla-a100",
    "a100-40gb": "nvidia-tesla-a100",
    "a100-80gb": "nvidia-a100-80gb",
    "h100": "nvidia-h100-80gb",
    "h100-80gb": "nvidia-h100-80gb",
    "h100-mega": "nvidia-h100-mega-80gb",
    "h200": "nvidia-h200-141gb",
    "b200": "nvidia-b200",
}
"""What people say for what Compute Engine calls so."""

ATTACHED: Mapping[str, Mapping[int, int]] = {
    "nvidia-tesla-t4": {1: 48, 2: 48, 4: 96},
    "nvidia-tesla-p4": {1: 24, 2: 48, 4: 96},
    "nvidia-tesla-p100": {1: 16, 2: 32, 4: 96},
    "nvidia-tesla-v100": {1: 12, 2: 24, 4: 48, 8: 96},
}
"""For each kind that an N1 machine takes: how many, and the most vCPUs that it may then have."""

WITH_GPUS = (
    *(f"g2-standard-{cpus}" for cpus in (4, 8, 12, 16, 24, 32, 48, 96)),
    *(f"a2-highgpu-{count}g" for count in (1, 2, 4, 8)),
    "a2-megagpu-16g",
    *(f"a2-ultragpu-{count}g" for count in (1, 2, 4, 8)),
    *(f"a3-highgpu-{count}g" for count in (1, 2, 4, 8)),
    "a3-megagpu-8g",
    "a3-ultragpu-8g",
    "a4-highgpu-8g",
)
"""Machines that bring GPUs along, the smallest of each kind first."""

_SAID = re.compile(r"(?P<kind>[a-z0-9-]+)(?::(?P<count>[1-9]\d?))?")
_N1 = re.compile(r"(?:n1-(?:standard|highmem|highcpu)-|(?:n1-)?custom-)(?P<cpus>\d+)(?:-\d+(?:-ext)?)?")
_GPU_FAMILY = re.compile(r"(?:a2|a3|a4|a4x|g2|g4|ct\d+[a-z]*|tpu\d+x)-")
_STEP = 8
"""vCPUs that are taken for each GPU of a machine that nobody has named."""


class MachineType(msgspec.Struct, frozen=True, kw_only=True):
    """A machine type with its GPUs or TPU chips; `attached` where the request must name them.

    `hosts` and `topology` are those of a TPU slice, 1 and "" of anything else.
    """

    name: str
    gpu: str = ""
    count: int = 0
    attached: bool = False
    hosts: int = 1
    topology: str = ""

    @property
    def has_gpus(self) -> bool:
        """Whether it has any, also of a family that we know too little of."""
        return bool(self.count or _GPU_FAMILY.match(self.name))

    @property
    def has_tpu(self) -> bool:
        """Whether these are TPU chips."""
        return is_tpu(self.gpu)

    @property
    def gpus(self) -> str:
        """`nvidia-l4:1`, `tpu-v6e:4`; "" for none."""
        return f"{self.gpu}:{self.count}" if self.count else ""


def machine_for(machine: str, gpu: str, tpu: str = "") -> MachineType:
    """The machine that is meant: the one that was named, or the smallest with these GPUs or this TPU.

    Raises:
        UsageError: there is no such machine; says what fits.
    """
    check_made(machine)
    if tpu:
        return _with_tpu(machine, gpu, tpu)
    if not gpu:
        if not machine:
            raise click.UsageError(
                "add --machine, such as e2-standard-8 or g2-standard-8, or --gpu l4:1, or --tpu v6e-4"
            )
        count, kind = built_in(machine)
        return MachineType(name=machine, gpu=kind, count=count)
    kind, count = _read(gpu)
    if not machine:
        return _smallest(kind, count)
    has, brings = built_in(machine)
    if has:
        if (brings, has) != (kind, count):
            raise click.UsageError(
                f"{machine} comes with {has} {brings}, not with {count} {kind}; {_fitting(kind)}"
            )
        return MachineType(name=machine, gpu=kind, count=count)
    _check_attached(machine, kind, count)
    return MachineType(name=machine, gpu=kind, count=count, attached=True)


def _with_tpu(machine: str, gpu: str, tpu: str) -> MachineType:
    if gpu:
        raise click.UsageError("use --gpu or --tpu, not both")
    host, hosts, topology = tpu_machine(tpu)
    if machine not in ("", host.machine):
        raise click.UsageError(
            f"--tpu {tpu} comes with {host.machine}, not with {machine}; leave --machine out"
        )
    return MachineType(name=host.machine, gpu=host.gpu, count=host.chips, hosts=hosts, topology=topology)


def _read(said: str) -> tuple[str, int]:
    match = _SAID.fullmatch(said.lower())
    if match is None:
        raise click.UsageError(f"--gpu {said!r} is not a GPU type and count; write it like l4:1")
    kind = ALIASES.get(match["kind"], match["kind"])
    if kind not in ALIASES.values():
        known = ", ".join(sorted(ALIASES))
        raise click.UsageError(
            f"{match['kind']!r} is not a known GPU; known GPUs are {known}. "
            "A machine that brings its own needs no --gpu"
        )
    return kind, int(match["count"] or 1)


def _smallest(kind: str, count: int) -> MachineType:
    for name in WITH_GPUS:
        if built_in(name) == (count, kind):
            return MachineType(name=name, gpu=kind, count=count)
    if count in ATTACHED.get(kind, {}):
        return MachineType(name=f"n1-standard-{_STEP * count}", gpu=kind, count=count, attached=True)
    raise click.UsageError(f"no machine has {count} {kind}; {_fitting(kind)}")


def _check_attached(machine: str, kind: str, count: int) -> None:
    n1 = _N1.fullmatch(machine)
    if n1 is None or kind not in ATTACHED:
        raise click.UsageError(f"{kind} cannot be attached to {machine}; {_fitting(kind)}")
    if count not in ATTACHED[kind]:
        raise click.UsageError(f"{machine} cannot have {count} {kind}; {_fitting(kind)}")
    if int(n1["cpus"]) > (most := ATTACHED[kind][count]):
        raise click.UsageError(
            f"{machine} has too many vCPUs for {count} {kind}: at most {most}; {_fitting(kind)}"
        )


def _fitting(kind: str) -> str:
    """What has GPUs of this kind, for a person."""
    if kind in ATTACHED:
        counts = ", ".join(f"{count} with up to {cpus} vCPUs" for count, cpus in ATTACHED[kind].items())
        return f"an N1 machine takes {counts}"
    return f"{kind} comes with {', '.join(name for name in WITH_GPUS if built_in(name)[1] == kind)}"
