"""A VM that never writes a marker is preempted; it is missed all the same."""

from datetime import datetime

from localcloud.story.pi import at_work, resumed
from localcloud.story.stage import EXAMPLE, Stage, milliseconds
from localcloud.story.watch import StoryError, moment_of

JOB = "silent"


async def tell(stage: Stage) -> None:
    """Submit, preempt, see it come back, and what told of the loss."""
    await stage.submit(EXAMPLE / "pi" / "create-silent.sh")
    await at_work(stage, JOB, (JOB,))
    first = str((await stage.running(JOB))["id"])
    await stage.preempt(JOB)
    second = str((await stage.successor(JOB, first))["id"])
    record = await stage.record(JOB, 2)
    if record.get("markers"):
        raise StoryError(f"{JOB} wrote a marker, but must not")
    taken, gone = await _preempted(stage, first), await stage.watch.gone(first)
    asked = await stage.asked("insert", second)
    who = await _who_found_it(stage, since=taken, claimed=datetime.fromisoformat(record["created"]))
    stage.say(f"the job runs again as instance {second}, without a marker")
    stage.say(f"{who}; preemption → create request: {milliseconds(taken, asked)}")
    stage.say(f"    {milliseconds(taken, gone)} of it until the old VM was gone")
    await stage.ended(JOB)
    step = await resumed(stage, JOB, JOB)
    stage.say(f"attempt 2 resumed from its checkpoint at step {step} and finished with status 0")
    await stage.alone(JOB)


async def _preempted(stage: Stage, instance_id: str) -> datetime:
    """When Compute Engine said that it takes the instance."""
    condition = (
        'protoPayload.methodName="compute.instances.preempted"'
        f' AND resource.labels.instance_id="{instance_id}"'
    )
    return moment_of((await stage.audited(condition, f"the preemption of {JOB}"))[0])


async def _who_found_it(stage: Stage, *, since: datetime, claimed: datetime) -> str:
    """What woke the sweep that claimed the attempt: a tick only if one came in between."""
    ticked = await stage.watch.last_tick()
    if ticked is not None and since <= ticked <= claimed:
        return "the event compute.instances.preempted or the minute's tick reported it"
    return "the event compute.instances.preempted reported it"
