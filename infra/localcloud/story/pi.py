"""The jobs of `infra/job/example/pi`: each node has a shard, and a checkpoint in the bucket."""

import json
from collections.abc import Sequence
from functools import partial

from localcloud.story.stage import TIMEOUT, Stage
from localcloud.story.watch import StoryError, until

STEPS = 40
AT_WORK = 10


async def step_of(stage: Stage, job: str, node: str) -> int:
    """The step of a node's checkpoint; 0 before the first."""
    raw = await stage.watch.read(f"{job}/output/{node}.json")
    return int(json.loads(raw)["step"]) if raw else 0


async def at_work(stage: Stage, job: str, nodes: Sequence[str]) -> None:
    """Wait until every node has a checkpoint."""
    steps = {}
    for node in nodes:
        steps[node] = await until(
            partial(step_of, stage, job, node),
            lambda step: bool(step >= AT_WORK),
            within=TIMEOUT,
            waiting_for=f"a checkpoint of {node}",
        )
    reached = ", ".join(f"{node} step {step}" for node, step in steps.items())
    stage.say(f"checkpoints are in the bucket: {reached} of {STEPS}")


async def resumed(stage: Stage, job: str, node: str) -> int:
    """The step of the checkpoint that attempt 2 went on from; `StoryError` where it began anew."""
    state = json.loads(await stage.watch.read(f"{job}/output/{node}.json") or b"{}")
    if state.get("attempt") != "2" or state.get("from", 0) < AT_WORK or state.get("step") != STEPS:
        raise StoryError(f"{node} didn't resume from its checkpoint: {state}")
    return int(state["from"])
