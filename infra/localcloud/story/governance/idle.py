"""GPUs that may idle: one sleeps, one wakes up, one is kept, one cannot be seen, one is nobody's."""

from localcloud.story.governance.journey import GovernanceJourney
from localcloud.story.governance.ward import Ward
from localcloud.story.watch import StoryError

FIRST, SECOND, THIRD, LAST = 75, 122, 138, 154
"""Minutes after the start: the tick after an hour of idling, after 105 minutes, after two hours, the last."""


async def nap(ward: Ward, journey: GovernanceJourney) -> None:
    """Idle for good: warned at 60 and at 105 minutes, stopped at 120."""
    idles = f"{ward.name} has idle GPUs"
    await journey.until(FIRST)
    await ward.told(idles)
    if not await ward.label():
        raise StoryError(f"{ward.name} has no label")
    ward.stage.say(f"    the VM has the label spotwarden-idle={await ward.label()}")
    await journey.until(SECOND)
    await ward.told(idles, times=2)
    await ward.runs()
    await journey.until(THIRD)
    await ward.stopped()
    ward.stage.say("the VM is stopped, two hours after its GPU became idle")
    await ward.told(f"{ward.name} was stopped; its disks are kept")


async def late(ward: Ward, journey: GovernanceJourney) -> None:
    """Idle until its data come, after the first warning; then nobody talks of it any more."""
    await journey.until(FIRST)
    await ward.told(f"{ward.name} has idle GPUs")
    ward.stage.say("its data has arrived; it starts to train")
    await ward.set_metadata("DATA", "ready")
    await ward.busy()
    await journey.until(FIRST + 25)
    await ward.noted(f"The warning about {ward.name} no longer applies")
    ward.stage.say("its owner is told in the hourly message that the warning no longer applies")
    if await ward.label():
        raise StoryError(f"{ward.name} still has the label")
    await journey.until(THIRD)
    await ward.told_only(f"{ward.name} has idle GPUs")
    await ward.runs()


async def kept(ward: Ward, journey: GovernanceJourney) -> None:
    """Idle as well, but its owner says no."""
    await journey.until(FIRST)
    mail = await ward.told(f"{ward.name} has idle GPUs")
    await ward.warned("idle", times=1)
    await ward.answer(mail, "Keep")
    if (case := await ward.case("idle")) is None or case["kept_by"] != ward.owner:
        raise StoryError(f"{ward.owner} keeps {ward.name}, and the case does not say so")
    await journey.until(THIRD)
    await ward.runs()
    await ward.told_only(f"{ward.name} has idle GPUs")
    ward.stage.say("its GPU has been idle for two hours, and nothing is done: its owner asked to keep it")


async def dark(ward: Ward, journey: GovernanceJourney) -> None:
    """No metric of its GPU has ever come: that is told, and is no reason to do anything."""
    await journey.until(50)
    unseen = f"We couldn't check whether {ward.name} has idle GPUs"
    await ward.noted(unseen)
    await journey.until(THIRD)
    mail = await ward.mailed(unseen)
    ward.stage.say(f"✉ {mail['to']}: {mail['subject']}")
    ward.stage.say(f"    with the news of an hour: {unseen}")
    await ward.runs()
    if await ward.heard(f"{ward.name} has idle GPUs") or await ward.label():
        raise StoryError(f"{ward.name} is reported idle without any metrics")
    ward.stage.say("it keeps running: Spotwarden takes no action on what it can't verify")


async def stranger(ward: Ward, journey: GovernanceJourney) -> None:
    """Idle, in another zone, with the name of a job of ours, and no job's."""
    await journey.until(LAST)
    await ward.runs()
    if await ward.label() or await ward.case("idle"):
        raise StoryError("a VM without a job was flagged")
    ward.stage.say(
        "the other VM named late, in us-east1-b, belongs to no job and was idle all the time: not touched"
    )
