"""Compute Engine's answers as they come in, only the fields that we read, and what they mean to us."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Generic, TypeVar

import msgspec

from spotwarden.model.instance import Instance, Operation, Status

INSTANCE_FIELDS = (
    "id,name,status,creationTimestamp,lastStartTimestamp,labels,scheduling/preemptionNoticeDuration"
)
OPERATION_FIELDS = (
    "name,zone,region,operationType,status,targetId,targetLink,user,insertTime,"
    "error,httpErrorStatusCode,httpErrorMessage,clientOperationId,operationGroupId"
)

_HARMLESS = {"NO_RESULTS_ON_PAGE"}
_INSTANCE_URL = re.compile(r"/instances/[^/]+$")
_GROUP_URL = re.compile(r"/zones/[^/]+/instanceGroupManagers/[^/]+$")
STATUSES = {status.value: status for status in Status}
"""Those that we know, by Google's word."""


class Pair(msgspec.Struct, frozen=True):
    """An entry of a warning's `data`."""

    key: str = ""
    value: str = ""


class WireWarning(msgspec.Struct, frozen=True):
    """A warning of a list or of one scope of it."""

    code: str = ""
    data: Sequence[Pair] = ()

    def scopes(self, scope: str) -> list[str]:
        """The scopes that something may be missing from; `scope` is where the warning stands."""
        if self.code in _HARMLESS:
            return []
        return [pair.value for pair in self.data if pair.key == "scope"] or [scope]


class Labels(msgspec.Struct, frozen=True, gc=False):
    """The labels that a launch of ours writes."""

    job: str | None = msgspec.field(name="spotwarden-job", default=None)
    attempt: str | None = msgspec.field(name="spotwarden-attempt", default=None)
    turn: str | None = msgspec.field(name="spotwarden-try", default=None)


class WireDuration(msgspec.Struct, frozen=True, gc=False):
    """Whole seconds of a span of time: an int64, which Google writes as text."""

    seconds: int | str = 0


class WireScheduling(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How long before its soft off a Spot VM is told; without it there is none (the API's `Scheduling`)."""

    preemption_notice_duration: WireDuration = WireDuration()


class WireInstance(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An instance. Everything may be absent: in a partial list a scope may be cut short."""

    id: str
    name: str
    status: str = ""
    creation_timestamp: datetime | None = None
    last_start_timestamp: datetime | None = None
    labels: Labels = Labels()
    scheduling: WireScheduling = WireScheduling()


class WireErrorInfo(msgspec.Struct, frozen=True):
    """Why, in a word, with the facts behind it."""

    reason: str = ""
    metadatas: Mapping[str, str] = {}


class WireDetail(msgspec.Struct, frozen=True, rename="camel"):
    """One of the details of an error."""

    error_info: WireErrorInfo | None = None


class WireError(msgspec.Struct, frozen=True, rename="camel"):
    """One error of an operation."""

    code: str = ""
    message: str = ""
    error_details: Sequence[WireDetail] = ()


class WireErrors(msgspec.Struct, frozen=True):
    """The `error` of an operation."""

    errors: Sequence[WireError] = ()


class WireOperation(msgspec.Struct, frozen=True, rename="camel"):
    """An operation."""

    name: str
    zone: str = ""
    region: str = ""
    operation_type: str = ""
    status: str = ""
    target_id: str = ""
    target_link: str = ""
    user: str = ""
    insert_time: datetime | None = None
    error: WireErrors = WireErrors()
    http_error_status_code: int = 0
    http_error_message: str = ""
    client_operation_id: str = ""
    operation_group_id: str = ""

    @property
    def on_instance(self) -> bool:
        """Whether it was done to an instance, or to all or some of a group, not to a disk or the project.

        A bulk insert names none, and is what tells who asked for the inserts of its group.
        """
        if self.operation_type == "bulkInsert" or _INSTANCE_URL.search(self.target_link):
            return True
        return self.operation_type != "insert" and _GROUP_URL.search(self.target_link) is not None


class Deprecation(msgspec.Struct, frozen=True):
    """Whether an offer is on its way out; "" and ACTIVE are not."""

    state: str = ""


class WireOffer(msgspec.Struct, frozen=True):
    """A machine or accelerator type, as a zone has it."""

    name: str
    deprecated: Deprecation = Deprecation()

    @property
    def stands(self) -> bool:
        """Whether it can be had for more than the present."""
        return self.deprecated.state in {"", "ACTIVE"}


class WireZoneKinds(msgspec.Struct, frozen=True, rename="camel"):
    """One page of the machine or accelerator types of one zone."""

    items: Sequence[WireOffer] = ()
    next_page_token: str = ""


class WireListed(msgspec.Struct, frozen=True, rename="camel"):
    """What an aggregated list says of every zone or region, whatever it holds."""

    warning: WireWarning | None = None


class WireScope(WireListed, frozen=True, rename="camel"):
    """What an aggregated list holds for one zone or region."""

    instances: Sequence[WireInstance] = ()
    operations: Sequence[WireOperation] = ()
    machine_types: Sequence[WireOffer] = ()
    accelerator_types: Sequence[WireOffer] = ()


Held = TypeVar("Held", bound=WireListed)


class WirePage(msgspec.Struct, Generic[Held], frozen=True, rename="camel"):
    """One page of an aggregated list, by scope (`zones/us-central1-a`)."""

    items: Mapping[str, Held] = {}
    next_page_token: str = ""
    unreachables: Sequence[str] = ()
    warning: WireWarning | None = None

    def missing(self) -> Iterable[str]:
        """Short names of the scopes that this page may hide something of."""
        if self.warning is not None:
            yield from map(last, self.warning.scopes("project"))
        yield from map(last, self.unreachables)
        for scope, content in self.items.items():
            if content.warning is not None:
                yield from map(last, content.warning.scopes(scope))


def last(url: str) -> str:
    """The last part of a URL or of a path: the name."""
    return url.rsplit("/", 1)[-1]


def instance(wire: WireInstance, zone: str) -> Instance | None:
    """The instance; None where its status is one that we do not know, so that nobody can judge it."""
    status = STATUSES.get(wire.status)
    if status is None:
        return None
    return Instance(
        id=wire.id,
        name=wire.name,
        zone=zone,
        status=status,
        created=utc(wire.creation_timestamp),
        started=utc(wire.last_start_timestamp),
        job=wire.labels.job,
        attempt=_number(wire.labels.attempt),
        turn=_number(wire.labels.turn),
        notice=wire.scheduling.preemption_notice_duration.seconds not in {0, "0"},
    )


def _number(label: str | None) -> int | None:
    return int(label) if label and label.isascii() and label.isdigit() else None


def operation(wire: WireOperation) -> Operation:
    """The operation, its error in one line."""
    done = wire.status == "DONE"
    return Operation(
        name=wire.name,
        zone=last(wire.zone or wire.region) or "global",
        kind=wire.operation_type,
        target_id=wire.target_id,
        target_name=last(wire.target_link),
        done=done,
        error=_error(wire) if done else "",
        user=wire.user,
        at=utc(wire.insert_time),
        request_id=wire.client_operation_id,
        group=wire.operation_group_id,
    )


def _error(wire: WireOperation) -> str:
    """`CODE: message`, one after the other; "" for success. Reasons stand behind in square brackets."""
    if wire.error.errors:
        return errors(wire.error)
    if wire.http_error_status_code or wire.http_error_message:
        return f"HTTP {wire.http_error_status_code}: {wire.http_error_message}"
    return ""


def errors(found: WireErrors) -> str:
    """All of them in one line, as those of an operation; "" for none."""
    return "; ".join(_line(error) for error in found.errors)


def _line(error: WireError) -> str:
    infos = [detail.error_info for detail in error.error_details if detail.error_info is not None]
    facts = [
        f"{key}={value}"
        for info in infos
        for key, value in [("reason", info.reason), *sorted(info.metadatas.items())]
        if value
    ]
    line = f"{error.code}: {error.message}" if error.message else error.code
    return f"{line} [{' '.join(facts)}]" if facts else line


def utc(moment: datetime | None) -> datetime | None:
    """The same moment, in UTC."""
    return moment if moment is None or moment.tzinfo is UTC else moment.astimezone(UTC)
