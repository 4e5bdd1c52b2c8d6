"""What is done about a TPU slice as a whole: to its group, and to what the group needs."""

from datetime import datetime

import msgspec

from spotwarden.model.base_action import Action
from spotwarden.model.finding import Target
from spotwarden.model.request import Request


class MakePart(Action, frozen=True, kw_only=True, tag=True):
    """Create what a slice is made of, before its VMs: the policy, the template, or the group of none.

    It is sent only while the attempt is the newest on the chain, in the `generation` that was read, and not
    at or after `before`. The same `request_id` never creates twice.
    """

    job: str
    attempt: int
    generation: int
    part: str
    request: Request
    request_id: str
    before: datetime | None = None


class FillGroup(Action, frozen=True, kw_only=True, tag=True):
    """Have the group, by its id, make the VMs of these nodes; conditions as for `MakePart`."""

    job: str
    attempt: int
    generation: int
    zone: str
    group: str
    group_id: str
    nodes: tuple[str, ...]
    request_id: str
    before: datetime | None = None


class DeleteGroup(Action, frozen=True, kw_only=True, tag=True):
    """Delete a group, by its id, and all of its VMs; one that is gone is no failure.

    `targets` are those of its VMs that were seen, for the audit.
    """

    job: str
    zone: str
    group: str
    group_id: str
    request_id: str
    before: datetime | None = None
    targets: tuple[Target, ...] = ()


class DeleteTemplate(Action, frozen=True, kw_only=True, tag=True):
    """Delete the template of a group that is gone; one that is gone too is no failure."""

    job: str
    template: str
    request_id: str
    before: datetime | None = None


class LookAtGroup(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """See which VMs a group has, and what it lacks; changes nothing. "" is any id."""

    zone: str
    group: str
    group_id: str = ""


SliceChange = MakePart | FillGroup | DeleteGroup | DeleteTemplate
