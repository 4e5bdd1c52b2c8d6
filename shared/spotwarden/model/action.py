"""What a sweep wants done: data, each with its reason. Only `engine.executor` carries it out."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from spotwarden.model.attempt import Attempt
from spotwarden.model.base_action import Action, CloseJob
from spotwarden.model.case import Case
from spotwarden.model.message import Message
from spotwarden.model.notice import Notice
from spotwarden.model.request import Request
from spotwarden.model.slice_action import LookAtGroup, SliceChange
from spotwarden.model.watch import Watch


class WriteAttempt(Action, frozen=True, kw_only=True, tag=True):
    """Write a ledger record under the generation that was read; 0 creates it.

    A new one follows the newest record as it was read, whose generation is `after`, 0 where there was none:
    it is created only if that one is still the newest, and still the same; with `fresh` the chain was listed
    by the call before. `later` says that nothing waits for it: of many jobs at once what the others ask for
    comes first.
    """

    record: Attempt
    generation: int
    after: int = 0
    later: bool = False
    fresh: bool = False


class LaunchInstances(Action, frozen=True, kw_only=True, tag=True):
    """Send a create request, not at or after `before`. The same `request_id` never creates twice.

    It is sent only while the attempt is the newest on the chain, in the `generation` that was read;
    with `fresh` the call before has created it. And only while the VMs `at_rest`, by zone and id, are so.
    """

    job: str
    attempt: int
    generation: int
    request: Request
    request_id: str
    before: datetime | None = None
    fresh: bool = False
    at_rest: tuple[tuple[str, str], ...] = ()


class StartInstance(Action, frozen=True, kw_only=True, tag=True):
    """Start a stopped instance of the job, by its id, not at or after `before`. An id never starts twice.

    It is sent only while the attempt is the newest on the chain, in the `generation` that was read;
    with `fresh` the call before has created it.
    """

    job: str
    attempt: int
    generation: int
    zone: str
    instance_id: str
    request_id: str
    before: datetime | None = None
    fresh: bool = False


class DeleteInstance(Action, frozen=True, kw_only=True, tag=True):
    """Delete an instance of the job, by its id, not at or after `before`; one that is gone is no failure.

    One that is `at_rest` is looked at once more right before: somebody may have started it since.
    """

    job: str
    attempt: int
    node: str
    zone: str
    instance_id: str
    request_id: str
    before: datetime | None = None
    at_rest: bool = False


class StopInstance(Action, frozen=True, kw_only=True, tag=True):
    """Stop an instance, by its id, not at or after `before`: its disks stay, but for local SSDs."""

    job: str
    node: str
    zone: str
    instance_id: str
    request_id: str
    before: datetime | None = None
    discard_local_ssd: bool = False


class LabelInstance(Action, frozen=True, kw_only=True, tag=True):
    """Put these labels on an instance, by its id; an empty value takes one off. Others stay as they are."""

    job: str
    node: str
    zone: str
    instance_id: str
    labels: Mapping[str, str]


class RemoveLeftover(Action, frozen=True, kw_only=True, tag=True):
    """Delete a disk, address or snapshot, not at or after `before`; one that is gone is no failure."""

    job: str
    link: str
    request_id: str
    before: datetime | None = None


class FileCase(Action, frozen=True, kw_only=True, tag=True):
    """Write a case under the generation that was read; 0 creates it."""

    case: Case
    generation: int


class CloseCase(Action, frozen=True, kw_only=True, tag=True):
    """Delete a case's record, if it is still the one that was read."""

    case: Case
    generation: int


class KeepWatch(Action, frozen=True, kw_only=True, tag=True):
    """Put a job on the list of open jobs, or bring its entry up to date; 0 creates it."""

    job: str
    watch: Watch
    generation: int


class EndWatch(Action, frozen=True, kw_only=True, tag=True):
    """Take a job off the list of open jobs, if its entry is still the one that was read."""

    job: str
    generation: int


class RecordLaunched(Action, frozen=True, kw_only=True, tag=True):
    """Write down what was launched: the resources of an attempt's instances, by node."""

    job: str
    attempt: int
    ran: Mapping[str, Any]


class RegisterInstance(Action, frozen=True, kw_only=True, tag=True):
    """Store the id of a node's new instance, in the place of what was read: `generation`, 0 for nothing."""

    job: str
    node: str
    instance_id: str
    generation: int = 0


class ClearMarker(Action, frozen=True, kw_only=True, tag=True):
    """Delete a marker if it is still of the generation that was read."""

    node: str
    generation: int


class Quarantine(Action, frozen=True, kw_only=True, tag=True):
    """Put a marker that we could not use aside, its content and the reason with it."""

    name: str
    generation: int
    data: bytes
    job: str = ""


class StoreObject(Action, frozen=True, kw_only=True, tag=True):
    """Write an object of the layout, one of ours where `job` is ""; only a new one, or over a generation."""

    job: str
    name: str
    data: bytes
    content_type: str = "application/octet-stream"
    only_new: bool = False
    generation: int | None = None


class DropObject(Action, frozen=True, kw_only=True, tag=True):
    """Delete this generation of an object of a job."""

    job: str
    name: str
    generation: int


class Tell(Action, frozen=True, kw_only=True, tag=True):
    """Publish a notice."""

    notice: Notice


class ShareOut(Action, frozen=True, kw_only=True, tag=True):
    """Ask further instances of the function to look at these jobs, each message's by one of them."""

    messages: tuple[tuple[str, ...], ...]


class SendMessage(Action, frozen=True, kw_only=True, tag=True):
    """Hand a message to its channel, not at or after `before`; `notices` are the ids of what it tells."""

    message: Message
    notices: tuple[str, ...]
    before: datetime | None = None


class Look(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Read how an operation stands; changes nothing."""

    place: str
    operation: str


class Survey(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """List the job's instances as they are now, and the operations since; changes nothing."""

    job: str
    names: tuple[str, ...]
    since: datetime


class Fetch(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Read an instance's whole resource and that of its disks; changes nothing."""

    node: str
    zone: str
    instance_id: str


class Ripe(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A case that may be acted upon, if the blast radius allows it and a second look finds the same."""

    case: Case


class Wait(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Nothing to do yet. With `soon`, another look within seconds may see more; else the next tick does.

    `broken_off` says that an outcome has stopped us on the way: what we saw may not be written down.
    """

    reason: str
    soon: bool = True
    broken_off: bool = False


Change = (
    WriteAttempt
    | LaunchInstances
    | StartInstance
    | DeleteInstance
    | StopInstance
    | LabelInstance
    | SliceChange
    | RemoveLeftover
    | CloseJob
    | FileCase
    | CloseCase
    | KeepWatch
    | EndWatch
    | RecordLaunched
    | RegisterInstance
    | ClearMarker
    | Quarantine
    | StoreObject
    | DropObject
    | Tell
    | ShareOut
    | SendMessage
)
Question = Look | Survey | Fetch | LookAtGroup
Step = Change | Question | Wait
CaseStep = Change | Ripe
