"""What is done to VMs, and what is asked of Compute Engine."""

from collections.abc import Callable, Mapping
from typing import Any

from spotwarden.engine.executor import on_groups
from spotwarden.engine.executor.on_bucket import expect_newest
from spotwarden.engine.executor.outside import ExecutorContext
from spotwarden.model.action import (
    DeleteInstance,
    Fetch,
    LabelInstance,
    LaunchInstances,
    Look,
    RemoveLeftover,
    StartInstance,
    StopInstance,
    Survey,
)
from spotwarden.model.instance import Status
from spotwarden.model.outcome import Done
from spotwarden.model.slice_action import LookAtGroup
from spotwarden.ports import ConflictError

_AT_REST = frozenset((Status.TERMINATED.value, Status.STOPPED.value, Status.SUSPENDED.value))


def look(context: ExecutorContext, question: Look) -> Done:
    """How an operation stands."""
    return Done(operation=context.cloud.compute.operation(question.place, question.operation))


def survey(context: ExecutorContext, question: Survey) -> Done:
    """Instances first: one that is gone by then has its insert in the newer log."""
    compute = context.cloud.compute
    instances = compute.instances(names=question.names, job=question.job)
    return Done(instances=instances, operations=compute.operations(question.since))


def fetch(context: ExecutorContext, question: Fetch) -> Done:
    """The instance and its disks together: what it was made from stands on its disks."""
    compute = context.cloud.compute
    resource = compute.resource(question.zone, question.instance_id)
    if resource is None:
        return Done()
    sources = [disk["source"] for disk in resource.get("disks", ()) if "source" in disk]
    disks = {source: compute.disk(source) for source in sources}
    return Done(resource={"instance": resource, "disks": disks})


def launch(context: ExecutorContext, action: LaunchInstances) -> Done:
    """Create the nodes of an attempt, if it is the newest of its job still."""
    if not action.fresh:
        expect_newest(context, action.job, action.attempt, action.generation)
    for zone, instance_id in action.at_rest:
        _expect_at_rest(context, zone, instance_id)
    compute = context.cloud.compute
    return Done(operation=compute.launch(action.request, action.request_id, before=action.before))


def start(context: ExecutorContext, action: StartInstance) -> Done:
    """Start a stopped VM, if its attempt is the newest of its job still."""
    if not action.fresh:
        expect_newest(context, action.job, action.attempt, action.generation)
    compute = context.cloud.compute
    started = compute.start(action.zone, action.instance_id, action.request_id, before=action.before)
    return Done(operation=started)


def delete(context: ExecutorContext, action: DeleteInstance) -> Done:
    """Delete a VM; one that stood still when it was seen only if it does so now."""
    compute = context.cloud.compute
    if action.at_rest:
        _expect_at_rest(context, action.zone, action.instance_id)
    gone = compute.delete(action.zone, action.instance_id, action.request_id, before=action.before)
    return Done(operation=gone)


def _expect_at_rest(context: ExecutorContext, zone: str, instance_id: str) -> None:
    """Look whether the VM still stands still; else `ConflictError`: no request takes that as a condition."""
    found = context.cloud.compute.resource(zone, instance_id)
    if found is not None and found.get("status") not in _AT_REST:
        raise ConflictError(f"{found.get('name')} was started since it was seen stopped")


def stop(context: ExecutorContext, action: StopInstance) -> Done:
    """Stop a VM."""
    compute = context.cloud.compute
    stopped = compute.stop(
        action.zone,
        action.instance_id,
        action.request_id,
        discard_local_ssd=action.discard_local_ssd,
        before=action.before,
    )
    return Done(operation=stopped)


def label(context: ExecutorContext, action: LabelInstance) -> Done:
    """Put labels on a VM, or take them off."""
    return Done(operation=context.cloud.compute.label(action.zone, action.instance_id, action.labels))


def remove(context: ExecutorContext, action: RemoveLeftover) -> Done:
    """Delete a disk, address or snapshot."""
    gone = context.cloud.compute.remove(action.link, action.request_id, before=action.before)
    return Done(operation=gone)


ASK: Mapping[type, Callable[[ExecutorContext, Any], Done]] = {
    Look: look,
    Survey: survey,
    Fetch: fetch,
    LookAtGroup: on_groups.look,
}
DO: Mapping[type, Callable[[ExecutorContext, Any], Done]] = {
    LaunchInstances: launch,
    StartInstance: start,
    DeleteInstance: delete,
    StopInstance: stop,
    LabelInstance: label,
    RemoveLeftover: remove,
    **on_groups.DO,
}
