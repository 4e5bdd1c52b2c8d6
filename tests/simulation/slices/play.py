"""Plays a history of one slice, and says what was wrong with it."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from types import ModuleType

import pytest
from msgspec.structs import replace

from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.ports import Cloud, UnansweredError
from spotwarden.recovery.observed.fates import alive
from tests.fakes.fate import NOBODY
from tests.fakes.groups import MemoryGroup
from tests.recovery.interrupting import Door, Interruption, KilledError, killed, offline
from tests.recovery.slice_world import NODES, SliceWorld
from tests.simulation.slices.blows import Blow, draw

PEACE_MINUTES = 100
"""How long sweeps run after the last blow: half an hour of it is for a slice that lacks a VM."""
ZONE = "us-central1-a"
CAPS = "spotwarden-cap-runtime@p.iam.gserviceaccount.com"
"""As whom the function acts that holds jobs to their limits."""
HOST_ERROR = "compute.instances.hostError"


class Wrong(AssertionError):  # noqa: N818 - it is what a history is found to be
    """What must not be, and after which blow."""


class SliceHistory:
    """One slice and what befalls it.

    `ended` is how a person has ended it; where that is `doubtful`, it may go on as well.
    """

    def __init__(self, recover: ModuleType, patch: pytest.MonkeyPatch, model: str) -> None:
        self.world = SliceWorld(recover, patch, model="SPOT" if model == "STOP" else model)
        if model == "STOP":
            self._stop_instead()
        self.compute = self.world.cloud.compute
        self.ended = ""
        self.doubtful = False
        self._unhurt: set[str] = set()
        self._hurt: set[str] = set()
        self._nested = False

    def _stop_instead(self) -> None:
        """A preemption stops its VMs, and leaves them there."""
        parts = self.world.launch.slice
        assert parts is not None
        body = parts.template.body
        scheduling = {**body["properties"]["scheduling"], "instanceTerminationAction": "STOP"}
        properties = {**body["properties"], "scheduling": scheduling}
        template = replace(parts.template, body={**body, "properties": properties})
        self.world.launch = replace(self.world.launch, slice=replace(parts, template=template))

    def do(self, blow: Blow) -> None:
        """One blow, and what must hold after it."""
        name, *told = blow
        getattr(self, f"_{name}")(*told)
        self._check(name)

    def _check(self, after: str) -> None:
        groups = {
            group.name
            for group in self.compute.groups.values()
            if any(self._lives(member.vm_id) for member in group.members.values())
        }
        if len(groups) > 1:
            raise Wrong(f"two slices live after {after}: {sorted(groups)}")
        for name in self._unhurt - {group.name for group in self.compute.groups.values() if not group.ending}:
            raise Wrong(f"{name} was whole, nothing had befallen it, and it is gone after {after}")
        if self.world.newest.state is AttemptState.RUNNING and self.world.runs():
            self._unhurt = {self.world.group.name} if self.world.group.name not in self._hurt else set()

    def _lives(self, vm_id: str) -> bool:
        vm = self.compute.vms.living.get(vm_id)
        return vm is not None and alive(vm.seen)

    def _groups(self) -> list[MemoryGroup]:
        self.compute.vms.catch_up()
        return [group for group in self.compute.groups.values() if not group.ending]

    def _strike(self, number: int) -> tuple[MemoryGroup, str] | None:
        """A VM that lives, and its group, which is hurt from now on."""
        for group in self._groups():
            member = group.members.get(NODES[number])
            if member and self._lives(member.vm_id):
                self._wound(group)
                return group, member.vm_id
        return None

    def _wound(self, group: MemoryGroup) -> None:
        self._hurt.add(group.name)
        self._unhurt.discard(group.name)

    def _preempt(self, number: int) -> None:
        if found := self._strike(number):
            self.compute.preempt(found[1])

    def _host(self, number: int) -> None:
        found = self._strike(number)
        if found is None:
            return
        if self.world.launch.spot:
            self.compute.fail_host(found[1])
            return
        # Compute Engine restarts it by itself, a while later.
        vm = self.compute.vms.named(found[1])
        operation = self.compute.vms.begin(HOST_ERROR, vm.seen, "system")
        self.compute.vms.take_down(vm, operation, timedelta(seconds=5), remove=False)
        self.compute.vms.later(timedelta(minutes=4), partial(self._restarted, found[1]))

    def _restarted(self, vm_id: str) -> None:
        vm = self.compute.vms.living.get(vm_id)
        if vm is not None and vm.seen.status is Status.TERMINATED:
            again = self.compute.vms.begin("compute.instances.automaticRestart", vm.seen, "system")
            self.compute.vms.become(vm_id, Status.RUNNING)
            self.compute.vms.end(again)

    def _delete_vm(self, number: int) -> None:
        before = {group.name for group in self._groups()} & self._hurt
        found = self._strike(number)
        if found is None:
            return
        self.compute.owner_deletes(found[1])
        self._person(f"deleted {NODES[number]}", doubtful=found[0].name in before)

    def _delete_group(self) -> None:
        for group in self._groups():
            doubtful = group.name in self._hurt
            self._wound(group)
            self.compute.owner_deletes_group(group.name, user=NOBODY)
            self._person("deleted its group", doubtful=doubtful)

    def _rule(self) -> None:
        """A function of ours deletes it at a limit, as its owner was warned."""
        for group in self._groups():
            doubtful = group.name in self._hurt
            self._wound(group)
            self.compute.owner_deletes_group(group.name, user=CAPS)
            self._person("lost its group to a rule", doubtful=doubtful)

    def _person(self, what: str, *, doubtful: bool) -> None:
        """A person's word: it may be too late for a slice that was hurt before, or whose try was refused."""
        newest = self.world.newest
        last = newest.tries[-1] if newest.tries else None
        self.ended = self.ended or what
        busy = newest.closed or last is None or bool(last.error) or last.group is None
        self.doubtful = self.doubtful or doubtful or busy or self._nested

    def _delete_policy(self) -> None:
        if not self.compute.groups:
            self.compute.policies.clear()

    def _delete_template(self) -> None:
        used = {group.name for group in self.compute.groups.values()}
        self.compute.templates = {name: one for name, one in self.compute.templates.items() if name in used}

    def _forget(self) -> None:
        self.compute.forget_operations(requests=True)

    def _lag(self, seconds: int) -> None:
        self.compute.let_the_log_lag(timedelta(seconds=seconds))

    def _stock_out(self, left: int) -> None:
        self.compute.stock_out(ZONE, left=left)

    def _restock(self) -> None:
        self.compute.restock(ZONE)

    def _pass(self, seconds: int) -> None:
        self.world.wait(seconds=seconds)
        self.compute.vms.catch_up()

    def _settle(self) -> None:
        self.world.settle(4)

    def _sweep(self, at: int, after_work: bool, what: str, blow: Blow) -> None:
        named: dict[str, Callable[[], object]] = {
            "kill": killed,
            "offline": offline,
            "sweep": self.world.sweep,
        }
        happen = named.get(what)
        if happen is None and blow:
            happen = partial(self._meanwhile, blow)
        if at == 0 or happen is None:
            self._go(self.world.cloud.ports())
            return
        interruption = Interruption(at, happen, after_work=after_work)
        ports = self.world.cloud.ports()
        self._go(
            replace(ports, store=Door(ports.store, interruption), compute=Door(ports.compute, interruption))
        )

    def _meanwhile(self, blow: Blow) -> None:
        self._nested = True
        try:
            name, *told = blow
            getattr(self, f"_{name}")(*told)
        finally:
            self._nested = False

    def _go(self, ports: Cloud) -> None:
        with contextlib.suppress(KilledError, UnansweredError):
            self.world.sweep_over(ports)

    def end(self) -> None:
        """Peace, and what must hold then."""
        self._lag(0)
        self._restock()
        for _ in range(PEACE_MINUTES):
            self.do(("sweep", 0, False, "", ()))
            self._pass(60)
        for wrong in self._wrong():
            raise Wrong(wrong)

    def _wrong(self) -> Iterator[str]:
        newest, closed = self.world.newest, self.world.newest.closed
        if not closed and not self.world.runs():
            yield f"it is {newest.state.value} and does not run: {newest.tries[-1:]}"
        if closed and not self.ended:
            yield f"it is closed, and nobody has ended it: {newest.reason}"
        if self.ended and not closed and not self.doubtful:
            yield f"it was ended ({self.ended}), and it goes on"
        there = self.compute.vms.living.keys()
        with_vms = [group for group in self.compute.groups.values() if there & {*_ids(group)}]
        empty = {group.name for group in self.compute.groups.values() if group not in with_vms}
        if closed and empty:
            yield f"a group without VMs is left: {sorted(empty)}"
        names = {group.name for group in self.compute.groups.values()}
        if set(self.compute.templates) != names:
            yield f"templates {sorted(self.compute.templates)} are left, and groups {sorted(names)}"
        if self.ended and closed and "stopped" not in self.world.notices():
            yield f"nobody was told: {self.world.notices()}"


def _ids(group: MemoryGroup) -> list[str]:
    return [member.vm_id for member in group.members.values()]


def play(recover: ModuleType, model: str, blows: Sequence[Blow]) -> str:
    """What was wrong with this history; "" for nothing."""
    with pytest.MonkeyPatch.context() as patch:
        history = SliceHistory(recover, patch, model)
        try:
            for blow in blows:
                history.do(blow)
            history.end()
        except Wrong as wrong:
            return str(wrong)
        return ""


def play_seed(recover: ModuleType, seed: str) -> str:
    """The same for the history of this seed."""
    return play(recover, *draw(seed))
