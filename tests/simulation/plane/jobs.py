"""The jobs of a history of the plane: what is true of them, whatever anybody believes."""

from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

import msgspec

from spotwarden.create_script.request.stored import launch_of
from spotwarden.model.launch import Launch, StoredScript
from spotwarden.model.request import Request
from tests.fakes.creating import machine_of
from tests.fakes.vms import Vm
from tests.simulation.commands import Kind
from tests.simulation.jobs import GANGS, HANDS_OVER, PROJECT, UNBORN, ZONES
from tests.simulation.jobs import Job as RecoveredJob
from tests.simulation.plane.commands import Launch as Asked

OWNERS = ("ada@x.org", "bob@x.org")
OPS = "ops@x.org"
MACHINE, ODD = "g2-standard-4", "n1-standard-8"
CAP = timedelta(hours=2)
"""How long a job that is capped may run."""
LADDER = '{ model = "spot", up_to = "10m" }, { model = "flex", up_to = "40m" }, { model = "standard" }'


class _Written(NamedTuple):
    """What a script is written from."""

    name: str
    kind: Kind
    zone: str
    nodes: int
    gpus: int
    odd: bool
    version: int
    valid: int
    longest: int
    kept: bool
    told: bool


class PlaneJob(RecoveredJob, kw_only=True):
    """One job. It is `doubtful` while nobody can know whether it is open.

    `said` is when a person last ended or opened it, `opened` when one last opened it. `touched` are the
    ids of its VMs that a person stopped or deleted, `partly` where others were left. It is `deceived`
    once another job's VM has lied about it, `forged` where that VM wrote its end, `finished` once its
    programs have ended, `extended` once its owner was granted more time, `told_by_person` once a person
    has ended it. `version` counts the scripts that its owner has stored after the first. `started` are
    the ids of its VMs that ran once a person had started some of them again, `beside` those that a person
    started while another attempt lived. `allowed` are the machine types that its owner ever let it have.
    `less` are the nodes that a person has removed of a gang that bends, `back` when a VM of it that had
    handed over went on, and `made_anew` the attempt by which all of it is made again. A Flex-start VM of its
    waits for `valid` seconds and runs for `longest`, then it is `kept`, stopped, or deleted; one that
    `climbs` has a ladder.
    """

    owner: str = ""
    gpus: int = 1
    shy: bool = False
    mute: bool = False
    capped: bool = False
    odd: bool = False
    said: datetime | None = None
    opened: datetime | None = None
    touched: set[str] = msgspec.field(default_factory=set)
    started: set[str] = msgspec.field(default_factory=set)
    beside: set[str] = msgspec.field(default_factory=set)
    deceived: bool = False
    finished: bool = False
    forged: bool = False
    extended: bool = False
    partly: bool = False
    told_by_person: bool = False
    version: int = 0
    less: set[str] = msgspec.field(default_factory=set)
    back: dict[str, datetime] = msgspec.field(default_factory=dict)
    made_anew: int = 0
    allowed: set[str] = msgspec.field(default_factory=set)
    valid: int = 0
    longest: int = 0
    kept: bool = False
    climbs: bool = False

    @property
    def parts(self) -> bool:
        """Whether it is a gang that bends, with the job kit, whose nodes hand over before they are taken."""
        return super().parts and self.name[-1] in "02468" and not self.mute

    @property
    def least(self) -> int:
        """How many of its nodes are enough, of a gang that bends."""
        return len(self.nodes) - 1

    @property
    def script(self) -> bytes:
        """Its create script."""
        return _script(self._as_written)

    @property
    def request(self) -> Request:
        """What its owner's gcloud sends."""
        return _request(self._as_written)

    @property
    def _as_written(self) -> "_Written":
        """What its script says, and nothing that happens to it."""
        return _Written(
            self.name,
            self.kind,
            self.zone,
            len(self.nodes),
            self.gpus,
            self.odd,
            self.version,
            self.valid,
            self.longest,
            self.kept,
            self.parts,
        )

    @property
    def settings(self) -> bytes:
        """Its job.toml; empty where it needs none."""
        lines = [
            'max_runtime = "2h"' if self.capped else "",
            f'owner = "{self.owner}"' if self.owner else "",
            f"{HANDS_OVER}{self.cornered}" if self.kind is Kind.EARLY else "",
            f'nodes = "{self.least}:{len(self.nodes)}"' if self.kind is Kind.BENT else "",
            "handover = true" if self.parts else "",
            f"machines = {msgspec.json.encode(self.machines[1:]).decode()}" if self.allowed else "",
            f"ladder = [{LADDER}]" if self.climbs else "",
        ]
        return "\n".join(line for line in lines if line).encode()


def violates(vm: Vm) -> bool:
    """Whether a VM is not what the policy wants, of its script's type or of one that its owner allows."""
    return not machine_of(vm.body).startswith(("g2-", "e2-"))


def new_job(number: int, said: Asked) -> PlaneJob:
    """A job that was not yet launched; the same number and kind give the same names in all histories."""
    kind = said.kind
    name = f"{kind.name.lower()}-{number}"
    count = said.nodes if kind in GANGS else 1
    nodes = tuple(f"{name}-{index}" for index in range(1, count + 1)) if kind in GANGS else (name,)
    zone = ZONES[said.zone % len(ZONES)]
    return PlaneJob(
        name=name,
        kind=kind,
        zone=zone,
        nodes=nodes,
        over=UNBORN,
        owner=OWNERS[number % 2] if said.owned else "",
        gpus=said.gpus,
        shy=said.shy,
        mute=said.mute,
        capped=said.capped,
        odd=said.odd,
        valid=said.valid,
        longest=said.longest,
        kept=said.kept,
        climbs=said.climbs,
        told=said.told,
    )


@cache
def _script(said: _Written) -> bytes:
    name = said.name
    team = f"team-{said.version}" if said.version else "vision"
    action = "STOP" if said.kind is Kind.KEPT or said.kept else "DELETE"
    gang = said.kind in GANGS
    what = f"bulk create --name-pattern={name}-# --count={said.nodes}" if gang else f"create {name}"
    place = "--region=us-central1" if said.kind is Kind.ROAM else f"--zone={said.zone}"
    cards = f" --accelerator=type=nvidia-l4,count={said.gpus}" if said.gpus else ""
    early = said.kind is Kind.EARLY or said.told
    track, notice = ("beta ", " --preemption-notice-duration=120s") if early else ("", "")
    kit = ",startup-script=spotwarden-node" if early else ""
    model = "--provisioning-model=SPOT"
    if said.kind is Kind.FLEX:
        waits = f"--request-valid-for-duration={said.valid}s --max-run-duration={said.longest}s"
        model = f"--provisioning-model=FLEX_START --maintenance-policy=TERMINATE {waits}"
    return (
        f"#!/bin/bash\ngcloud {track}compute instances {what} {place} \\\n"
        f"  --machine-type={ODD if said.odd else MACHINE}{cards}{notice} \\\n"
        f"  {model} --instance-termination-action={action} --metadata=team={team}{kit}\n"
    ).encode()


@cache
def _request(said: _Written) -> Request:
    stored = StoredScript(name=said.name, text=_script(said), generation=1)
    launch = launch_of(stored, PROJECT)
    if not isinstance(launch, Launch):
        raise TypeError(launch.reason)
    return launch.request
