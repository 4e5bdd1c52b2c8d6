"""A zone runs out: the job that was preempted there comes back in another one."""

from localcloud.story.pi import at_work, resumed
from localcloud.story.stage import EXAMPLE, Stage, milliseconds, zone_of
from localcloud.story.watch import StoryError

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
        raise StoryError(f"{JOB} came back in {HOME}, which had run out")
    marker, asked = await stage.marker_written(JOB, JOB), await stage.asked("insert", str(second["id"]))
    stage.say(
        f"the job is back in {zone_of(second)}; marker → its create request: {milliseconds(marker, asked)}"
    )
    stage.say(f"the ledger tells the refused try: {await _refused(stage)}")
    await stage.ended(JOB)
    stage.say(f"attempt 2 went on at step {await resumed(stage, JOB, JOB)} and finished with status 0")
    await stage.alone(JOB)


async def _refused(stage: Stage) -> str:
    """The try that the stockout refused, as attempt 2 has it."""
    for one in (await stage.record(JOB, 2))["tries"]:
        if one["place"] == HOME and one.get("error"):
            return f"{HOME}, {one['error'].split(':')[0]}"
    raise StoryError(f"the ledger tells no refused try in {HOME}")
