"""What the series of machine types differ in, as far as it decides whether a request for one fits another.

Sources: "Machine families resource and comparison guide" and the pages of its families, "About Google Cloud
Hyperdisk", "About Persistent Disk", "About Local SSD disks" and "Specify a minimum CPU platform" (Google), as
`gcedb` of cockroachdb/cockroach and `localssd` of cloudpilot-ai/karpenter-provider-gcp have collected them,
read on 23 November 2026; for G4 and A4 "Add Local SSD disks" and the machine families of GKE's cluster
autoscaler, on 24 November. Of disks only those are here that no source denies: what is missing is replaced.
"""

from collections.abc import Mapping, Sequence

import msgspec

INTEL = (
    *("Intel Sandy Bridge", "Intel Ivy Bridge", "Intel Haswell", "Intel Broadwell", "Intel Skylake"),
    *("Intel Cascade Lake", "Intel Ice Lake", "Intel Sapphire Rapids", "Intel Emerald Rapids"),
    "Intel Granite Rapids",
)
AMD = ("AMD Rome", "AMD Milan", "AMD Genoa", "AMD Turin")
ARM = ("Ampere Altra", "Google Axion")

_CLASSIC = ("pd-standard", "pd-balanced", "pd-ssd")
_EXTREME = (*_CLASSIC, "pd-extreme")
_N2 = (*_EXTREME, "hyperdisk-balanced", "hyperdisk-throughput")
_C3 = ("pd-balanced", "pd-ssd", "hyperdisk-balanced", "hyperdisk-extreme", "hyperdisk-throughput")
_HYPERDISK = ("hyperdisk-balanced",)
_FLASH = ("pd-balanced", "pd-ssd")

SsdCounts = tuple[tuple[int, tuple[int, ...]], ...]
"""How many local SSDs a machine may ask for, from so many vCPUs on, the most vCPUs first."""
_N2_SSDS: SsdCounts = (
    (82, (16, 24)),
    (42, (8, 16, 24)),
    (22, (4, 8, 16, 24)),
    (12, (2, 4, 8, 16, 24)),
    (0, (1, 2, 4, 8, 16, 24)),
)
_N2D_SSDS: SsdCounts = (
    (96, (8, 16, 24)),
    (64, (4, 8, 16, 24)),
    (32, (2, 4, 8, 16, 24)),
    (0, (1, 2, 4, 8, 16, 24)),
)
_C2_SSDS: SsdCounts = ((60, (8,)), (30, (4, 8)), (16, (2, 4, 8)), (0, (1, 2, 4, 8)))
_C2D_SSDS: SsdCounts = ((112, (8,)), (56, (4, 8)), (32, (2, 4, 8)), (0, (1, 2, 4, 8)))
_G2_SSDS: SsdCounts = ((96, (8,)), (48, (4,)), (32, (1,)), (24, (2,)), (0, (1,)))
_G4_SSDS: SsdCounts = (
    (384, (32,)),
    (192, (16,)),
    (96, (8,)),
    (48, (4,)),
    (24, (2,)),
    (12, (1,)),
)


class MachineFamily(msgspec.Struct, frozen=True, kw_only=True):
    """Machine types whose names begin alike.

    `platforms` are the CPU platforms that they run on, oldest first; () where that is not documented. `gpus`
    says that GPUs come with each of them, `bundled` that local SSDs do. `gvnic` says that it takes no other
    network interface.
    """

    disks: tuple[str, ...]
    platforms: tuple[str, ...] = ()
    gpus: bool = False
    ssds: SsdCounts = ()
    bundled: bool = False
    gvnic: bool = False

    @property
    def arm(self) -> bool:
        """Whether its images are those of Arm."""
        return self.platforms[:1] != () and self.platforms[0] in ARM


FAMILIES: Mapping[str, MachineFamily] = {
    "e2": MachineFamily(disks=_CLASSIC),
    "n1": MachineFamily(
        disks=_CLASSIC, platforms=INTEL[:5], ssds=((0, (1, 2, 3, 4, 5, 6, 7, 8, 16, 24)),)
    ),
    "n2": MachineFamily(disks=_N2, platforms=INTEL[5:7], ssds=_N2_SSDS),
    "n2d": MachineFamily(disks=_N2, platforms=AMD[:2], ssds=_N2D_SSDS),
    "t2d": MachineFamily(disks=_CLASSIC, platforms=AMD[1:2]),
    "t2a": MachineFamily(disks=_CLASSIC, platforms=ARM[:1], gvnic=True),
    "c2": MachineFamily(disks=_EXTREME, platforms=INTEL[5:6], ssds=_C2_SSDS),
    "c2d": MachineFamily(disks=_EXTREME, platforms=AMD[1:2], ssds=_C2D_SSDS),
    "c3": MachineFamily(disks=_C3, platforms=INTEL[7:8], gvnic=True),
    "c3d": MachineFamily(disks=_C3, platforms=AMD[2:3], gvnic=True),
    "n4": MachineFamily(disks=_HYPERDISK, platforms=INTEL[8:9], gvnic=True),
    "n4d": MachineFamily(disks=_HYPERDISK, platforms=AMD[3:], gvnic=True),
    "n4a": MachineFamily(disks=_HYPERDISK, platforms=ARM[1:], gvnic=True),
    "c4": MachineFamily(disks=_HYPERDISK, platforms=INTEL[8:], gvnic=True),
    "c4d": MachineFamily(disks=_HYPERDISK, platforms=AMD[3:], gvnic=True),
    "c4a": MachineFamily(disks=_HYPERDISK, platforms=ARM[1:], gvnic=True),
    "g2": MachineFamily(disks=_FLASH, platforms=INTEL[5:6], gpus=True, ssds=_G2_SSDS),
    "g4": MachineFamily(disks=_HYPERDISK, platforms=AMD[3:], gpus=True, ssds=_G4_SSDS, gvnic=True),
    "a2": MachineFamily(
        disks=_FLASH, platforms=INTEL[5:6], gpus=True, ssds=((0, (1, 2, 4, 8)),)
    ),
    "a2-ultragpu": MachineFamily(disks=_FLASH, platforms=INTEL[5:6], gpus=True, bundled=True),
    "a3": MachineFamily(
        disks=(*_FLASH, "hyperdisk-balanced"), platforms=INTEL[7:8], gpus=True, bundled=True, gvnic=True
    ),
    "a3-ultragpu": MachineFamily(
        disks=_HYPERDISK, platforms=INTEL[8:9], gpus=True, bundled=True, gvnic=True
    ),
    "a4": MachineFamily(disks=_HYPERDISK, platforms=INTEL[8:9], gpus=True, bundled=True, gvnic=True),
}  # fmt: skip
"""By how the names of their machine types begin."""

_WITH_SSDS, _WITHOUT_SSDS = "-lssd", "-nolssd"
_CUSTOM_N1 = "custom"


def family_of(machine: str) -> MachineFamily | None:
    """What is known of the series of this machine type; None for one that is not in the table."""
    name, _, rest = machine.partition("-")
    if name == _CUSTOM_N1:
        name = "n1"
    if _WITH_SSDS in machine and (plain := FAMILIES.get(name)) is not None:
        return msgspec.structs.replace(plain, bundled=True)
    if "metal" in rest:
        return None
    found = FAMILIES.get(f"{name}-{rest.partition('-')[0]}") or FAMILIES.get(name)
    return (
        msgspec.structs.replace(found, bundled=False) if found and machine.endswith(_WITHOUT_SSDS) else found
    )


def ssd_counts(family: MachineFamily, vcpus: int) -> Sequence[int]:
    """How many local SSDs a machine of so many vCPUs may ask for."""
    return next((counts for least, counts in family.ssds if vcpus >= least), ())


def lacks(family: MachineFamily, platform: str) -> bool:
    """Whether some machine of the family may run on an older CPU platform than this, or on another kind."""
    for kind in (INTEL, AMD, ARM):
        if platform in kind and family.platforms and family.platforms[0] in kind:
            return kind.index(family.platforms[0]) < kind.index(platform)
    return True
