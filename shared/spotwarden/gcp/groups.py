"""Managed instance groups of a zone, as far as a slice is made as one."""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec

from spotwarden import typed
from spotwarden.gcp import wire
from spotwarden.gcp.calls import Calls, decode
from spotwarden.model.instance import Operation
from spotwarden.model.slices import GroupMember, SeenGroup
from spotwarden.ports import InTime, RejectedError

_FIELDS = "id,name,creationTimestamp,targetSize,status/bulkInstanceOperation"
_MEMBER_FIELDS = "managedInstances(name,instance,id,instanceStatus,currentAction,lastAttempt),nextPageToken"


class WireCheck(msgspec.Struct, frozen=True):
    """What a group in bulk mode has found when it last looked for room."""

    error: wire.WireErrors = wire.WireErrors()


class WireBulk(msgspec.Struct, frozen=True, rename="camel"):
    """How far a group in bulk mode is."""

    last_progress_check: WireCheck = WireCheck()


class WireGroupStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The status of a group."""

    bulk_instance_operation: WireBulk = WireBulk()


class WireGroup(msgspec.Struct, frozen=True, rename="camel"):
    """A managed instance group."""

    id: str
    name: str
    creation_timestamp: datetime | None = None
    target_size: int = 0
    status: WireGroupStatus = WireGroupStatus()


class WireAttempt(msgspec.Struct, frozen=True):
    """The newest try to do something about a member."""

    errors: wire.WireErrors = wire.WireErrors()


class WireMember(msgspec.Struct, frozen=True, rename="camel"):
    """A managed instance; without an id there is no VM of it."""

    name: str = ""
    instance: str = ""
    id: str = ""
    instance_status: str = ""
    current_action: str = ""
    last_attempt: WireAttempt = WireAttempt()


class WireMembers(msgspec.Struct, frozen=True, rename="camel"):
    """One page of the members of a group."""

    managed_instances: Sequence[WireMember] = ()
    next_page_token: str = ""


typed.prepare(WireGroup, WireMembers, wire.WireOperation)


class Grouped(Calls):
    """What a slice needs of its group. Safe to use from several threads."""

    def group(self, zone: str, name: str, group_id: str = "") -> SeenGroup | None:
        """As `Compute.group` (Google: "Method: instanceGroupManagers.get", "…listManagedInstances")."""
        path = self._group(zone, name)
        try:
            found = decode(self._rest.get(path, {"fields": _FIELDS}), WireGroup)
            if group_id and found.id != group_id:
                return None
            members = tuple(map(_member, self._members(path)))
        except RejectedError as refused:
            if refused.code == "notFound":
                return None
            raise
        checked = wire.errors(found.status.bulk_instance_operation.last_progress_check.error)
        tried = next((member.error for member in members if member.error), "")
        return SeenGroup(
            id=found.id,
            name=found.name,
            zone=zone,
            size=found.target_size,
            members=members,
            created=wire.utc(found.creation_timestamp),
            error=checked or tried,
        )

    def _members(self, path: str) -> list[WireMember]:
        found: list[WireMember] = []
        query = {"fields": _MEMBER_FIELDS}
        while True:
            answer = self._rest.post(f"{path}/listManagedInstances", query, None)
            page = decode(answer, WireMembers)
            found.extend(page.managed_instances)
            if not page.next_page_token:
                return found
            query = {**query, "pageToken": page.next_page_token}

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
        """As `Compute.fill_group` (Google: "Method: instanceGroupManagers.createInstances")."""
        path = self._same_group(zone, name, group_id)
        body = {"instances": [{"name": node} for node in nodes]}
        answer = self._rest.post(
            f"{path}/createInstances", {"requestId": request_id}, body, ready=InTime(before)
        )
        return wire.operation(decode(answer, wire.WireOperation))

    def delete_group(
        self, zone: str, name: str, group_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """As `Compute.delete_group` (Google: "Method: instanceGroupManagers.delete")."""
        path = self._same_group(zone, name, group_id)
        answer = self._rest.delete(path, {"requestId": request_id}, ready=InTime(before))
        return wire.operation(decode(answer, wire.WireOperation))

    def _same_group(self, zone: str, name: str, group_id: str) -> str:
        """The path of the group, which Google names by its name: whose id that has is asked first."""
        path = self._group(zone, name)
        found = decode(self._rest.get(path, {"fields": "id,name"}), WireGroup)
        if found.id != group_id:
            raise RejectedError("notFound", f"{name} in {zone} is another group: {found.id}, not {group_id}")
        return path

    def delete_template(self, name: str, request_id: str, *, before: datetime | None = None) -> Operation:
        """As `Compute.delete_template` (Google: "Method: instanceTemplates.delete")."""
        path = self._template(name)
        answer = self._rest.delete(path, {"requestId": request_id}, ready=InTime(before))
        return wire.operation(decode(answer, wire.WireOperation))


def _member(shown: WireMember) -> GroupMember:
    return GroupMember(
        name=shown.name or wire.last(shown.instance),
        id=shown.id,
        status=wire.STATUSES.get(shown.instance_status),
        leaving=shown.current_action == "DELETING",
        error=wire.errors(shown.last_attempt.errors),
    )
