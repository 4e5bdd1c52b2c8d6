"""Instances and operations of Compute Engine, as far as a decision needs them."""

from datetime import datetime
from enum import Enum

import msgspec


class Status(Enum):
    """The status of an instance (Google: "Compute Engine instance lifecycle")."""

    PROVISIONING = "PROVISIONING"
    STAGING = "STAGING"
    RUNNING = "RUNNING"
    PENDING = "PENDING"
    PENDING_STOP = "PENDING_STOP"
    STOPPING = "STOPPING"
    STOPPED = "STOPPED"
    SUSPENDING = "SUSPENDING"
    SUSPENDED = "SUSPENDED"
    REPAIRING = "REPAIRING"
    DEPROVISIONING = "DEPROVISIONING"
    TERMINATED = "TERMINATED"


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """One VM. `id` is never used again; `name` is, once the VM is gone.

    `started` is when it last began to run; `job`, `attempt` and `turn` (which try of the attempt) are what
    we wrote on it at launch. `notice` says that it hears of a preemption some time before it is stopped.
    Where a job has a VM that does not bear its node's name (`recovery.requests.second_name`), `name` is the
    node's once the VM is known to be the job's, and `vm` what Compute Engine calls it.
    """

    id: str
    name: str
    zone: str
    status: Status
    created: datetime | None = None
    started: datetime | None = None
    job: str | None = None
    attempt: int | None = None
    turn: int | None = None
    notice: bool = False
    vm: str = ""

    @property
    def called(self) -> str:
        """What Compute Engine calls it."""
        return self.vm or self.name


class Instances(msgspec.Struct, frozen=True, kw_only=True):
    """A list of instances; with a scope in `unreachable`, one that is missing may still be there."""

    items: tuple[Instance, ...] = ()
    unreachable: tuple[str, ...] = ()


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was done, or is being done, to an instance.

    `kind` is Compute's `operationType`; `user` who asked; `error` is "" unless it is done and failed,
    then the error's code and message. `request_id` is what whoever asked has sent with it, "" for nothing;
    `group` is shared by a bulk insert and the inserts that came of it.
    """

    name: str
    zone: str
    kind: str
    target_id: str
    target_name: str
    done: bool
    error: str = ""
    user: str = ""
    at: datetime | None = None
    request_id: str = ""
    group: str = ""


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the operation log; incomplete where a scope is in `unreachable`."""

    items: tuple[Operation, ...] = ()
    unreachable: tuple[str, ...] = ()
