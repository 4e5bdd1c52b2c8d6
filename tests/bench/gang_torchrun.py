"""Real torchrun with gloo under chaos: `gang_torchrun.py [PREEMPTIONS] [SEED] [--torch PYTHON] [--keep DIR]`.

A gang of 2 to 4 nodes trains infra/job/example/torch/bending.py on a local cloud, with the real recover_spot.
Its VMs are preempted so often, one or two at a time, while it trains and while its members change; markers
and events are lost, doubled and late, calls go unanswered, zones run out, and the function is killed -9.
Judged is, by what each rank wrote on the laptop's disk, whether the curve is, bit by bit, that of a training
that nothing befell, whether more than one set of ranks ever lived, and how long survivors took to restart.
"""

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.handover_gap import TORCH, launch_with
from tests.e2e.chaos.cast import Job, Kind
from tests.e2e.chaos.cloud import Cloud, served
from tests.e2e.chaos.dead import bury
from tests.e2e.chaos.run import POLICY
from tests.e2e.chaos.trouble import Trouble

NAME = "bent"
NODES = 4
STEPS_A_PREEMPTION = 60
"""Of the training, which must not end before the last preemption."""
PAUSE_SECONDS = 0.1
RESTART_GOAL = 15.0
KILL_EACH_SECONDS = 40.0
OTHERS = 0.5
"""The chance of other trouble beside a preemption."""
IN_BETWEEN = 0.2
"""The chance that the next preemption does not wait until the gang trains again."""
TWO = 0.2
"""The chance that two are taken at once."""
PATIENCE_SECONDS = 300.0
LINE = re.compile(
    r"(begin|step) (\d+) (?:loss (\S+) )?rank (\d+) of (\d+) epoch (\d+) pid (\d+) at ([0-9.]+)"
)
LOSSES = "import json, sys, torch; print(json.dumps(torch.load(sys.argv[1])['losses']))"


class Said(NamedTuple):
    """A line of one rank."""

    what: str
    step: int
    loss: str
    rank: int
    ranks: int
    epoch: int
    pid: int
    at: float


class Gang(Job, kw_only=True):
    """The gang, as the chaos knows jobs."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """All of its names, whether they run or not."""
        return tuple(f"{self.name}-{number + 1}" for number in range(NODES))


def command(torchrun: Path, disk: Path, steps: int) -> str:
    """What each node runs; a laptop is one host, so its address is said."""
    words = [
        *(f"{torchrun} --nnodes=$NODES --node-rank=$NODE_RANK --nproc-per-node=1 --rdzv-backend=c10d",),
        "--rdzv-endpoint=$MASTER_ADDR:$MASTER_PORT --rdzv-id=$SPOTWARDEN_JOB-$SPOTWARDEN_ATTEMPT",
        f"--local-addr=127.0.0.1 --redirects=3 --tee=3 --log-dir={disk}/$SPOTWARDEN_NODE-$SPOTWARDEN_ATTEMPT",
        f"bending.py --steps {steps} --pause {PAUSE_SECONDS}",
    ]
    starts = f'echo "$SPOTWARDEN_ATTEMPT $SPOTWARDEN_NODE $(date +%s.%N)" >>{disk}/starts'
    return f"{starts}; exec {' '.join(words)}"


def undisturbed(torchrun: Path, python: Path, steps: int) -> list[float]:
    """The losses of a training of one rank that nothing befell."""
    with tempfile.TemporaryDirectory() as folder:
        words = [
            torchrun,
            "--standalone",
            "--nproc-per-node=1",
            "bending.py",
            "--steps",
            str(steps),
            "--pause",
            "0",
        ]
        environment = {"SPOTWARDEN_OUTPUT": folder, "PATH": "/usr/bin:/bin"}
        subprocess.run(
            [str(word) for word in words], env=environment, cwd=TORCH, check=True, capture_output=True
        )
        return losses(python, Path(folder, "last.pt").read_bytes())


def losses(python: Path, checkpoint: bytes) -> list[float]:
    """The curve in a checkpoint."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(checkpoint)
        said = subprocess.run([python, "-c", LOSSES, file.name], check=True, capture_output=True, text=True)
    found: list[float] = json.loads(said.stdout)
    return found


def witnessed(disk: Path) -> Iterator[Said]:
    """What the ranks of all epochs wrote, in the order of time."""
    lines = []
    for file in disk.rglob("stdout.log"):
        for found in LINE.finditer(file.read_text(errors="replace")):
            what, step, loss, rank, ranks, epoch, pid, at = found.groups()
            lines.append(Said(what, int(step), loss, int(rank), int(ranks), int(epoch), int(pid), float(at)))
    yield from sorted(lines, key=lambda line: line.at)


def records(cloud: Cloud) -> list[dict[str, Any]]:
    """The chain."""
    found: list[dict[str, Any]] = []
    while record := cloud.read(f"{NAME}/metadata/attempts/{len(found) + 1}.json"):
        found.append(json.loads(record))
    return found


class Play:
    """One history: the chaos, until so many VMs were taken and the training has ended."""

    def __init__(self, cloud: Cloud, disk: Path, count: int, seed: int) -> None:
        self._cloud, self._disk, self._count = cloud, disk, count
        self._dice = Random(seed)
        self.trouble = Trouble(cloud, self._dice, [Gang(name=NAME, kind=Kind.GANG, zone="us-central1-a")], [])
        self._tick_due = self._kill_due = 0.0

    def run(self) -> float:
        """Take VMs; then let it end in peace. Gives the seconds of all that."""
        began = time.monotonic()
        self._until_trains(0)
        self.trouble.begin()
        while self.trouble.did["preemptions"] < self._count:
            epoch = self._epoch()
            two = self._dice.random() < TWO
            if not (self.trouble.preempt() and (not two or self.trouble.preempt())):
                self._pass(1)
                continue
            if self._dice.random() < OTHERS:
                self.trouble.other()
            if self._dice.random() < IN_BETWEEN:
                self._pass(self._dice.uniform(0, 8))
            else:
                self._until_trains(epoch)
                self._pass(self._dice.uniform(0, 6))
            if self._cloud.read(f"{NAME}/metadata/status-code"):
                sys.exit("the training ended before all preemptions; it needs more steps")
        self.trouble.end()
        self._until(lambda: bool(self._cloud.read(f"{NAME}/metadata/status-code")), "the end of the training")
        return time.monotonic() - began

    def _epoch(self) -> int:
        return max((line.epoch for line in witnessed(self._disk)), default=0)

    def _until_trains(self, epoch: int) -> None:
        """Until an epoch after this one trains."""
        self._until(
            lambda: any(line.epoch > epoch and line.what == "step" for line in witnessed(self._disk)),
            f"steps after epoch {epoch}",
        )

    def _until(self, look: Any, what: str) -> None:
        end = time.monotonic() + PATIENCE_SECONDS + self._count * STEPS_A_PREEMPTION * PAUSE_SECONDS * 4
        while not look():
            if time.monotonic() > end:
                sys.exit(f"waited in vain for {what}")
            self._pass(0.5)

    def _pass(self, seconds: float) -> None:
        """Let time pass: a tick each five seconds, and now and then the function dies."""
        end = time.monotonic() + seconds
        while True:
            now = time.monotonic()
            self.trouble.lose_markers()
            if now >= self._tick_due:
                self._tick_due = now + 5
                if self.trouble.killed:
                    bury(self._cloud, self.trouble.killed)
                    self.trouble.killed = None
                self._cloud.tick()
            if now >= self._kill_due:
                if self._kill_due:
                    self.trouble.kill()
                self._kill_due = now + self._dice.expovariate(1 / KILL_EACH_SECONDS)
            if now >= end:
                return
            time.sleep(0.1)


def sets_of_ranks(lines: list[Said]) -> list[str]:
    """What contradicts that one set of ranks lived at any time."""
    faults = []
    pids: dict[tuple[int, int], set[int]] = {}
    sizes: dict[int, set[int]] = {}
    newest = 0
    for line in lines:
        pids.setdefault((line.epoch, line.rank), set()).add(line.pid)
        sizes.setdefault(line.epoch, set()).add(line.ranks)
        if line.epoch < newest:
            faults.append(
                f"epoch {line.epoch} made {line.what} {line.step} at {line.at:.1f}, after epoch {newest}"
            )
        newest = max(newest, line.epoch)
    faults += [
        f"epoch {epoch} had rank {rank} {len(of)} times" for (epoch, rank), of in pids.items() if len(of) > 1
    ]
    for epoch, size in sizes.items():
        there = {rank for at, rank in pids if at == epoch}
        if len(size) > 1 or there - {*range(max(size))}:
            faults.append(f"epoch {epoch}: ranks {sorted(there)} of {sorted(size)}")
    return faults


def steps_again(lines: list[Said]) -> int:
    """How many steps were made more than once, since the checkpoint before them was the newest."""
    made = Counter(line.step for line in lines if line.what == "step" and line.rank == 0)
    return sum(count - 1 for count in made.values())


class Restart(NamedTuple):
    """Seconds from a record without a node to the programs of its survivors, and to their next step."""

    program: float
    step: float


def restarts(chain: list[dict[str, Any]], disk: Path, lines: list[Said]) -> Iterator[Restart]:
    """How long survivors took, for each loss; where members changed again meanwhile, up to what ran then."""
    starts: dict[int, dict[str, float]] = {}
    for row in Path(disk, "starts").read_text().splitlines():
        epoch, node, at = row.split()
        starts.setdefault(int(epoch), {})[node] = float(at)
    for record in chain:
        if not record.get("bent") or not record.get("replaces"):
            continue
        known = datetime.fromisoformat(record["created"]).timestamp()
        ran = next((epoch for epoch in sorted(starts) if epoch >= record["number"]), 0)
        if not ran or not all(chain[number]["bent"] for number in range(record["number"], ran)):
            continue
        program = max(at for node, at in starts[ran].items() if node in chain[ran - 1]["instances"])
        step = next((line.at for line in lines if line.epoch >= ran and line.what == "step"), program)
        yield Restart(program - known, step - known)


def share(values: list[float], part: float) -> float:
    """A quantile."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else float("nan")


def main(count: int, seed: int, python: Path, keep: str) -> int:
    """Play, and print a table."""
    steps, torchrun = count * STEPS_A_PREEMPTION, python.with_name("torchrun")
    truth = undisturbed(torchrun, python, steps)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        home = Path(keep or temporary)
        disk = home / "disk"
        disk.mkdir(parents=True)
        (home / "policy.toml").write_text(POLICY)
        with served(home, home / "policy.toml") as cloud:
            words = (
                "--nodes",
                f"2:{NODES}",
                "--no-handover",
                "--flag=--metadata=spotwarden-sync=2",
                "--code",
                str(TORCH),
            )
            launch_with(cloud, NAME, words, (command(torchrun, disk, steps),))
            play = Play(cloud, disk, count, seed)
            lasted = play.run()
            chain = records(cloud)
            made = losses(python, cloud.read(f"{NAME}/output/last.pt") or b"")
        lines = [*witnessed(disk)]
        faults = sets_of_ranks(lines)
        wrong = [line for line in lines if line.what == "step" and float(line.loss) != truth[line.step - 1]]
        found = [*restarts(chain, disk, lines)]
    epochs = len({line.epoch for line in lines if line.what == "step"})
    whole = sum(not record.get("bent") for record in chain) - 1
    did = ", ".join(f"{what} {number}" for what, number in sorted(play.trouble.did.items()))
    print(f"seed {seed}: {did}; {lasted:.0f} s, {len(chain)} records, {epochs} epochs trained")
    print(f"| {'':40} | goal | figure |\n|---|---|---|")
    curve = "same" if made == truth else "DIFFERS"
    print(f"| the {steps} losses of an undisturbed training | same | {curve} |")
    print(f"| steps that any rank made with another loss | 0 | {len(wrong)} |")
    print(f"| faults of the sets of ranks | 0 | {len(faults)} |")
    print(f"| steps made again, from the newest checkpoint on | | {steps_again(lines)} |")
    print(f"| times that all nodes were made anew | | {whole} |")
    for name, values in (
        ("record → program of all survivors", [item.program for item in found]),
        ("record → their next step", [item.step for item in found]),
    ):
        figures = ", ".join(f"{share(values, part):.1f}" for part in (0.5, 0.9, 1.0))
        print(f"| {name}, s: p50, p90, longest of {len(values)} | {RESTART_GOAL:g} | {figures} |")
    print("\n".join(faults[:20]))
    return 1 if faults or wrong or made != truth else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("preemptions", type=int, nargs="?", default=20)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--torch", default=sys.executable, help="A Python that has PyTorch.")
    parser.add_argument("--keep", default="", help="A folder where logs and disks stay.")
    options = parser.parse_args()
    if options.torch == sys.executable and importlib.util.find_spec("torch") is None:
        sys.exit("this Python has no torch; say which one has: --torch PYTHON")
    sys.exit(main(options.preemptions, options.seed, Path(options.torch), options.keep))
