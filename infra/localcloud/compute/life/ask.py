"""What a caller asks of Compute Engine, as far as the operation and the audit log need it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from localcloud.compute.audit import SYSTEM_PRINCIPAL, Caller, Subject
from localcloud.compute.operations import SYSTEM, Order, Running
from localcloud.compute.registry import Vm
from localcloud.compute.site import Site


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Who asks, with which body; `request_id` and `group` where there are such.

    `discard_local_ssd` is what a stop says about local SSDs; None where it says nothing.
    """

    caller: Caller
    body: Mapping[str, Any] = field(default_factory=dict)
    request_id: str = ""
    group: str = ""
    discard_local_ssd: bool | None = None


SYSTEM_ASK = Ask(caller=Caller(email=SYSTEM_PRINCIPAL))
"""What Compute Engine does of itself but writes down like a call: the end of a limited run time."""


def subject_of(vm: Vm) -> Subject:
    """The instance, as audit log entries name it."""
    return Subject(path=vm.path, zone=vm.zone, id=vm.id)


def begin(site: Site, method: str, vm: Vm, ask: Ask) -> Running:
    """Write down that a method of `instances` was called for an instance: operation and audit log."""
    user = SYSTEM if ask is SYSTEM_ASK else ask.caller.email
    order = Order(
        kind=method,
        scope=f"zones/{vm.zone}",
        target=vm.path,
        target_id=vm.id,
        user=user,
        request_id=ask.request_id,
        group=ask.group,
    )
    running = site.operations.begin(order)
    site.audit.asked(running, f"compute.instances.{method}", subject_of(vm), ask.caller, ask.body)
    return running
