"""A zone runs out: the job that was preempted there comes back in another one."""

from datetime import datetime

from localcloud.story.pi import at_work, resumed
from localcloud.story.stage import EXAMPLE, Stage, milliseconds, zone_of
from localcloud.story.watch import StoryError, moment_of

JOB = "roam"
HOME, MACHINE = "us-central1-a", "a2-highgpu-1g"


async def tell(stage: Stage) -> None:
    """Submit, let the zone run out, preempt, see where it comes back."""
    await stage.submit(EXAMPLE / "pi" / "create-roam.sh")
    await at_work(stage, JOB, (JOB,))
    first = str((await stage.running(JOB))["id"])
    await stage.stock_out(HOME, MACHINE)
    await stage.preempt(JOB)
    second = await stage.successor(JOB, first)
    if zone_of(second) == HOME:
        raise StoryError(f"{JOB} restarted in {HOME}, which has no capacity")
    marker, asked = await stage.marker_written(JOB, JOB), await stage.asked("insert", str(second["id"]))
    stage.say(
        f"the job runs again in {zone_of(second)}; marker → its create request: {milliseconds(marker, asked)}"
    )
    await _tell_the_delay(stage, marker, asked)
    stage.say(f"the ledger shows the refused request: {await _refused(stage)}")
    await stage.ended(JOB)
    step = await resumed(stage, JOB, JOB)
    stage.say(f"attempt 2 resumed from its checkpoint at step {step} and finished with status 0")
    await stage.alone(JOB)


async def _tell_the_delay(stage: Stage, marker: datetime, asked: datetime) -> None:
    """Say how much of the time went by until the old zone had refused."""
    condition = f'protoPayload.resourceName:"{HOME}/instances/{JOB}" AND severity=ERROR'
    refused = moment_of((await stage.audited(condition, f"a refusal in {HOME}"))[-1])
    stage.say(f"    {milliseconds(marker, refused)} of it until {HOME} had refused,")
    stage.say(
        f"    {milliseconds(refused, asked)} until the event was redelivered and another zone was asked"
    )


async def _refused(stage: Stage) -> str:
    """The try that the stockout refused, as attempt 2 has it."""
    for item in (await stage.record(JOB, 2))["tries"]:
        if item["place"] == HOME and item.get("error"):
            return f"{HOME}, {item['error'].split(':')[0]}"
    raise StoryError(f"the ledger shows no refused request in {HOME}")
