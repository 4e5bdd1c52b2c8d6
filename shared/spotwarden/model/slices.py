"""A TPU slice of several hosts: the requests that make it, and the group that it becomes.

Compute Engine makes its VMs all or none, in a managed instance group with a workload policy.
"""

from datetime import datetime

import msgspec

from spotwarden.model.instance import Status
from spotwarden.model.request import Request

LONGEST_NAME = 45
"""Of a slice: each try adds its numbers to it, and Compute Engine takes 63 characters."""


class SliceParts(msgspec.Struct, frozen=True, kw_only=True):
    """What is created before the VMs, in this order; the group is made with a size of 0, and filled then.

    `policy` is None where the script names a workload policy that it does not create; it stays from one
    launch to the next. Template and group are made anew for each try, under names of their own.
    """

    policy: Request | None
    template: Request
    group: Request


class SliceGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The group of one try: its name, which is its template's too, and its id, "" until it is known."""

    name: str
    id: str = ""


class GroupMember(msgspec.Struct, frozen=True, kw_only=True):
    """A VM of a group, or one that it is to have: `id` is "" and `status` None while there is none.

    A VM that is gone without the group's doing stays a member. `leaving`: the group is deleting it. `error`
    is why the newest try to make it has failed, in one line.
    """

    name: str
    id: str = ""
    status: Status | None = None
    leaving: bool = False
    error: str = ""


class SeenGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A managed instance group as Compute Engine shows it: how many VMs it is to have, and which it has.

    `created` is when it was made, `error` why it cannot make what it lacks, "" where nothing is known to
    stand in its way.
    """

    id: str
    name: str
    zone: str
    size: int
    members: tuple[GroupMember, ...] = ()
    created: datetime | None = None
    error: str = ""

    @property
    def ids(self) -> dict[str, str]:
        """The ids of the VMs that it has, by name."""
        return {member.name: member.id for member in self.members if member.id}
