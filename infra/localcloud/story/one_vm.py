"""One VM is taken away half-way: it comes back, resumes and finishes."""

import asyncio
from typing import Any

from localcloud.story.stage import EXAMPLE, TIMEOUT, Stage, milliseconds
from localcloud.story.watch import StoryError, until

JOB = "test-vm"
STEPS = 80
HALF_WAY = 30


async def tell(stage: Stage, back: asyncio.Event) -> None:
    """Submit, train, preempt, come back, resume, finish; `back` is set once the job is back."""
    await stage.submit(EXAMPLE / "create-instance.sh")
    first = await _train_half(stage)
    await stage.command("local", "preempt", JOB)
    second = str((await stage.successor(JOB, first))["id"])
    stage.say(f"the job runs again as instance {second} (it was {first})")
    await _tell_the_delay(stage, first, second)
    back.set()
    await _finish(stage)


async def _train_half(stage: Stage) -> str:
    """Wait for a checkpoint half-way; gives the id of the first instance."""
    step = await until(
        lambda: stage.watch.checkpoint(JOB),
        lambda step: bool(step >= HALF_WAY),
        within=TIMEOUT,
        waiting_for=f"a checkpoint at step {HALF_WAY}",
    )
    stage.say(f"the training has reached step {step} of {STEPS}; its checkpoint is in the bucket")
    return str((await stage.running(JOB))["id"])


async def _tell_the_delay(stage: Stage, first: str, second: str) -> None:
    """Say how long it took, and how much of that the old VM still held its name."""
    marker, gone = await stage.marker_written(JOB, JOB), await stage.watch.gone(first)
    create = await stage.asked("insert", second)
    stage.say(f"marker → create request: {milliseconds(marker, create)}")
    stage.say(f"    {milliseconds(marker, gone)} of it until the old VM was really gone and its name free,")
    stage.say(
        f"    {milliseconds(gone, create)} until the event was redelivered (back-off from 0.5 s) and handled"
    )


async def _finish(stage: Stage) -> None:
    """Wait for the end, and look whether the training was resumed."""
    await stage.ended(JOB)
    resumed = _resumed_at(await stage.watch.curve(JOB))
    stage.say(f"attempt 2 resumed at step {resumed} and finished with status 0")
    await stage.alone(JOB)
    stage.say("the VM has deleted itself")


def _resumed_at(curve: list[dict[str, Any]]) -> int:
    """The first step of attempt 2; `StoryError` where the curve has a gap, a double or no second attempt."""
    if [point["step"] for point in curve] != list(range(1, STEPS + 1)):
        raise StoryError(f"the loss curve is incomplete: {[item['step'] for item in curve]}")
    second = [given["step"] for given in curve if given["attempt"] == "2"]
    if not second or second[0] <= HALF_WAY:
        raise StoryError("the second attempt didn't resume from the checkpoint")
    return int(second[0])
