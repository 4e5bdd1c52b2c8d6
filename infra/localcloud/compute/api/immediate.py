"""Changes that are made, or given up, at once, and whose operation ends a while later."""

from localcloud.compute.api.call import Call
from localcloud.compute.life import Tasks
from localcloud.compute.operations import Order, Running
from localcloud.compute.refusals import Failure
from localcloud.compute.shelf import Resource


def begin(
    call: Call, tasks: Tasks, kind: str, path: str, resource: Resource, *, failure: Failure | None = None
) -> Running:
    """Write down that a method `kind` was called for the resource at `path` (`global/images/N`).

    With a `failure` nothing was changed, and this is how the operation ends.
    """
    order = Order(
        kind=kind,
        scope=call.scope,
        target=path,
        target_id=resource["id"],
        user=call.caller.email,
        request_id=call.query.get("requestId", ""),
    )
    running = call.site.operations.begin(order)
    tasks.spawn(_settle(call, running, failure))
    return running


async def _settle(call: Call, running: Running, failure: Failure | None) -> None:
    site = call.site
    await site.pace.pause(site.timings.accepting)
    running.start()
    await site.pace.pause(site.timings.changing)
    running.end(failure)
