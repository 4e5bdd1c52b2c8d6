"""A job that is stopped by a command stays stopped, whatever recovery is in the middle of."""

from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from spotwarden import clock
from spotwarden.cli.acting import stopping
from spotwarden.cli.acting.stopping import _ending, end_job
from spotwarden.engine.chain import newest_number
from spotwarden.engine.context import SweepContext
from spotwarden.engine.executor import Executor
from spotwarden.layout import CreateScript, InstanceId, MarkerName
from spotwarden.model.attempt import AttemptState
from spotwarden.model.governance import GovernanceLimits
from spotwarden.model.instance import Status
from spotwarden.model.notice import Way
from spotwarden.model.offer import Offer
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.notify.links.carrying import carry_out
from spotwarden.notify.links.considering import consider
from spotwarden.notify.links.offer_facts import look, look_at_all
from spotwarden.notify.links.reply import OfferStanding
from tests.fakes.fate import ZONES
from tests.fakes.trouble import conflict, rejected, unanswered
from tests.fakes.world import GANG, KEPT, SCRIPT
from tests.governance.reap.reap_world import Calls

OTHER = SCRIPT.replace(b"test-vm", b"other")
ENFORCE = Policy(version="command", mode=Mode.ENFORCE)

NEVER = datetime.max.replace(tzinfo=UTC)


class Owner:
    """Somebody at a shell, in front of a world in memory."""

    def __init__(self, world):
        self.world = world
        self.pauses = []
        self.policy = ENFORCE

    def stop(self, *, delete=False, why=""):
        """`spotwarden stop`, without its questions."""
        tick = Tick(function="cli_stop", sweep=f"stop-{len(self.pauses)}", now=self.world.cloud.clock.now())
        ports = self.world.cloud.ports()
        executor = Executor(ports, self.world.layout, ENFORCE, tick, write_line=lambda *_, **__: None)
        context = SweepContext(
            cloud=ports, settings=self.world.settings, policy=ENFORCE, tick=tick, executor=executor
        )
        offer = Offer(
            id=tick.sweep,
            way=Way.STOP,
            notice="",
            to="ada",
            job=self.world.job,
            at=tick.now,
            expires=tick.now,
        )
        ending = partial(_ending, policy=self.policy, delete=delete, why=why)
        workstation = SimpleNamespace(sweep=context, offer=offer)
        return end_job(workstation, look_at_all(context, offer), ending, self._pause)

    def told(self):
        """What the command says of what it would do, before it asks."""
        offer = Offer(id="s", way=Way.STOP, notice="", to="ada", job=self.world.job, at=NEVER, expires=NEVER)
        tick = Tick(function="cli_stop", sweep="stop", now=self.world.cloud.clock.now())
        ports, settings = self.world.cloud.ports(), self.world.settings
        context = SimpleNamespace(cloud=ports, settings=settings, policy=ENFORCE, tick=tick)
        return _ending(look_at_all(context, offer), policy=self.policy, delete=False, why="").notes

    def _pause(self, seconds):
        self.pauses.append(seconds)
        self.world.wait(seconds=seconds)


@pytest.fixture
def ada(new_world, monkeypatch):
    """An owner, whose clock is that of her world."""

    def build(script=SCRIPT):
        world = new_world("gang" if script is GANG else "test-vm", script)
        monkeypatch.setattr(clock, "now", world.cloud.clock.now)
        return Owner(world)

    return build


def running(world):
    """Names of the VMs that run."""
    return sorted(
        one.name
        for one in world.instances()
        if one.status in {Status.RUNNING, Status.STAGING, Status.PROVISIONING}
    )


@pytest.mark.parametrize("delete", [False, True])
@pytest.mark.parametrize("script", [SCRIPT, KEPT, GANG], ids=["one", "kept", "gang"])
def test_a_running_job_is_closed_and_its_vms_go(ada, script, delete):
    """All nodes of it; recovery brings nothing back, and adds nothing to the ledger."""
    owner = ada(script)
    owner.world.settle(2)
    carried = owner.stop(delete=delete, why="wrong data")
    assert carried.verdict.done.startswith(f"{owner.world.job} is closed as stopped; ")
    assert running(owner.world) == []
    owner.world.settle(6)
    [only] = owner.world.attempts()
    assert (only.state, only.reason) == (AttemptState.STOPPED, "stopped by ada: wrong data")
    assert running(owner.world) == []
    assert bool(owner.world.instances()) is not delete
    assert owner.pauses == [3.0]


@pytest.mark.parametrize("delete", [False, True])
def test_a_vm_that_waits_for_capacity_is_deleted(ada, delete):
    """Compute Engine refuses to stop it, and it would run later, for nobody."""
    scheduling = (
        b"FLEX_START --maintenance-policy=TERMINATE --request-valid-for-duration=2h --max-run-duration=7d"
    )
    owner = ada(SCRIPT.replace(b"SPOT", scheduling))
    compute = owner.world.cloud.compute
    owner.world.settle(2)
    for zone in ZONES:
        compute.stock_out(zone)
    owner.world.preempt()
    owner.world.wait(minutes=2)
    owner.world.settle(2)
    assert [vm.status for vm in owner.world.instances()] == [Status.PENDING]
    done = owner.stop(delete=delete).verdict.done
    assert "Compute Engine was asked to delete test-vm" in done
    assert "stop test-vm" not in done
    owner.world.settle(2)
    for zone in ZONES:
        compute.restock(zone)
    owner.world.settle(4)
    assert owner.world.instances() == ()
    assert owner.world.records()[-1].state is AttemptState.STOPPED


@pytest.mark.parametrize("before", [False, True], ids=["runs", "stopped by gcloud"])
@pytest.mark.parametrize("script", [KEPT, GANG], ids=["kept", "gang"])
def test_what_was_stopped_while_it_was_being_made_opens_the_job_when_it_is_started_again(ada, script, before):
    """No sweep had written down what ran: the stop names it, and a person's start of it is heard."""
    owner = ada(script)
    world = owner.world
    world.settle(2)
    zone = "us-central1-a"
    world.cloud.compute.stock_out(zone)
    for node in sorted(world.ids):
        world.preempt(node=node)
    world.wait(seconds=31)
    while not running(world):
        world.sweep()
        world.wait(seconds=40)
    made = {one.name: one.id for one in world.instances() if one.status is Status.RUNNING}
    assert world.records()[-1].state is AttemptState.PLACING
    for instance_id in made.values() if before else ():
        world.cloud.compute.owner_stops(instance_id)
    owner.stop()
    assert {name: world.records()[-1].replaces.get(name) for name in made} == made
    world.wait(seconds=31)
    for instance_id in made.values():
        world.cloud.compute.owner_starts(instance_id)
    world.wait(seconds=30)
    world.settle(4)
    assert [one.state for one in world.attempts()][-2:] == [AttemptState.STOPPED, AttemptState.RUNNING]
    assert world.attempts()[-1].instances == made
    registered = [world.layout.build(InstanceId(job=world.job, node=name)) for name in made]
    assert [world.cloud.store.read(name).data.decode() for name in registered] == list(made.values())


def test_a_job_that_was_never_seen_by_recovery_gets_a_record_that_says_it_is_over(ada):
    """Launched by hand a moment ago: without a record the next sweep would write one and watch over it."""
    owner = ada()
    owner.stop()
    owner.world.settle(6)
    [only] = owner.world.attempts()
    assert (only.number, only.state, only.instances) == (1, AttemptState.STOPPED, owner.world.ids)
    assert running(owner.world) == []


def test_a_job_in_recovery_is_stopped_though_it_has_no_vm(ada):
    """It waits for a place; none is asked for any more."""
    owner = ada()
    owner.world.settle(2)
    for zone in ZONES:
        owner.world.cloud.compute.stock_out(zone)
    owner.world.preempt()
    for _ in range(60):
        owner.world.wait(seconds=10)
        owner.world.sweep()
        if owner.world.attempts()[-1].state is AttemptState.BACKING_OFF:
            break
    owner.stop()
    assert [one.state for one in owner.world.attempts()] == [AttemptState.RUNNING, AttemptState.STOPPED]
    for zone in ZONES:
        owner.world.cloud.compute.restock(zone)
    owner.world.settle(20)
    assert len(owner.world.attempts()) == 2
    assert running(owner.world) == []


class Meanwhile(Calls):
    """A cloud in which the owner types the command just before recovery's call of this number."""

    def __init__(self, owner, number):
        super().__init__(owner.world.cloud.ports(), before=number, happen=owner.stop)


def calls_of_a_recovery(ada):
    """How many calls the sweep makes that brings a preempted job back."""
    owner = lost(ada)
    counted = Calls(owner.world.cloud.ports())
    owner.world.sweep_over(counted.cloud)
    return len(counted.made)


def lost(ada):
    """An owner whose job was preempted, and whose recovery is due."""
    owner = ada()
    owner.world.settle(2)
    owner.world.preempt()
    owner.world.wait(minutes=5)
    return owner


def test_a_stop_at_any_moment_of_a_recovery_wins(ada):
    """Before each of its calls in turn: in the end the job is closed, no attempt follows, and no VM runs."""
    for number in range(calls_of_a_recovery(ada)):
        owner = lost(ada)
        owner.world.sweep_over(Meanwhile(owner, number).cloud)
        left = running(owner.world)
        owner.world.settle(4)
        attempts = owner.world.attempts()
        assert attempts[-1].state is AttemptState.STOPPED, number
        assert len(attempts) <= 2, number
        # A request that was on its way when the ledger was closed makes a VM; the command waits for it, and
        # where it came later still, the same command is what stops it.
        if left or running(owner.world):
            owner.stop()
        assert running(owner.world) == [], number


def lost_in_part(ada):
    """An owner of a gang that has lost a node; the other one still runs, so its attempt looks alive."""
    owner = ada(GANG)
    owner.world.settle(2)
    owner.world.preempt(node=max(owner.world.ids))
    owner.world.wait(minutes=5)
    return owner


def test_a_stop_at_any_moment_of_a_gangs_recovery_wins(ada):
    """Also where the command has come to its end between a slow sweep's look and its claim."""
    owner = lost_in_part(ada)
    counted = Calls(owner.world.cloud.ports())
    owner.world.sweep_over(counted.cloud)
    for number in range(len(counted.made)):
        owner = lost_in_part(ada)
        owner.world.sweep_over(Meanwhile(owner, number).cloud)
        owner.world.settle(4)
        assert owner.world.attempts()[-1].state is AttemptState.STOPPED, number
        assert running(owner.world) == [], number


def started_again(ada, script):
    """An owner who has stopped a job and started its VM by hand; no sweep has seen that yet."""
    owner = ada(script)
    owner.world.settle(2)
    owner.stop()
    owner.world.wait(minutes=5)
    owner.world.cloud.compute.owner_starts(owner.world.ids["test-vm"])
    owner.world.wait(minutes=2)
    return owner


@pytest.mark.parametrize("script", [SCRIPT, KEPT], ids=["deleted", "kept"])
def test_a_stop_at_any_moment_of_a_sweep_that_opens_a_job_again_wins(ada, script):
    """The VM was just preempted: none is left to be stopped, no attempt is open, but one is on its way."""
    owner = started_again(ada, script)
    counted = Calls(owner.world.cloud.ports())
    owner.world.sweep_over(counted.cloud)
    for number in range(len(counted.made)):
        owner = started_again(ada, script)

        def preempted_and_stopped(owner=owner):
            owner.world.preempt()
            owner.world.wait(seconds=5)
            owner.stop()

        meanwhile = Calls(owner.world.cloud.ports(), before=number, happen=preempted_and_stopped)
        owner.world.sweep_over(meanwhile.cloud)
        owner.world.settle(8)
        assert owner.world.attempts()[-1].state is AttemptState.STOPPED, number
        assert running(owner.world) == [], number


@pytest.mark.parametrize("script", [KEPT, GANG], ids=["kept", "gang"])
def test_a_stop_stops_what_somebody_has_started_between_its_two_calls_of_a_look(ada, monkeypatch, script):
    """The log tells of the start, and the list that was read before it showed the VM at rest."""
    owner = ada(script)
    world = owner.world
    world.settle(2)
    for instance_id in world.ids.values():
        world.cloud.compute.owner_stops(instance_id)
    world.wait(seconds=31)
    listed, node, started = world.instances(), min(world.ids), []

    def look_at_two_moments(context, offer):
        seen = look_at_all(context, offer)
        if owner.pauses and not started:
            started.append(node)
            world.cloud.compute.owner_starts(world.ids[node])
            world.wait(seconds=31)
            seen = replace(look_at_all(context, offer), job=replace(seen.job, instances=listed))
        return seen

    monkeypatch.setattr(stopping, "look_at_all", look_at_two_moments)
    carried = owner.stop()
    assert running(world) == []
    assert f"Compute Engine was asked to stop {node}" in carried.verdict.done


def test_stopping_twice_is_stopping_once(ada):
    """The second finds it so, and says so."""
    owner = ada()
    owner.world.settle(2)
    owner.stop()
    owner.world.wait(minutes=5)
    again = owner.stop()
    assert again.verdict.standing is OfferStanding.SETTLED
    assert "There is nothing to stop" in again.verdict.done


def test_a_ledger_that_changes_meanwhile_is_read_anew(ada):
    """Somebody else was first; the VM goes all the same."""
    owner = ada()
    owner.world.settle(2)
    owner.world.cloud.store.trouble.order("write", conflict(), about="attempts/1", times=1)
    owner.stop()
    assert owner.world.attempts()[-1].state is AttemptState.STOPPED
    assert running(owner.world) == []


def test_an_answer_that_is_lost_is_said_to_be(ada):
    """Nothing is claimed that nobody knows; the command can be run again."""
    owner = ada()
    owner.world.settle(2)
    owner.world.cloud.compute.trouble.order("stop", unanswered(after_work=False), times=1)
    assert owner.stop().unsure
    owner.stop()
    assert running(owner.world) == []


def test_a_zone_that_falls_silent_under_a_stop_is_told(ada, monkeypatch):
    """The first look has seen the VM, its stop was lost, and the next look sees nothing that runs."""
    owner = ada()
    owner.world.settle(2)
    owner.world.cloud.compute.trouble.order("stop", conflict(), times=1)
    zone = owner.world.instances()[0].zone

    def look_without_it(*words):
        owner.world.cloud.compute.hide(zone)
        return look_at_all(*words)

    monkeypatch.setattr(stopping, "look_at_all", look_without_it)
    carried = owner.stop()
    owner.world.cloud.compute.show(zone)
    assert running(owner.world)
    assert zone in carried.hidden
    assert "a VM there may run" in carried.verdict.says


def test_a_refusal_says_what_was_done_and_what_was_not(ada):
    """The job is closed by then: nothing brings it back, and its VM runs."""
    owner = ada()
    owner.world.settle(2)
    owner.world.cloud.compute.trouble.order("stop", rejected("forbidden", "no right to"), times=1)
    verdict = owner.stop().verdict
    assert verdict.standing is OfferStanding.BARRED
    assert "no right to" in verdict.says
    assert owner.world.attempts()[-1].state is AttemptState.STOPPED


def with_local_ssds(owner):
    """The VM has one."""
    vm = owner.world.cloud.compute.vms.named("test-vm")
    vm.body = {**vm.body, "disks": [{"boot": True}, {"type": "SCRATCH"}]}
    owner.world.settle(2)


def test_a_job_with_local_ssds_is_stopped_and_told_what_is_lost(ada):
    """Before anybody is asked, and in the ledger's own order: closed, then stopped."""
    owner = ada()
    assert not [note for note in owner.told() if "SSD" in note]
    with_local_ssds(owner)
    assert "The data on their local SSDs is discarded." in owner.told()
    owner.stop()
    assert running(owner.world) == []
    assert owner.world.attempts()[-1].state is AttemptState.STOPPED


@pytest.mark.parametrize("delete", [False, True])
def test_a_job_whose_local_ssds_the_policy_keeps_can_only_be_deleted(ada, delete):
    """Nothing is closed where nothing can be stopped: its VM would be nobody's."""
    owner = ada()
    with_local_ssds(owner)
    owner.policy = replace(ENFORCE, governance=GovernanceLimits(discard_local_ssd=False))
    verdict = owner.stop(delete=delete).verdict
    assert (verdict.standing is OfferStanding.BARRED) is not delete
    assert (running(owner.world) == []) is delete
    assert owner.world.attempts()[-1].state is (AttemptState.STOPPED if delete else AttemptState.RUNNING)
    assert delete or "spotwarden stop test-vm --delete" in verdict.command


@pytest.fixture
def unseen(ada):
    """An owner who has launched a second job by hand; no sweep has seen that, and it registers nothing."""

    def build(script):
        owner = ada()
        owner.world.settle(2)
        owner.world.job = "gang" if script is GANG else "other"
        owner.world.store(CreateScript(job=owner.world.job), script)
        return owner, owner.world.launch_by_hand(script)

    return build


def comes_to_nothing(owner):
    """Whether the job is stopped, and nothing of it runs, a quarter of an hour later."""
    world = owner.world
    world.settle(16)
    assert world.names("preempted-jobs/") == []
    assert [one.state for one in world.attempts()] == [AttemptState.STOPPED]
    return running(world) == ["test-vm"]


@pytest.mark.parametrize("body", [None, b"", b'{"instance_id": "%s"}'], ids=["no marker", "empty", "with id"])
@pytest.mark.parametrize("script", [OTHER, GANG], ids=["one", "gang"])
def test_a_job_whose_vm_was_lost_before_any_sweep_saw_it_is_stopped_all_the_same(unseen, script, body):
    """None of its VMs is there, and it has no record: the preemption alone would bring it back."""
    owner, made = unseen(script)
    owner.world.wait(minutes=2)
    for node, instance_id in made.items():
        owner.world.cloud.compute.preempt(node)
        if body is not None:
            owner.world.store(MarkerName(node=node), body.replace(b"%s", instance_id.encode()))
    owner.world.wait(minutes=2)
    carried = owner.stop()
    assert "is closed as stopped" in carried.verdict.done
    assert comes_to_nothing(owner)


def test_a_job_that_is_launched_by_hand_after_the_stop_comes_back_when_it_is_preempted(unseen):
    """The launch is the newer word."""
    owner, _ = unseen(OTHER)
    world = owner.world
    world.cloud.compute.preempt("other")
    world.wait(minutes=2)
    owner.stop()
    world.wait(minutes=1)
    world.launch_by_hand(OTHER)
    world.wait(minutes=1)
    world.cloud.compute.preempt("other")
    world.settle(16)
    assert running(world) == ["other", "test-vm"]


def test_a_vm_that_was_hidden_when_its_job_was_stopped_does_not_open_it(unseen):
    """The command says that a VM may run there; no sweep takes that for a new launch."""
    owner, _ = unseen(OTHER)
    owner.world.wait(minutes=1)
    owner.world.cloud.compute.hide("us-central1-a")
    assert owner.stop().hidden
    owner.world.cloud.compute.show("us-central1-a")
    owner.world.settle(8)
    assert [one.state for one in owner.world.attempts()] == [AttemptState.STOPPED]
    assert owner.world.names("spotwarden/open/") == ["spotwarden/open/test-vm.json"]


def restart(owner):
    """`spotwarden restart`, by the same owner at another desk."""
    now = owner.world.cloud.clock.now()
    tick = Tick(function="cli_restart", sweep="restart", now=now)
    offer = Offer(id="r", way=Way.RESTART, notice="", to="ada", job=owner.world.job, at=now, expires=now)
    ports = owner.world.cloud.ports()
    context = SweepContext.open(ports, owner.world.settings, ENFORCE, tick)
    verdict = consider(look(context, offer), ENFORCE, now)
    assert carry_out(context.executor, verdict, lambda: verdict).done


@pytest.mark.parametrize("slept", [timedelta(0), timedelta(hours=1)], ids=["at once", "an hour later"])
@pytest.mark.parametrize("script", [SCRIPT, KEPT, GANG], ids=["one", "kept", "gang"])
def test_a_stop_that_sleeps_leaves_alone_what_its_owner_has_restarted_since(ada, monkeypatch, script, slept):
    """Whenever the laptop wakes up, it does not say that the job is stopped, for the newer word holds."""
    owner = ada(script)
    world = owner.world
    world.settle(2)

    def sleeps(seconds):
        if not owner.pauses:
            world.wait(minutes=5)
            restart(owner)
            world.wait(seconds=slept.total_seconds())
            world.settle(4)
        owner.pauses.append(seconds)

    monkeypatch.setattr(owner, "_pause", sleeps)
    carried = owner.stop()
    assert carried.verdict.title == f"{world.job} was restarted after this stop"
    world.settle(6)
    assert world.attempts()[-1].state is AttemptState.RUNNING
    assert running(world) == sorted(world.ids)


def test_a_stop_that_slept_before_it_wrote_anything_leaves_alone_what_was_restarted_since(ada, monkeypatch):
    """Its first write comes second, and it looks anew."""
    owner = ada()
    world = owner.world
    world.settle(2)
    late, run = partial(look_at_all), []

    def wakes(context, offer):
        seen = late(context, offer)
        if not run:
            run.append(1)
            owner.stop()
            world.wait(minutes=5)
            restart(owner)
            world.settle(4)
        return seen

    monkeypatch.setitem(globals(), "look_at_all", wakes)
    carried = owner.stop()
    assert carried.verdict.title == "test-vm was restarted after this stop"
    assert running(world) == ["test-vm"]


@pytest.fixture
def looked_before(ada, monkeypatch):
    """An owner whose `stop` looks at a closed job just before somebody restarts it."""

    def build(script, **slept):
        owner = ada(script)
        owner.world.settle(2)
        owner.stop()
        owner.world.wait(minutes=5)
        late, run = look_at_all, []

        def sleeps(context, offer):
            seen = late(context, offer)
            if not run:
                run.append(1)
                owner.world.wait(**slept)
                restart(owner)
            return seen

        monkeypatch.setitem(globals(), "look_at_all", sleeps)
        return owner

    return build


@pytest.mark.parametrize("script", [SCRIPT, KEPT, GANG], ids=["one", "kept", "gang"])
def test_a_stop_that_finds_nothing_to_stop_looks_whether_a_restart_came_meanwhile(looked_before, script):
    """One that was typed before the stop: nobody is told that the job is over while it starts."""
    owner = looked_before(script, seconds=0)
    carried = owner.stop()
    assert carried.verdict.done.startswith(f"{owner.world.job} is closed as stopped")
    owner.world.settle(6)
    assert owner.world.attempts()[-1].state is AttemptState.STOPPED
    assert running(owner.world) == []


@pytest.mark.parametrize("script", [KEPT, GANG], ids=["kept", "gang"])
def test_a_stop_that_slept_before_it_deleted_leaves_alone_what_was_restarted_since(looked_before, script):
    """The stopped VMs, too: the new attempt starts with them, and would end with them."""
    owner = looked_before(script, seconds=90)
    carried = owner.stop(delete=True)
    assert carried.verdict.title == f"{owner.world.job} was restarted after this stop"
    assert {vm.status for vm in owner.world.instances()} == {Status.TERMINATED}
    owner.world.settle(6)
    assert owner.world.attempts()[-1].state is AttemptState.RUNNING
    assert running(owner.world) == sorted(owner.world.ids)


@pytest.mark.parametrize("script", [SCRIPT, KEPT], ids=["one", "kept"])
def test_a_delete_that_was_held_up_after_its_last_look_ends_nothing_that_was_restarted_since(
    ada, monkeypatch, script
):
    """The request itself says which record the command had seen: the restart is the newer word."""
    owner, slept = ada(script), []
    world = owner.world
    world.settle(8)
    owner.stop()
    world.wait(minutes=5)

    def sleeps(*words):
        newest = newest_number(*words)
        if not slept:
            slept.append(1)
            world.wait(seconds=90)
            restart(owner)
            for _ in range(3):
                world.sweep()
                world.wait(seconds=8)
        return newest

    monkeypatch.setattr(stopping, "newest_number", sleeps)
    owner.stop(delete=True)
    world.settle(20)
    assert world.attempts()[-1].state is AttemptState.RUNNING
    assert running(world) == ["test-vm"]
