"""What is done to managed instance groups, and to what they need."""

from collections.abc import Callable, Mapping
from typing import Any

from spotwarden.engine.executor.on_bucket import expect_newest
from spotwarden.engine.executor.outside import ExecutorContext
from spotwarden.model.outcome import Done
from spotwarden.model.slice_action import DeleteGroup, DeleteTemplate, FillGroup, LookAtGroup, MakePart


def look(context: ExecutorContext, question: LookAtGroup) -> Done:
    """The group and its members."""
    return Done(group=context.cloud.compute.group(question.zone, question.group, question.group_id))


def make(context: ExecutorContext, action: MakePart) -> Done:
    """Create a part of a slice, if its attempt is the newest of its job still."""
    expect_newest(context, action.job, action.attempt, action.generation)
    compute = context.cloud.compute
    return Done(operation=compute.launch(action.request, action.request_id, before=action.before))


def fill(context: ExecutorContext, action: FillGroup) -> Done:
    """Have the VMs of a slice made, if its attempt is the newest of its job still."""
    expect_newest(context, action.job, action.attempt, action.generation)
    filled = context.cloud.compute.fill_group(
        action.zone, action.group, action.group_id, action.nodes, action.request_id, before=action.before
    )
    return Done(operation=filled)


def delete(context: ExecutorContext, action: DeleteGroup) -> Done:
    """Delete a group with its VMs."""
    compute = context.cloud.compute
    gone = compute.delete_group(
        action.zone, action.group, action.group_id, action.request_id, before=action.before
    )
    return Done(operation=gone)


def delete_template(context: ExecutorContext, action: DeleteTemplate) -> Done:
    """Delete the template of a group."""
    compute = context.cloud.compute
    return Done(operation=compute.delete_template(action.template, action.request_id, before=action.before))


DO: Mapping[type, Callable[[ExecutorContext, Any], Done]] = {
    MakePart: make,
    FillGroup: fill,
    DeleteGroup: delete,
    DeleteTemplate: delete_template,
}
