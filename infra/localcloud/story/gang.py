"""A gang of two: one node is taken away, the other goes with it, one attempt brings both back."""

from localcloud.story.pi import at_work, resumed
from localcloud.story.stage import EXAMPLE, Stage, milliseconds, zone_of
from localcloud.story.watch import StoryError

JOB, NODES = "pair", ("pair-1", "pair-2")
TAKEN, SURVIVOR = "pair-2", "pair-1"


async def tell(stage: Stage) -> None:
    """Submit both, take one, see both come back from their checkpoints and finish."""
    await stage.submit(EXAMPLE / "pi" / "create-pair.sh")
    await at_work(stage, JOB, NODES)
    first = {node: str((await stage.running(node))["id"]) for node in NODES}
    await stage.preempt(TAKEN)
    second = {node: await stage.successor(node, first[node]) for node in NODES}
    await _survivor_first(stage, first[SURVIVOR])
    ledger = (await stage.started(JOB, 2))["instances"]
    if ledger != {node: str(given["id"]) for node, given in second.items()}:
        raise StoryError("the two nodes do not come from one attempt")
    zones = " and ".join(sorted({zone_of(item) for item in second.values()}))
    stage.say(f"attempt 2 has started both in {zones}, under their old names")
    await stage.ended(JOB)
    await stage.only_attempts(JOB, 2)
    for node in NODES:
        stage.say(f"{node} resumed from its checkpoint at step {await resumed(stage, JOB, node)}")
    await stage.alone(*NODES)
    stage.say("both shards are done, the job ended with status 0, both VMs have deleted themselves")


async def _survivor_first(stage: Stage, survivor: str) -> None:
    """Say that the survivor was deleted, and gone, before both were asked for."""
    marker = await stage.marker_written(JOB, TAKEN)
    deleted, gone = await stage.asked("delete", survivor), await stage.watch.gone(survivor)
    created = await stage.watch.begun(SURVIVOR, after=gone)
    if not deleted < gone <= created:
        raise StoryError(f"{SURVIVOR} was requested before the old VM was gone")
    stage.say(
        f"{SURVIVOR}, the survivor, was deleted first: {milliseconds(marker, deleted)} after the marker"
    )
    stage.say(f"both were asked for {milliseconds(gone, created)} after it was gone")
