"""What there is to choose from: zones, machine types, accelerators, disk types; read from `catalog.toml`."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files

import msgspec

from localcloud.compute.links import region_of

FAMILY_WITH_GPUS_TO_ATTACH = "n1"
UNKNOWN_PLATFORM = "Unknown CPU Platform"
_CUSTOM_STEP_MB = 256
_MOST_EXTENDED_GB_PER_VCPU = 128


class Region(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A region: the letters of its zones, and the range of its subnet in an auto mode network."""

    zones: str
    subnet: str


class Sizes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Machine types of one class; `gb` for each vCPU."""

    gb: float
    vcpus: list[int]


class Size(msgspec.Struct, frozen=True, array_like=True):
    """One machine type; `gb` is all its memory, `gpus` of type `gpu` come with it, or as many TPU chips."""

    vcpus: int
    gb: float
    gpus: int = 0
    gpu: str = ""


class Custom(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of custom machine types: vCPUs, and memory for each in GB."""

    prefix: str
    vcpus: tuple[int, int]
    gb: tuple[float, float]


class Tpu(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The TPUs of a machine family. `listed_only`: its types stand in the lists, no VM is made of them."""

    zones: str
    listed_only: bool = False

    @property
    def zone_names(self) -> Sequence[str]:
        """The zones that have them."""
        return self.zones.split()


class Family(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A machine family; `disks` are the types that it takes, () for all, the first where none is asked for.

    Google does not document the `platform` of those with TPUs.
    """

    platform: str = UNKNOWN_PLATFORM
    tpu: Tpu | None = None
    architecture: str = "X86_64"
    disks: tuple[str, ...] = ()
    local_ssds: bool = True
    sizes: dict[str, Sizes] = {}
    named: dict[str, Size] = {}
    custom: Custom | None = None


class Accelerator(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A GPU type; `attach` is how many of them an N1 machine takes, 0 where they come with a machine."""

    title: str
    attach: int
    zones: str

    @property
    def zone_names(self) -> Sequence[str]:
        """The zones that have it."""
        return self.zones.split()


class DiskType(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A disk type; `gb` is the size where none is asked for."""

    title: str
    gb: int
    valid: str


class PublicImages(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The images of a public project."""

    families: list[str]
    image: str
    accepts: str
    gb: int


class _Tables(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    regions: dict[str, Region]
    families: dict[str, Family]
    accelerators: dict[str, Accelerator]
    disks: dict[str, DiskType]
    images: dict[str, PublicImages]


class CatalogMachine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine type. `gpus` and `gpu` say which accelerators come with it, `chips` how many of its TPU."""

    name: str
    family: str
    vcpus: int
    memory_mb: int
    platform: str
    architecture: str
    gpus: int = 0
    gpu: str = ""
    chips: int = 0

    @property
    def accelerators(self) -> tuple[str, int]:
        """What the list of machine types says comes with it; the type of a TPU is its family's name."""
        return (self.family, self.chips) if self.chips else (self.gpu, self.gpus)

    @property
    def shared_core(self) -> bool:
        """Whether its vCPUs are parts of a core."""
        return self.name in {"e2-micro", "e2-small", "e2-medium", "f1-micro", "g1-small"}


@cache
def _tables() -> _Tables:
    text = files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Tables)


class Catalog:
    """Everything on offer. Machine types are the same in all zones, but for those with GPUs and TPUs."""

    def __init__(self) -> None:
        tables = _tables()
        self.regions = tables.regions
        self.families = tables.families
        self.accelerators = tables.accelerators
        self.disk_types = tables.disks
        self.public_images = tables.images

    @cached_property
    def zones(self) -> Sequence[str]:
        """Every zone, in the order of names."""
        return sorted(f"{name}-{letter}" for name, region in self.regions.items() for letter in region.zones)

    def zones_of(self, region: str) -> Sequence[str]:
        """The zones of a region."""
        return [zone for zone in self.zones if region_of(zone) == region]

    @cached_property
    def machines(self) -> Mapping[str, CatalogMachine]:
        """Every predefined machine type."""
        return {machine.name: machine for machine in self._predefined()}

    def machine(self, name: str, zone: str) -> CatalogMachine | None:
        """The machine type of this name, custom ones included; None where the zone does not have it."""
        machine = self.machines.get(name) or self._custom(name)
        return machine if machine and self._offers(zone, machine) else None

    def machines_in(self, zone: str) -> list[CatalogMachine]:
        """The predefined machine types of a zone, in the order of names."""
        return [machine for _, machine in sorted(self.machines.items()) if self._offers(zone, machine)]

    def accelerators_in(self, zone: str) -> Mapping[str, Accelerator]:
        """The accelerator types of a zone."""
        return {
            name: accelerator
            for name, accelerator in sorted(self.accelerators.items())
            if zone in accelerator.zone_names
        }

    def _offers(self, zone: str, machine: CatalogMachine) -> bool:
        tpu = self.families[machine.family].tpu
        if tpu is not None:
            return zone in tpu.zone_names
        return not machine.gpu or zone in self.accelerators[machine.gpu].zone_names

    def makes_instances_of(self, machine: CatalogMachine) -> bool:
        """Whether a caller may create instances of it: some types are there for GKE alone."""
        tpu = self.families[machine.family].tpu
        return tpu is None or not tpu.listed_only

    def _predefined(self) -> Iterator[CatalogMachine]:
        for family, table in self.families.items():
            for kind, sizes in table.sizes.items():
                for vcpus in sizes.vcpus:
                    yield self._machine(family, f"{family}-{kind}-{vcpus}", Size(vcpus, vcpus * sizes.gb))
            for name, size in table.named.items():
                yield self._machine(family, name, size)

    def _machine(self, family: str, name: str, size: Size) -> CatalogMachine:
        table = self.families[family]
        return CatalogMachine(
            name=name,
            family=family,
            vcpus=size.vcpus,
            memory_mb=round(size.gb * 1024),
            platform=table.platform,
            architecture=table.architecture,
            gpus=size.gpus if table.tpu is None else 0,
            gpu=size.gpu,
            chips=size.gpus if table.tpu is not None else 0,
        )

    def _custom(self, name: str) -> CatalogMachine | None:
        """`n2-custom-4-16384`, `custom-2-4096`, `e2-custom-medium-4096`, `n2-custom-4-65536-ext`."""
        match = re.fullmatch(r"((?:[a-z0-9]+-)?custom-)(\d{1,3}|micro|small|medium)-(\d{1,8})(-ext)?", name)
        families = self.families.items()
        family = match and next((n for n, f in families if f.custom and f.custom.prefix == match[1]), None)
        if match is None or family is None:
            return None
        shared = not match[2].isdecimal()
        vcpus, memory_mb = 2 if shared else int(match[2]), int(match[3])
        custom = self.families[family].custom
        if custom is None or (shared and family != "e2") or not _fits(custom, vcpus, memory_mb, match[4]):
            return None
        return self._machine(family, name, Size(vcpus, memory_mb / 1024))


def _fits(custom: Custom, vcpus: int, memory_mb: int, extended: str | None) -> bool:
    """Whether a custom machine is within the rules ("Create a VM with a custom machine type")."""
    least, most = custom.gb
    if extended:
        most = _MOST_EXTENDED_GB_PER_VCPU
    whole = memory_mb % _CUSTOM_STEP_MB == 0 and (vcpus == 1 or vcpus % 2 == 0)
    enough = custom.vcpus[0] <= vcpus <= custom.vcpus[1]
    return whole and enough and least * 1024 * vcpus <= memory_mb <= most * 1024 * vcpus
