"""A TPU slice of several hosts: the requests that make it, and the group that it becomes.

Compute Engine makes its VMs all or none, in a managed instance group with a workload policy.
"""

import msgspec

from spotwarden.model.request import Request


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
