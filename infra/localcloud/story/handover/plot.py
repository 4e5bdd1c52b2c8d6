"""What happens: one training whose VM is taken three times with a notice, and what became of its loss."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from xml.etree.ElementTree import ElementTree

from localcloud.cloud import LocalCloud
from localcloud.functions import Deployment
from localcloud.story.handover.curve import CurvePoint, compare, handovers, read_curve
from localcloud.story.handover.loss_plot import draw
from localcloud.story.stage import EXAMPLE, TIMEOUT, Stage, Tell, zone_of
from localcloud.story.watch import StoryError, until

JOB = "relay"
CODE = EXAMPLE / "handover"
KIT = EXAMPLE.parent / "kit"
STEPS = 800
TIMES = 3
NOTICE_SECONDS = 24
"""Instead of 120: long enough for a successor on a busy machine, and short enough to watch three."""
SETTINGS = f"--flag=--metadata=spotwarden-notice={NOTICE_SECONDS},spotwarden-reserve=8,spotwarden-heartbeat=2"
LAUNCH = ("run", "--job", JOB, "--machine", "e2-small", "--zone", "us-central1-a")
PROGRAM = ("python3", "train.py", "--steps", str(STEPS))


class HandoverPlot:
    """One telling; `tell` gets each line with the chapter it belongs to."""

    def __init__(self, cloud: LocalCloud, deployment: Deployment, tell: Tell) -> None:
        self._stage = Stage.of(cloud, deployment, tell)
        self._zones: dict[int, str] = {}

    async def tell(self) -> None:
        """Live through the story; `StoryError` where it does not come true."""
        stage = self._stage
        try:
            stage.say(
                f"a training of {STEPS} steps, whose VM is preempted {TIMES} times; each time it is told"
            )
            stage.say(f"before, here {NOTICE_SECONDS} s (on Google Cloud 120 s)")
            await stage.watch.turn("timings", {"preemption_notice": NOTICE_SECONDS})
            await self._launch()
            for attempt in range(1, TIMES + 1):
                await self._hand_over(attempt)
            await stage.ended(JOB)
            stage.say("the training has ended with status 0")
            await stage.alone(JOB)
            await self._look_back()
        finally:
            await stage.watch.close()

    async def _launch(self) -> None:
        more = ("--code", str(CODE), "--no-follow", "--owner", "ada@example.com", SETTINGS)
        shown = f"{' '.join(LAUNCH)} -- {' '.join(PROGRAM)}"
        # Its script is written into the folder from which it is launched.
        with tempfile.TemporaryDirectory() as folder:
            await self._stage.command(*LAUNCH, *more, "--", *PROGRAM, shown=shown, folder=folder)

    async def _hand_over(self, attempt: int) -> None:
        """Take the VM of this attempt; return once the next one trains and this one is gone."""
        stage = self._stage
        await self._at_work(attempt)
        [old] = [vm for vm in await stage.watch.instances() if vm["name"] == JOB]
        self._zones[attempt] = zone_of(old)
        stage.say(f"VM {attempt} trains in {zone_of(old)}; Compute Engine announces its preemption")
        await stage.watch.turn("preempt", {"id": old["id"]})
        new = await stage.successor(JOB, str(old["id"]))
        self._zones[attempt + 1] = zone_of(new)
        stage.say(f"    VM {attempt + 1} boots in {zone_of(new)}, while VM {attempt} trains on")
        await until(
            stage.watch.instances,
            lambda seen: all(vm["id"] != old["id"] for vm in seen),
            within=TIMEOUT,
            waiting_for=f"VM {attempt} to be preempted",
        )

    async def _at_work(self, attempt: int) -> None:
        """Wait until this attempt's program has reported a step."""
        await until(
            lambda: self._stage.watch.read(f"{JOB}/metadata/metrics/{JOB}/{attempt}.jsonl"),
            bool,
            within=TIMEOUT,
            waiting_for=f"VM {attempt} to make a step",
        )

    async def _look_back(self) -> None:
        """Hold the curve against that of a training which nothing befell, and draw both."""
        stage = self._stage
        curve = read_curve(await stage.watch.read(f"{JOB}/output/curve.csv") or b"")
        undisturbed = await train_undisturbed()
        compare(curve, undisturbed)
        found = handovers(curve)
        if len(found) != TIMES:
            raise StoryError(f"{len(found)} VMs have handed over, not {TIMES}")
        for last, first in found:
            gap = first.at - last.at
            stage.say(
                f"VM {last.attempt} made step {last.step}, VM {first.attempt} the next one {gap:.1f} s later"
            )
        stage.say(f"{STEPS} steps, each run once; each loss is bit for bit that of an undisturbed training")
        path = Path(tempfile.mkdtemp(prefix="spotwarden-handover-"), "loss.svg")
        ElementTree(draw(curve, undisturbed, self._zones)).write(path, "utf-8", xml_declaration=True)
        stage.say(f"both loss curves:      {path}")


async def train_undisturbed() -> list[CurvePoint]:
    """The same program, run here without a cloud and without a pause."""
    with tempfile.TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(CODE / "train.py"),
            *PROGRAM[2:],
            "--pause",
            "0",
            env={"PATH": os.environ["PATH"], "SPOTWARDEN_OUTPUT": folder, "PYTHONPATH": str(KIT / "python")},
        )
        if await process.wait():
            raise StoryError(f"the undisturbed training ended with status {process.returncode}")
        return read_curve(await asyncio.to_thread(Path(folder, "curve.csv").read_bytes))
