"""What happens: four jobs, each of which loses a VM in its own way, and what is left of them in the end."""

import asyncio
from typing import Any

from localcloud.cloud import LocalCloud
from localcloud.functions import Deployment
from localcloud.story import gang, lost_marker, one_vm, stockout
from localcloud.story.stage import TIMEOUT, Stage, Tell
from localcloud.story.watch import StoryError, until

LOOKS = (("jobs",), ("show", stockout.JOB))
JOBS = (one_vm.JOB, gang.JOB, stockout.JOB, lost_marker.JOB)
AN_HOUR = 61 * 60
"""Seconds after which the message of the hour goes (`notify.digest`)."""


class Plot:
    """One telling; `tell` gets each line with the chapter it belongs to."""

    def __init__(self, cloud: LocalCloud, deployment: Deployment, tell: Tell) -> None:
        self._stage = Stage.of(cloud, deployment, tell)

    async def tell(self) -> None:
        """Live through the story; `StoryError` where it does not come true."""
        try:
            await self._chapters()
            await self._look_back()
            await self._read_the_mail()
        finally:
            await self._stage.watch.close()

    async def _chapters(self) -> None:
        """Tell the first chapter alone until its job is back; then the others, all at once."""
        stage, back = self._stage, asyncio.Event()
        try:
            async with asyncio.TaskGroup() as telling:
                stage.say("test-vm: one VM is preempted half-way through its training")
                telling.create_task(one_vm.tell(stage.chapter(one_vm.JOB), back))
                await back.wait()
                stage.say("while it trains on, three more jobs, all at once:")
                stage.say("  pair: a gang of two VMs, one of which is preempted")
                stage.say("  roam: one VM, whose zone has no capacity when it is preempted")
                stage.say("  silent: one VM, which writes no marker when it is preempted")
                telling.create_task(gang.tell(stage.chapter(gang.JOB)))
                telling.create_task(stockout.tell(stage.chapter(stockout.JOB)))
                telling.create_task(lost_marker.tell(stage.chapter(lost_marker.JOB)))
        except ExceptionGroup as errors:
            untrue, others = errors.split(StoryError)
            if others or untrue is None:
                raise
            raise StoryError("; ".join(str(error) for error in untrue.exceptions)) from errors

    async def _look_back(self) -> None:
        instances = await self._stage.watch.instances()
        if instances:
            raise StoryError(f"{len(instances)} instances are left over")
        self._stage.say("all jobs have ended, and nothing runs or costs money any more")
        # Each takes a second to start, so all start at once.
        outputs = await asyncio.gather(*(self._stage.run(*words) for words in LOOKS))
        for words, output in zip(LOOKS, outputs, strict=True):
            self._stage.show(words, output)

    async def _read_the_mail(self) -> None:
        """Let the hour pass after which its owner is told of what she need not hear at once."""
        stage = self._stage
        stage.say("no one had to act, so no mail was urgent. An hour later, one mail sums it up:")
        await stage.watch.turn("travel", {"seconds": AN_HOUR})
        stage.say("$ spotwarden local travel 61m")
        mail = await until(
            self._message,
            lambda found: found is not None,
            within=TIMEOUT,
            waiting_for=f"a mail that says that {', '.join(JOBS)} are back",
        )
        stage.say(f"✉ {mail['to']}: {mail['subject']}")

    async def _message(self) -> dict[str, Any] | None:
        """The mail that tells of every job that it is back."""
        messages = await self._stage.watch.mailbox()
        mails = (message for message in messages if message["channel"] == "mail")
        told = [f"{job} runs again" for job in JOBS]
        return next((mail for mail in mails if all(said in mail["text"] for said in told)), None)
