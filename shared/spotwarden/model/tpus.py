"""Which machine has which TPU, and the image that its programs run on.

Source: "TPU machines in accelerator-optimized machine family" and "TPU OS images" (Google), read in November
2026. A name is what the Cloud TPU API calls the accelerator type: v6e counts chips, v5p and TPU7x count
TensorCores, of which each chip has two. Compute Engine makes a VM of one host; more hosts are a slice, whose
topology says how its chips are laid out ("TPU v5p", "TPU v6e", "TPU7x (Ironwood)": configurations).
"""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

IMAGE_PROJECT = "ubuntu-os-accelerator-images"
_UBUNTU_2204 = "ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e"
_UBUNTU_2404 = "ubuntu-accel-2404-amd64-tpu-tpu7x"


class TpuGeneration(msgspec.Struct, frozen=True, kw_only=True):
    """A generation: its machine types without the number of chips, and which numbers one host has.

    `cores` are those of a chip that its names count; `image` is Google's family of images for it. `slices`
    are the topologies of several hosts up to 2,048 chips, all of machines with `slice_chips` chips.
    """

    gpu: str
    machines: str
    chips: tuple[int, ...]
    cores: int = 1
    image: str = _UBUNTU_2204
    slices: tuple[str, ...]
    slice_chips: int = 4


_CUBES = ("2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8", "8x8x16", "8x16x16")
_SQUARES = ("4x4", "4x8", "8x8", "8x16", "16x16")
GENERATIONS: Mapping[str, TpuGeneration] = {
    "v6e": TpuGeneration(gpu="tpu-v6e", machines="ct6e-standard", chips=(1, 4, 8), slices=_SQUARES),
    "v5p": TpuGeneration(gpu="tpu-v5p", machines="ct5p-hightpu", chips=(4,), cores=2, slices=_CUBES),
    "tpu7x": TpuGeneration(
        gpu="tpu7x", machines="tpu7x-standard", chips=(4,), cores=2, image=_UBUNTU_2404, slices=_CUBES
    ),
}  # fmt: skip
"""Those of which Compute Engine makes VMs."""

ELSEWHERE = ("v2", "v3", "v4", "v5litepod", "v5e")
"""Those that only GKE or the Cloud TPU API has."""
_ELSEWHERE_MACHINE = re.compile(r"(?:ct3p?|ct4p|ct5lp?)-[a-z]+-\d+t")
_COUNT = re.compile(r"[1-9]\d{0,4}")
_TPU_MACHINE = re.compile(r"(?:ct|tpu)\d")
_MACHINE = re.compile(r"(?P<machines>[a-z0-9]+-[a-z]+)-(?P<chips>[1-9]\d{0,2})t")
_TOPOLOGY = re.compile(r"[1-9]\d{0,2}(?:x[1-9]\d{0,2}){1,2}")
_FEWEST_HOSTS = 2
_SAID = re.compile(r"(?P<generation>[a-z0-9]+)-(?P<number>[1-9]\d{0,4})")


class TpuHost(NamedTuple):
    """A VM with TPUs: its machine type, the type of its chips, how many, and their family of images."""

    machine: str
    gpu: str
    chips: int
    image: str


class TpuSlice(NamedTuple):
    """A slice: a VM of it, how many there are, and how their chips are laid out."""

    host: TpuHost
    hosts: int
    topology: str


def accelerator_type(said: str) -> str:
    """The accelerator type of `v6e:16`, which counts chips; any other words as they are."""
    name, colon, chips = said.lower().partition(":")
    generation = GENERATIONS.get(name)
    if not colon or generation is None or not _COUNT.fullmatch(chips):
        return said
    return f"{name}-{int(chips) * generation.cores}"


def tpu_slice(said: str) -> TpuSlice | None:
    """The slice of several hosts that is this accelerator type; None where it is none."""
    match = _SAID.fullmatch(said.lower())
    generation = GENERATIONS.get(match["generation"]) if match else None
    if match is None or generation is None:
        return None
    for topology in generation.slices:
        chips = _chips(topology)
        if chips * generation.cores == int(match["number"]):
            each = generation.slice_chips
            host = TpuHost(f"{generation.machines}-{each}t", generation.gpu, each, generation.image)
            return TpuSlice(host, chips // each, topology)
    return None


def hosts_of(machine: str, topology: str) -> int | str:
    """How many VMs of this machine type form the topology, at least two; or why they form none."""
    found = _MACHINE.fullmatch(machine)
    kinds = [kind for kind in GENERATIONS.values() if found and kind.machines == found["machines"]]
    if found is None or not kinds:
        return f"{machine or 'a machine type that is not named'} has no TPUs that form a slice"
    sides, own = topology.count("x"), kinds[0].slices
    if not _TOPOLOGY.fullmatch(topology) or sides != own[0].count("x"):
        return f"{topology!r} is not a topology of {machine}; write one such as {own[0]}"
    hosts, rest = divmod(_chips(topology), int(found["chips"]))
    if rest or hosts < _FEWEST_HOSTS:
        return f"{topology} is {_chips(topology)} chips, and no slice of several VMs of {machine}"
    return hosts


def has_tpus(machine: str) -> bool:
    """Whether VMs of this machine type have TPU chips."""
    return _TPU_MACHINE.match(machine) is not None


def is_slice_machine(machine: str) -> bool:
    """Whether VMs of this machine type can form a slice."""
    found = _MACHINE.fullmatch(machine)
    return found is not None and any(kind.machines == found["machines"] for kind in GENERATIONS.values())


def _chips(topology: str) -> int:
    return math.prod(int(side) for side in topology.split("x"))


def tpu_host(said: str) -> TpuHost | str:
    """The VM that has this accelerator type, or why there is none, with what to write."""
    match = _SAID.fullmatch(said.lower())
    name = match["generation"] if match else ""
    if match is None or name not in (*GENERATIONS, *ELSEWHERE):
        return f"{said[:40]!r} is not a known TPU; write one of {', '.join(offered())}"
    if name in ELSEWHERE:
        return f"{said}: {elsewhere(name)}"
    generation = GENERATIONS[name]
    chips, rest = divmod(int(match["number"]), generation.cores)
    if rest or chips not in generation.chips:
        return f"{said}: {_no_host(name)}"
    return TpuHost(f"{generation.machines}-{chips}t", generation.gpu, chips, generation.image)


def is_elsewhere(machine: str) -> bool:
    """Whether a machine type with TPUs stands in Compute Engine's lists, but no VM is made of it."""
    return _ELSEWHERE_MACHINE.fullmatch(machine) is not None


def elsewhere(what: str) -> str:
    """Why there is no VM with these TPUs, and what to write."""
    return (
        f"Compute Engine creates no VMs with {what}; only GKE and the Cloud TPU API do. "
        f"Use one of {', '.join(offered())}"
    )


def image_for(gpu: str) -> tuple[str, str]:
    """The family of Google's images for chips of this type, and its project."""
    known = (generation.image for generation in GENERATIONS.values() if generation.gpu == gpu)
    return next(known, _UBUNTU_2204), IMAGE_PROJECT


def offered() -> list[str]:
    """Every accelerator type that one VM has."""
    return [
        f"{name}-{chips * generation.cores}"
        for name, generation in GENERATIONS.items()
        for chips in generation.chips
    ]


def _no_host(name: str) -> str:
    generation = GENERATIONS[name]
    fitting = ", ".join(f"{name}-{count * generation.cores}" for count in generation.chips)
    counts = f" {name} counts TensorCores, two for each chip." if generation.cores > 1 else ""
    sizes = ", ".join(f"{name}-{_chips(topology) * generation.cores}" for topology in generation.slices)
    return f"no VM and no slice has so many chips.{counts} One VM has {fitting}; several have {sizes}"
