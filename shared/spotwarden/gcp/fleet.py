"""Compute Engine's list of VMs as governance reads it: more fields, and a hundred thousand of them.

What many VMs have in common (zone, machine type, labels) is kept once.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import NamedTuple

import msgspec

from spotwarden import typed
from spotwarden.gcp.built_in import built_in
from spotwarden.gcp.filters import LONGEST
from spotwarden.gcp.managed import manager_of
from spotwarden.gcp.wire import STATUSES, WireListed, WirePage, last, utc
from spotwarden.model.accelerators import is_tpu
from spotwarden.model.fleet import Fleet, Machine
from spotwarden.typed import decode

FIELDS = (
    "(id,name,status,creationTimestamp,lastStartTimestamp,machineType,"
    "guestAccelerators(acceleratorType,acceleratorCount),scheduling(provisioningModel,preemptible),disks/type,labels,"
    "metadata/items/key,resourceStatus/scheduling/terminationTimestamp)"
)


IN_A_FILTER = LONGEST // len(f"(id = {2**64}) OR ")
"""So many ids are named in one filter."""

MOST_FILTERS = 4
"""So many lists with a filter at most: each looks through all VMs, and Google counts what that costs it
("Compute Engine rate quotas", cost overhead of filtered lists)."""

LOCAL_SSD = "SCRATCH"
"""The type of a local SSD among an instance's disks (Google: "REST Resource: instances")."""


class WireCard(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Accelerators of one type."""

    accelerator_type: str = ""
    accelerator_count: int = 0


class WireDisk(msgspec.Struct, frozen=True, gc=False):
    """An attached disk, `SCRATCH` for a local SSD."""

    type: str = ""


class WireItem(msgspec.Struct, frozen=True, gc=False):
    """An item of metadata; of its value, which may be a whole script, nothing is asked."""

    key: str


class WireMetadata(msgspec.Struct, frozen=True):
    """The metadata of a VM."""

    items: Sequence[WireItem] = ()


class FleetScheduling(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How it was provisioned; older VMs only say that they are preemptible."""

    provisioning_model: str = ""
    preemptible: bool = False

    @property
    def model(self) -> str:
        """The provisioning model in today's words ("Preemptible VMs": Spot VMs are their newest version)."""
        return "SPOT" if self.preemptible else self.provisioning_model or "STANDARD"


class WireEnd(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """When Compute Engine will end it, by `maxRunDuration` or `terminationTime`."""

    termination_timestamp: datetime | None = None


class WireStatus(msgspec.Struct, frozen=True, gc=False):
    """What Compute Engine makes of what it was asked for."""

    scheduling: WireEnd = WireEnd()


class WireMachine(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A VM. Everything but its id and name may be absent.

    What many VMs have alike comes as the text that it is, and is read once for all that have the same.
    """

    id: str
    name: str
    status: str = ""
    creation_timestamp: datetime | None = None
    last_start_timestamp: datetime | None = None
    machine_type: str = ""
    guest_accelerators: msgspec.Raw = msgspec.Raw(b"[]")
    scheduling: msgspec.Raw = msgspec.Raw(b"{}")
    disks: msgspec.Raw = msgspec.Raw(b"[]")
    labels: msgspec.Raw = msgspec.Raw(b"{}")
    metadata: msgspec.Raw = msgspec.Raw(b"{}")
    resource_status: msgspec.Raw = msgspec.Raw(b"{}")


class WireBuild(NamedTuple):
    """What a VM is: of few kinds are many."""

    machine_type: str
    gpus: int
    gpu: str
    provisioning: str
    local_ssds: int


class WireTags(NamedTuple):
    """What is written on a VM, and who has made it by that."""

    labels: Mapping[str, str]
    manager: str


class FleetReader(WireListed, frozen=True, rename="camel"):
    """What the list holds for one zone."""

    instances: Sequence[WireMachine] = ()


FleetPage = WirePage[FleetReader]


class ZonePage(WireListed, frozen=True, rename="camel"):
    """One page of the list of one zone."""

    items: Sequence[WireMachine] = ()
    next_page_token: str = ""


Labels = dict[str, str]
ENDS = b"terminationTimestamp"
"""Most VMs have no bound to their run time: only where this stands in its status it is read."""

typed.prepare(tuple[WireCard, ...], tuple[WireDisk, ...], FleetScheduling, Labels, WireMetadata, WireStatus)


class GatheredFleet:
    """Takes page after page, and is a fleet in the end; of the ids given, or of all where there are none.

    Pages may be taken by several threads. `listed` counts all VMs that were shown, `zones` are where.
    """

    def __init__(self, ids: Collection[str] = ()) -> None:
        self._ids = frozenset(ids)
        self._words: dict[str, str] = {}
        self._builds: dict[tuple[str, bytes, bytes, bytes], WireBuild] = {}
        self._written: dict[tuple[bytes, bytes], WireTags] = {}
        self._found: list[Machine] = []
        self._missing: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    @property
    def listed(self) -> int:
        """How many VMs were shown, those of other ids included."""
        return self._counts.total()

    @property
    def zones(self) -> frozenset[str]:
        """The zones that have any."""
        return frozenset(self._counts)

    def take(self, page: FleetPage) -> None:
        """Add what a page shows; a VM in a status that we do not know makes its zone unreachable."""
        self.miss(page.missing())
        for scope, content in page.items.items():
            self._add(last(scope), content.instances)

    def take_zone(self, zone: str, page: ZonePage) -> None:
        """Add what a page of one zone's own list shows."""
        if page.warning is not None:
            self.miss(map(last, page.warning.scopes(zone)))
        self._add(zone, page.items)

    def miss(self, scopes: Iterable[str]) -> None:
        """Something may be hidden in these zones, or in `project`."""
        with self._lock:
            self._missing.update(scopes)

    def _add(self, zone: str, items: Sequence[WireMachine]) -> None:
        if not items:
            return
        with self._lock:
            zone = self._word(zone)
            self._counts[zone] += len(items)
            for item in self._wanted(items):
                if item.status in STATUSES:
                    self._found.append(self._machine(item, zone))
                else:
                    self._missing.add(zone)

    def _wanted(self, items: Sequence[WireMachine]) -> Iterator[WireMachine]:
        return (item for item in items if not self._ids or item.id in self._ids)

    def fleet(self) -> Fleet:
        """All that was taken, by zone: of lists that are read side by side none is always first."""
        found = sorted(self._found, key=lambda machine: machine.zone)
        return Fleet(items=tuple(found), unreachable=tuple(sorted(self._missing)))

    def _machine(self, item: WireMachine, zone: str) -> Machine:
        build, tags = self._build(item), self._tags(item)
        return Machine(
            id=item.id,
            name=item.name,
            zone=zone,
            status=STATUSES[item.status],
            created=utc(item.creation_timestamp),
            started=utc(item.last_start_timestamp),
            machine_type=build.machine_type,
            gpus=build.gpus,
            gpu=build.gpu,
            provisioning=build.provisioning,
            local_ssds=build.local_ssds,
            labels=tags.labels,
            manager=tags.manager,
            ends=_end(bytes(item.resource_status)),
        )

    def _build(self, item: WireMachine) -> WireBuild:
        key = item.machine_type, bytes(item.guest_accelerators), bytes(item.scheduling), bytes(item.disks)
        if (known := self._builds.get(key)) is not None:
            return known
        url, listed, scheduled, attached = key
        machine_type = self._word(last(url))
        cards, gpu = _cards(machine_type, decode(listed, tuple[WireCard, ...]))
        disks = decode(attached, tuple[WireDisk, ...])
        return self._builds.setdefault(
            key,
            WireBuild(
                machine_type=machine_type,
                gpus=cards,
                gpu=self._word(gpu),
                provisioning=self._word(decode(scheduled, FleetScheduling).model),
                local_ssds=sum(disk.type == LOCAL_SSD for disk in disks),
            ),
        )

    def _tags(self, item: WireMachine) -> WireTags:
        key = bytes(item.labels), bytes(item.metadata)
        if (known := self._written.get(key)) is not None:
            return known
        labels = {self._word(name): self._word(value) for name, value in decode(key[0], Labels).items()}
        metadata = [data.key for data in decode(key[1], WireMetadata).items]
        tags = WireTags(labels, self._word(manager_of(labels, metadata)))
        return self._written.setdefault(key, tags)

    def _word(self, text: str) -> str:
        return self._words.setdefault(text, text)


def _end(status: bytes) -> datetime | None:
    """When Compute Engine will end it; most VMs have no such moment."""
    return utc(decode(status, WireStatus).scheduling.termination_timestamp) if ENDS in status else None


def _cards(machine_type: str, listed: Sequence[WireCard]) -> tuple[int, str]:
    """How many accelerators, and the type of the first; TPUs are told by the machine type alone."""
    number, known = sum(card.accelerator_count for card in listed), built_in(machine_type)
    return (number, last(listed[0].accelerator_type)) if number and not is_tpu(known[1]) else known


def by_ids(ids: Collection[str]) -> Sequence[Mapping[str, str]]:
    """The queries for these ids, `MOST_FILTERS` at most; none where all VMs are asked for.

    That is where there are no ids, or too many: then `GatheredFleet` cuts the list.
    """
    terms = [f"(id = {name})" for name in sorted(ids) if name.isascii() and name.isdecimal()]
    if len(terms) > MOST_FILTERS * IN_A_FILTER:
        return []
    parts = [terms[first : first + IN_A_FILTER] for first in range(0, len(terms), IN_A_FILTER)]
    return [{"filter": " OR ".join(part)} for part in parts]
