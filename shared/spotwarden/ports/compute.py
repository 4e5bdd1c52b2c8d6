"""Compute Engine."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Protocol

from spotwarden.model.advice import CapacityAdvice, CapacityHistory
from spotwarden.model.fleet import Fleet, Leftover
from spotwarden.model.instance import Instances, Operation, Operations
from spotwarden.model.placement import MachineZones
from spotwarden.model.request import Request
from spotwarden.model.slices import SeenGroup


class Compute(Protocol):
    """Compute Engine, in one project."""

    def instances(self, *, names: Collection[str] = (), job: str = "") -> Instances:
        """Every instance of the project; with `names` those so called, with `job` those that carry its label.

        With both, an instance that fits either is given.
        """

    def operations(self, since: datetime) -> Operations:
        """Every operation on an instance that was asked for since then, and what was done to groups of them.

        The target of the latter is the managed instance group.
        """

    def launch(self, request: Request, request_id: str, *, before: datetime | None = None) -> Operation:
        """Send the create request; the same id never creates twice. `RejectedError`, `UnansweredError`.

        It may be one for a workload policy, an instance template or a managed instance group, too. Nothing
        is sent at or after the moment `before`, the end of the caller's lease: `ConflictError`.
        """

    def group(self, zone: str, name: str, group_id: str = "") -> SeenGroup | None:
        """The managed instance group of this name; None where it is gone, or has another id than this."""

    def fill_group(
        self,
        zone: str,
        name: str,
        group_id: str,
        nodes: Collection[str],
        request_id: str,
        *,
        before: datetime | None = None,
    ) -> Operation:
        """Have a group make VMs of these names; its operation is done before they are there.

        `RejectedError` notFound where the group is gone or is another one; other errors and `before` as
        `launch`.
        """

    def delete_group(
        self, zone: str, name: str, group_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """Delete a group and all of its VMs; errors and `before` as `fill_group`."""

    def delete_template(self, name: str, request_id: str, *, before: datetime | None = None) -> Operation:
        """Delete an instance template; errors and `before` as `delete`. One that a group uses is refused."""

    def start(
        self, zone: str, instance_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """Start a stopped instance, addressed by its numeric id; errors and `before` as `launch`."""

    def delete(
        self, zone: str, instance_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """Delete an instance, by its id; errors and `before` as `launch`; `RejectedError` notFound."""

    def operation(self, place: str, name: str) -> Operation:
        """How an operation in this zone or region, or `global`, stands.

        `RejectedError` notFound, `UnansweredError`.
        """

    def resource(self, zone: str, instance_id: str) -> Mapping[str, Any] | None:
        """The instance as Compute Engine's JSON, metadata values included; None where it is gone."""

    def disk(self, link: str) -> Mapping[str, Any] | None:
        """The disk that an instance's `disks[].source` names, as JSON; None where it is gone."""

    def offers(self, machine: str, accelerators: Collection[str]) -> MachineZones:
        """The zones that offer the machine type and all of the accelerator types; `UnansweredError`."""

    def kinds_offered(self, zone: str) -> frozenset[str]:
        """The names of all machine and accelerator types of a zone; `RejectedError`, `UnansweredError`."""

    def advice(self, machine: str, place: str, size: int) -> CapacityAdvice:
        """What Google expects of so many spot VMs, all in this zone, or in one zone of this region.

        It is asked once, without patience: nobody waits for it. `RejectedError` where there is no advice for
        such a machine or caller; `UnansweredError`.
        """

    def capacity_history(self, machine: str, place: str) -> CapacityHistory:
        """What spot VMs of this machine type went through in a zone or region; prices only of a region.

        Asked as `advice`, and with its errors.
        """

    def fleet(self, *, ids: Collection[str] = ()) -> Fleet:
        """Every VM of the project, in one aggregated list; with `ids` only these."""

    def stop(
        self,
        zone: str,
        instance_id: str,
        request_id: str,
        *,
        discard_local_ssd: bool = False,
        before: datetime | None = None,
    ) -> Operation:
        """Stop an instance, by its id; errors and `before` as `delete`. One that is stopped stays so.

        One with local SSDs is refused (badRequest) without `discard_local_ssd`; with it their data is lost.
        """

    def label(self, zone: str, instance_id: str, labels: Mapping[str, str]) -> Operation:
        """Put labels on it; an empty value takes one off, all others stay as they are. Errors as `delete`."""

    def leftovers(self) -> tuple[tuple[Leftover, ...], tuple[str, ...]]:
        """Disks and addresses nobody uses, and snapshots, with a job's label; and unreachable scopes."""

    def remove(self, link: str, request_id: str, *, before: datetime | None = None) -> Operation:
        """Delete the disk, address or snapshot of this link; errors and `before` as `delete`."""
