"""What governance sees of Compute Engine, and what it may do to it."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from uuid import uuid4

import msgspec

from spotwarden import typed
from spotwarden.gcp import leftovers, wire
from spotwarden.gcp.calls import Calls, decode
from spotwarden.gcp.fleet import FIELDS, FleetPage, GatheredFleet, ZonePage, by_ids
from spotwarden.gcp.fleet_lists import FleetDoor, read_all
from spotwarden.gcp.leftovers import ADDRESSES, DISKS, OURS, SNAPSHOTS, LeftoverPage, Snapshots
from spotwarden.gcp.side_by_side import side_by_side
from spotwarden.model.fleet import Fleet, Leftover
from spotwarden.model.instance import Operation
from spotwarden.ports import InTime, RejectedError

CHANGED_MEANWHILE = "conditionNotMet"
"""The labels are not those that were read: somebody else was first ("Labeling resources")."""

GLOBAL = "global"
"""Where load balancers have their addresses, and no VM has ("Reserve a static external IP address")."""


class Labelled(msgspec.Struct, frozen=True, rename="camel"):
    """The labels of an instance, and the fingerprint that a change of them must name."""

    label_fingerprint: str
    labels: dict[str, str] = {}


typed.prepare(Labelled, wire.WireOperation, Snapshots, FleetPage, ZonePage, LeftoverPage)


class Governed(Calls):
    """Fleet, stop, labels and leftovers."""

    def fleet(self, *, ids: Collection[str] = ()) -> Fleet:
        """As `Compute.fleet`; an instance in a status we do not know makes its zone unreachable."""
        if queries := by_ids(ids):
            gathered = GatheredFleet(ids)

            def take(query: Mapping[str, str]) -> None:
                for page in self._fleet_pages(query):
                    gathered.take(page)

            side_by_side(queries, take)
            return gathered.fleet()
        return read_all(FleetDoor(self._project, self._fleet_pages, self._zone_pages), ids).fleet()

    def _fleet_pages(self, query: Mapping[str, str] = {}) -> Iterator[FleetPage]:
        return self._pages("instances", f"instances{FIELDS}", query, FleetPage)

    def _zone_pages(self, zone: str) -> Iterator[ZonePage]:
        fields = f"items{FIELDS},nextPageToken,warning"
        return self._listed(f"zones/{zone}/instances", {"fields": fields}, ZonePage)

    def stop(
        self,
        zone: str,
        instance_id: str,
        request_id: str,
        *,
        discard_local_ssd: bool = False,
        before: datetime | None = None,
    ) -> Operation:
        """As `Compute.stop` (Google: "Method: instances.stop"); `ValueError` where this is no id."""
        path = self._instance(zone, instance_id)
        query = {"requestId": request_id}
        if discard_local_ssd:
            query["discardLocalSsd"] = "true"
        answer = self._rest.post(f"{path}/stop", query, None, ready=InTime(before))
        return wire.operation(decode(answer, wire.WireOperation))

    def label(self, zone: str, instance_id: str, labels: Mapping[str, str]) -> Operation:
        """As `Compute.label`; where somebody else changes them meanwhile it is tried once more."""
        path = self._instance(zone, instance_id)
        try:
            return self._label(path, labels)
        except RejectedError as refused:
            if refused.code != CHANGED_MEANWHILE:
                raise
        return self._label(path, labels)

    def _label(self, path: str, labels: Mapping[str, str]) -> Operation:
        there = decode(self._rest.get(path, {"fields": "labels,labelFingerprint"}), Labelled)
        mixed = {**there.labels, **labels}
        kept = {key: value for key, value in mixed.items() if value or key not in labels}
        body = {"labels": kept, "labelFingerprint": there.label_fingerprint}
        answer = self._rest.post(f"{path}/setLabels", {"requestId": str(uuid4())}, body)
        return wire.operation(decode(answer, wire.WireOperation))

    def leftovers(self) -> tuple[tuple[Leftover, ...], tuple[str, ...]]:
        """As `Compute.leftovers`; each is named by its id."""
        found: list[Leftover | None] = []
        missing: set[str] = set()
        for kind, fields in (("disks", DISKS), ("addresses", ADDRESSES)):
            for page in self._pages(kind, fields, {"filter": OURS}, LeftoverPage):
                missing.update(page.missing())
                for name, scope in page.items.items():
                    if name == GLOBAL:
                        continue
                    found.extend(leftovers.leftover("disk", disk) for disk in scope.disks)
                    found.extend(leftovers.leftover("address", address) for address in scope.addresses)
        for snapshots in self._listed("global/snapshots", {"filter": OURS, "fields": SNAPSHOTS}, Snapshots):
            missing.update(snapshots.missing())
            found.extend(leftovers.leftover("snapshot", snapshot) for snapshot in snapshots.items)
        known = (match for match in found if match is not None)
        return tuple(sorted(known, key=lambda item: item.link)), tuple(sorted(missing))

    def remove(self, link: str, request_id: str, *, before: datetime | None = None) -> Operation:
        """As `Compute.remove`; `ValueError` where the link names none of this project's by its id."""
        path = f"/compute/v1/{leftovers.checked(link, self._project)}"
        answer = self._rest.delete(path, {"requestId": request_id}, ready=InTime(before))
        return wire.operation(decode(answer, wire.WireOperation))
