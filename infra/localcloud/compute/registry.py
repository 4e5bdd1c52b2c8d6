"""The instances there are: found by name or by id, replaced as a whole when anything about them changes."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from localcloud.compute.history import GONE, History
from localcloud.compute.links import last
from localcloud.compute.refusals import already_exists, not_found
from localcloud.compute.shelf import Resource, Shelf


@dataclass(slots=True, kw_only=True, eq=False)
class Vm:
    """One instance and what goes with it. Whoever changes its status over time holds `turn` meanwhile.

    `empty`: there is no machine behind it; it only stands in lists. `booted`: its machine runs. `lives`:
    how many times it was started.
    """

    resource: Resource
    empty: bool = False
    booted: bool = False
    preempted: bool = False
    gone: bool = False
    lives: int = 0
    timer: asyncio.Task[None] | None = None
    _turn: asyncio.Lock | None = field(default=None)

    @property
    def turn(self) -> asyncio.Lock:
        """The lock that lets one thing happen after another; made when first needed."""
        if self._turn is None:
            self._turn = asyncio.Lock()
        return self._turn

    @property
    def id(self) -> str:
        """The number that is never used again."""
        return str(self.resource["id"])

    @property
    def name(self) -> str:
        """The name, unique in its zone."""
        return str(self.resource["name"])

    @property
    def zone(self) -> str:
        """The name of its zone."""
        return sys.intern(last(self.resource["zone"]))

    @property
    def status(self) -> str:
        """The status, as the API gives it."""
        return str(self.resource["status"])

    @property
    def path(self) -> str:
        """`zones/Z/instances/N`."""
        return f"zones/{self.zone}/instances/{self.name}"

    @property
    def is_spot(self) -> bool:
        """Whether Compute Engine may take it away."""
        return bool(self.resource["scheduling"].get("preemptible"))


class Registry:
    """The instances of the project."""

    def __init__(self, *, project: str, shelf: Shelf, history: History) -> None:
        self.shelf = shelf
        self.history = history
        self._project = project
        self._by_id: dict[str, Vm] = {}
        self._by_name: dict[tuple[str, str], Vm] = {}
        self._watchers: list[Callable[[Vm], None]] = []

    def watch(self, watcher: Callable[[Vm], None]) -> None:
        """Tell this one of each instance whose status changes, but for those that only stand in lists."""
        self._watchers.append(watcher)

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Vm]:
        return iter(list(self._by_id.values()))

    def resources(self) -> Iterator[Resource]:
        """The resources of all instances."""
        return (vm.resource for vm in self._by_id.values())

    def check_free(self, zone: str, name: str) -> None:
        """Make sure that a name is not taken.

        Raises:
            ApiError: 409 when it is, also by an instance that is being deleted.
        """
        if (zone, name) in self._by_name:
            raise already_exists(f"projects/{self._project}/zones/{zone}/instances/{name}")

    def names(self, zone: str) -> set[str]:
        """The names that are taken in a zone."""
        return {name for at, name in self._by_name if at == zone}

    def add(self, vm: Vm) -> None:
        """Take an instance in."""
        self._by_id[vm.id] = vm
        self._by_name[vm.zone, vm.name] = vm
        self.shelf.put(f"zones/{vm.zone}", vm.name, vm.resource)
        self._note(vm, vm.status)

    def find(self, zone: str, name_or_id: str) -> Vm:
        """The instance of this name or id in a zone.

        Raises:
            ApiError: 404 when there is none.
        """
        vm = self._by_name.get((zone, name_or_id)) or self._by_id.get(name_or_id)
        if vm is None or vm.zone != zone:
            raise not_found(f"projects/{self._project}/zones/{zone}/instances/{name_or_id}")
        return vm

    def by_id(self, instance_id: str) -> Vm | None:
        """The instance of this id; None when there is none any more."""
        return self._by_id.get(instance_id)

    def anywhere(self, name_or_id: str) -> list[Vm]:
        """The instances of this name, in whatever zone, or the one of this id."""
        zones = {row.removeprefix("zones/") for row in self.shelf.scopes()}
        named = [vm for zone in sorted(zones) if (vm := self._by_name.get((zone, name_or_id)))]
        numbered = self._by_id.get(name_or_id)
        return [*named, *([numbered] if numbered else [])]

    def change(self, vm: Vm, fields: Mapping[str, Any]) -> None:
        """Replace fields of an instance; None takes a field away."""
        merged, before = {**vm.resource, **fields}, vm.status
        vm.resource = {key: value for key, value in merged.items() if value is not None}
        if not vm.gone:
            self.shelf.put(f"zones/{vm.zone}", vm.name, vm.resource)
            if vm.status != before:
                self._note(vm, vm.status)

    def remove(self, vm: Vm) -> None:
        """Let an instance be gone: its name is free."""
        vm.gone = True
        del self._by_id[vm.id]
        del self._by_name[vm.zone, vm.name]
        self.shelf.take(f"zones/{vm.zone}", vm.name)
        self._note(vm, GONE)

    def _note(self, vm: Vm, status: str) -> None:
        # A million instances that only stand in lists have no history worth its memory.
        if not vm.empty:
            self.history.note(vm.resource, status)
            for watcher in self._watchers:
                watcher(vm)
