"""VMs that should be over: one whose job has ended, one that hangs, one that has used up its time."""

from localcloud.story.governance.journey import GovernanceJourney
from localcloud.story.governance.ward import Ward
from localcloud.story.watch import StoryError


async def stay(ward: Ward, journey: GovernanceJourney) -> None:
    """Its job has ended and its self-delete has failed: seen twice, warned, deleted."""
    await journey.until(25)
    await ward.runs()
    await journey.until(50)
    await ward.told(f"{ward.name} is no longer needed by its job")
    await ward.runs()
    await journey.until(75)
    await ward.gone()
    ward.stage.say("the VM is deleted: its job is over, and its output is in the bucket")
    await ward.told(f"{ward.name} was deleted")


async def hang(ward: Ward, journey: GovernanceJourney) -> None:
    """Its GPU is at work, and the step that it has told of stands still: nothing moves for two hours."""
    await journey.until(122)
    await ward.told(f"{ward.name} has stopped making progress")
    ward.stage.say(f"    its GPU, all the while: {await ward.busy():.0f} % busy")
    await ward.runs()
    await journey.until(154)
    await ward.stopped()
    ward.stage.say("the VM is stopped, half an hour after the warning")
    await ward.told(f"{ward.name} was stopped; its disks are kept")
    if await ward.heard(f"{ward.name} has idle GPUs"):
        raise StoryError(f"{ward.name} was reported idle")


async def long(ward: Ward, journey: GovernanceJourney) -> None:
    """Its team's limit is 2 h 5 min: warned at 80 % and 95 %, extended once, stopped at the new limit.

    Of the new limit 80 % are over when it is granted, and the next tick says so; it comes now, not by chance.
    At 95 % some minutes are left: within the last one nobody is warned once more, the moment is over by then.
    """
    nears = f"{ward.name} is near or over its time or cost limit"
    await journey.until(100)
    await ward.told(nears)
    await journey.until(120)
    await ward.told(nears, times=2)
    await ward.warned("job_cap", ward.name, times=2)
    await ward.command("cases", "extend", "job_cap", ward.name, "--by", "20m")
    await journey.sweep("cap_runtime")
    await ward.told(nears, times=3)
    await journey.until(138)
    await ward.runs()
    await ward.told(nears, times=4)
    await journey.until(154)
    await ward.stopped()
    ward.stage.say("the VM is stopped at the extended limit")
    await ward.told(f"{ward.name} was stopped; its disks are kept")
