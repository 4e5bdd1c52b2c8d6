"""Compute Engine behind `Compute`.

Spoken as REST through google-auth rather than through google-cloud-compute; docs/adr/0001 has the figures.
"""

import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from spotwarden import typed
from spotwarden.gcp import offers, wire
from spotwarden.gcp.advice import Advised
from spotwarden.gcp.calls import decode
from spotwarden.gcp.filters import WantedInstances, any_name
from spotwarden.gcp.governed import Governed
from spotwarden.gcp.groups import Grouped
from spotwarden.model.instance import Instance, Instances, Operation, Operations
from spotwarden.model.placement import MachineZones
from spotwarden.model.request import Request
from spotwarden.ports import InTime, RejectedError

_PAGE = wire.WirePage[wire.WireScope]

typed.prepare(dict[str, Any], wire.WireOperation, wire.WireZoneKinds, _PAGE)
_DISK = re.compile(r"projects/[^/?#]+/(zones|regions)/[^/?#]+/disks/[^/?#]+$")
_REGION = re.compile(r"[a-z]+-[a-z]+\d+")
_PATH = re.compile(r"/compute/(v1|beta|alpha)/projects/[^/?#]+/[^?#]+")
# Google writes insertTime at the US Pacific coast's offset, and nowhere is it said whether `filter` compares
# moments or text. A bound written at the coast's winter offset is right either way: as a moment it is exact,
# as text it is never later than the same moment in summer time or in UTC.
_PACIFIC = timezone(timedelta(hours=-8))


class ComputeEngine(Governed, Grouped, Advised):
    """`Compute` over one project. Safe to use from several threads."""

    def instances(self, *, names: Collection[str] = (), job: str = "") -> Instances:
        """As `Compute.instances`; an instance in a status we do not know makes its zone unreachable."""
        wanted = WantedInstances(names=frozenset(names), job=job)
        if wanted.nothing:
            return Instances()
        query = {"filter": wanted.filter} if wanted.filter else {}
        found: list[Instance] = []
        missing: set[str] = set()
        for page in self._pages("instances", f"instances({wire.INSTANCE_FIELDS})", query, _PAGE):
            missing.update(page.missing())
            for scope, content in page.items.items():
                zone = wire.last(scope)
                fitting = filter(wanted.fits, content.instances)
                known = [wire.instance(item, zone) for item in fitting]
                found.extend(item for item in known if item is not None)
                if None in known:
                    missing.add(zone)
        return Instances(items=tuple(found), unreachable=tuple(sorted(missing)))

    def operations(self, since: datetime) -> Operations:
        """As `Compute.operations`, in the order in which they were asked for."""
        bound = since.astimezone(_PACIFIC).isoformat(timespec="seconds")
        found: list[Operation] = []
        missing: set[str] = set()
        query = {"filter": f'insertTime >= "{bound}"'}
        for page in self._pages("operations", f"operations({wire.OPERATION_FIELDS})", query, _PAGE):
            missing.update(page.missing())
            for content in page.items.values():
                told = (wire.operation(item) for item in content.operations if item.on_instance)
                found.extend(item for item in told if item.at is None or item.at >= since)
        found.sort(key=lambda item: item.at or since)
        return Operations(items=tuple(found), unreachable=tuple(sorted(missing)))

    def launch(self, request: Request, request_id: str, *, before: datetime | None = None) -> Operation:
        """As `Compute.launch`: the body is sent as it is, fields that no client library knows included.

        Raises:
            ValueError: the request is no POST below `/compute/<version>/projects/`.
        """
        if request.method != "POST" or not _PATH.fullmatch(request.path):
            raise ValueError(f"Not a create request: {request.method} {request.path}")
        query = {**request.query, "requestId": request_id}
        answer = self._rest.post(request.path, query, request.body, ready=InTime(before))
        return wire.operation(decode(answer, wire.WireOperation))

    def start(
        self, zone: str, instance_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """As `Compute.start`; `ValueError` where this is no id, so that no name is ever acted on."""
        path = self._instance(zone, instance_id)
        answer = self._rest.post(f"{path}/start", {"requestId": request_id}, None, ready=InTime(before))
        return wire.operation(decode(answer, wire.WireOperation))

    def delete(
        self, zone: str, instance_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """As `Compute.delete`; `ValueError` as `start`."""
        path = self._instance(zone, instance_id)
        answer = self._rest.delete(path, {"requestId": request_id}, ready=InTime(before))
        return wire.operation(decode(answer, wire.WireOperation))

    def resource(self, zone: str, instance_id: str) -> Mapping[str, Any] | None:
        """As `Compute.resource`; `ValueError` as `start`."""
        try:
            answer = self._rest.get(self._instance(zone, instance_id), {})
        except RejectedError as refused:
            if refused.code == "notFound":
                return None
            raise
        return decode(answer, dict[str, Any])

    def disk(self, link: str) -> Mapping[str, Any] | None:
        """As `Compute.disk`; `ValueError` where the link names no disk of a zone or region."""
        found = _DISK.search(link)
        if not found:
            raise ValueError(f"Not a disk: {link!r}")
        try:
            answer = self._rest.get(f"/compute/v1/{found[0]}", {})
        except RejectedError as refused:
            if refused.code == "notFound":
                return None
            raise
        return decode(answer, dict[str, Any])

    def offers(self, machine: str, accelerators: Collection[str]) -> MachineZones:
        """As `Compute.offers`; a custom machine type is offered where its family is."""
        listed = offers.listed_as(machine)
        machines = self._pages(
            "machineTypes", "machineTypes(name,deprecated/state)", any_name([listed]), _PAGE
        )
        found = offers.zones(machines, {listed})
        if found.zones and accelerators:
            fields = "acceleratorTypes(name,deprecated/state)"
            cards = self._pages("acceleratorTypes", fields, any_name(accelerators), _PAGE)
            having = offers.zones(cards, set(accelerators))
            found = MachineZones(found.zones & having.zones, found.unreachable | having.unreachable)
        return found

    def kinds_offered(self, zone: str) -> frozenset[str]:
        """As `Compute.kinds_offered`."""
        query = {"fields": "items(name,deprecated/state),nextPageToken"}
        pages = (
            page
            for kind in ("machineTypes", "acceleratorTypes")
            for page in self._listed(f"zones/{zone}/{kind}", query, wire.WireZoneKinds)
        )
        return frozenset(offer.name for page in pages for offer in page.items if offer.stands)

    def operation(self, place: str, name: str) -> Operation:
        """As `Compute.operation`; `place` is a zone or, for what is asked of a region, that region."""
        scope = f"{'regions' if _REGION.fullmatch(place) else 'zones'}/{place}"
        scope = place if place == "global" else scope
        path = f"/compute/v1/projects/{self._project}/{scope}/operations/{name}"
        return wire.operation(decode(self._rest.get(path, {}), wire.WireOperation))
