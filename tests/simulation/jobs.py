"""The jobs of a history, and what the simulation knows of them that no sweep does."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache

import msgspec

from spotwarden.create_script.request.stored import launch_of
from spotwarden.model.launch import Launch, StoredScript
from spotwarden.model.request import Request
from tests.fakes.vms import Vm, asks_for_spot, node_in
from tests.fakes.wanted import Wanted, names_of
from tests.simulation.commands import Kind

ZONES = ("us-central1-a", "us-central1-b", "us-central1-c")
FAR = "us-east4-a"
"""Where VMs cost less, once ops allow it."""
PROJECT = "p"


MACHINES = ("g2-standard-4", "g2-standard-8", "a2-highgpu-1g")
"""The machine type of every script, and those that its owner may allow besides."""
SECOND = "-alt"
"""What a node's name ends with as that of a second VM in its zone."""
NAMESAKE = "namesake"
"""How the request of somebody else's VM begins that has the name of a job's."""
VALID_SECONDS = 300
"""How long a Flex-start VM waits for room before its request expires."""
GANGS = {Kind.GANG, Kind.ROAM, Kind.BENT}
TOLD = {Kind.EARLY, Kind.WIDE}
"""Kinds whose VMs are told before they are taken, and hand over."""
ANYWHERE = {Kind.ROAM, Kind.WIDE}
"""Kinds whose request leaves the zone to Compute Engine."""
ENDED = "it has ended"
STOPPED = "its owner has stopped it"
CRASHED = "it has shut itself down"
UNBORN = "none of its VMs has run yet"


class Job(msgspec.Struct, kw_only=True):
    """One job. `over` says how it ended, "" while it is open; `over_at` is its place in the order of things.

    It is `doubtful` once it has shut itself down while something befell it: it may go on or be closed.
    It is `smaller` once its owner has removed a node of it: then it goes on without, or is closed. One that
    was `removed_late` was removed while it was being taken, which the log told late: it may come back, too.
    `hurt` is true once something befell it that it must come back from. `launches` counts its developer's
    own launches. `stopped` are the ids that its owner stopped last. `doomed` are the ids of its VMs that were
    told of their end, `again` the place in the order of things at which its owner started some of them again,
    by id, `leaving` those that it may have a successor beside, to move to. `machines` are the
    types of the VMs that it may have. The nodes of a gang that bends may be `told` before they are taken. One
    that is `cornered` has these lines of its owner's, by which it goes nowhere else, or where `regional` to
    no other region, and is on-demand while there is no spot VM.
    """

    name: str
    kind: Kind
    zone: str
    nodes: tuple[str, ...]
    over: str = ""
    over_at: int = 0
    over_since: datetime | None = None
    hurt: bool = False
    doubtful: bool = False
    removed_late: str = ""
    smaller: str = ""
    stopped: tuple[str, ...] = ()
    launches: int = 0
    doomed: set[str] = msgspec.field(default_factory=set)
    again: dict[str, int] = msgspec.field(default_factory=dict)
    machines: tuple[str, ...] = MACHINES[:1]
    leaving: set[str] = msgspec.field(default_factory=set)
    told: bool = False
    cornered: str = ""
    regional: bool = False

    @property
    def parts(self) -> bool:
        """Whether it is a gang that bends whose nodes hand over before they are taken."""
        return self.told and self.kind is Kind.BENT

    @property
    def spot_zones(self) -> tuple[str, ...]:
        """Where it looks for spot VMs again."""
        return ZONES if self.regional else (self.zone,)

    @property
    def ended(self) -> bool:
        """Whether it has written its status code: for good."""
        return self.over == ENDED

    @property
    def script(self) -> bytes:
        """Its create script."""
        return script(self.name, self.kind, self.zone, len(self.nodes), told=self.parts)

    @property
    def request(self) -> Request:
        """What its developer's gcloud sends."""
        return request(self.name, self.kind, self.zone, len(self.nodes), told=self.parts)


HANDS_OVER = 'handover = true\nwork = "40h"\n'
"""What an owner writes into the job.toml of a job whose VMs hand over."""


def cornered(now: datetime, *, ladder: bool, regional: bool = False) -> str:
    """What an owner writes of a job that has one zone, or region; its deadline leaves it an hour in hand."""
    until = now + timedelta(hours=41)
    wish = '[{ model = "spot", up_to = "1m" }, { model = "standard" }]'
    places = '["us-central1"]' if regional else "[]"
    end = f"ladder = {wish}" if ladder else f"deadline = {until:%Y-%m-%dT%H:%M:%SZ}"
    return f"places = {places}\n{end}\n"


def is_back(job: Job, wanted: Wanted, there: Sequence[Vm]) -> bool:
    """Whether a spot VM is asked for beside its on-demand VM, all that lives of the job, or in its region."""
    zones = {*ZONES} if job.regional else {vm.seen.zone for vm in there}
    return asks_for_spot(wanted.body) and wanted.place in zones and [vm.is_spot for vm in there] == [False]


def nodes_in(wanted: Wanted) -> Sequence[str]:
    """The nodes whose VMs a request asks for, by their names or a second one; what is neither is no node."""
    node = node_in(wanted.body)
    return (node,) if node and [*wanted.names] == [f"{node}{SECOND}"] else names_of(wanted, ())


def job_of(nodes: Mapping[str, Job], vm: Vm) -> Job | None:
    """Whose VM it is: a namesake is nobody's."""
    return None if vm.launch.startswith(NAMESAKE) else nodes.get(vm.node)


def new_job(number: int, kind: Kind, zone: int, nodes: int, *, told: bool = False) -> Job:
    """A job that was not yet launched; the same number and kind give the same names in all histories."""
    name = f"{kind.name.lower()}-{number}"
    count = nodes if kind in GANGS else 1
    names = tuple(f"{name}-{index}" for index in range(1, count + 1)) if kind in GANGS else (name,)
    return Job(name=name, kind=kind, zone=ZONES[zone % len(ZONES)], nodes=names, told=told)


@cache
def script(name: str, kind: Kind, zone: str, count: int, *, told: bool = False) -> bytes:
    """The create script, as its developer wrote it."""
    action = "STOP" if kind is Kind.KEPT else "DELETE"
    what = f"bulk create --name-pattern={name}-# --count={count}" if kind in GANGS else f"create {name}"
    what = f"bulk create --predefined-names={name}" if kind is Kind.WIDE else what
    place = "--region=us-central1" if kind in ANYWHERE else f"--zone={zone}"
    track, notice = (
        ("beta ", " --preemption-notice-duration=120s") if kind is Kind.EARLY or told else ("", "")
    )
    # The job kit of those that hand over reads which node its VM is.
    kit = ",startup-script=spotwarden-node" if kind is Kind.EARLY else ""
    model = "--provisioning-model=SPOT"
    if kind is Kind.FLEX:
        waits = f"--request-valid-for-duration={VALID_SECONDS}s --max-run-duration=7d"
        model = f"--provisioning-model=FLEX_START --maintenance-policy=TERMINATE {waits}"
    return (
        f"#!/bin/bash\ngcloud {track}compute instances {what} {place} \\\n"
        f"  --machine-type={MACHINES[0]}{notice} \\\n"
        f"  {model} --instance-termination-action={action} --metadata=team=vision{kit}\n"
    ).encode()


@cache
def request(name: str, kind: Kind, zone: str, count: int, *, told: bool = False) -> Request:
    """The request of that script; that it is what gcloud sends is tested where scripts are read."""
    stored = StoredScript(name=name, text=script(name, kind, zone, count, told=told), generation=1)
    launch = launch_of(stored, PROJECT)
    if not isinstance(launch, Launch):
        raise TypeError(launch.reason)
    return launch.request


def stranger(name: str, zone: str) -> Request:
    """A VM that is nobody's job."""
    body = {"name": name, "machineType": f"zones/{zone}/machineTypes/e2-small"}
    path = f"/compute/v1/projects/{PROJECT}/zones/{zone}/instances"
    return Request(method="POST", path=path, query={}, body=body)
