"""A back-test of the very policy that was in force gives what was really done."""

from datetime import timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spotwarden.governance.backtest.replay import Replay
from spotwarden.governance.caps import rule as capping
from spotwarden.governance.caps.facts import CapFacts
from spotwarden.governance.idle import rule as idleness
from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.reap import rules as reaping
from spotwarden.governance.recording import read
from spotwarden.governance.signals.facts import ReapFacts
from spotwarden.layout import Heartbeat
from spotwarden.model.finding import Reading
from spotwarden.model.governance import GovernanceLimits, Limits, Mode, Remedy
from spotwarden.model.rule_limits import EarlyStopLimits, IdleLimits, JobCap, StallLimits
from spotwarden.model.seen import RecordedSweep
from tests.fakes.world import load
from tests.governance.caps.cap_world import CapWorld
from tests.governance.idle.idle_world import BUSY, IdleWorld
from tests.governance.made_up import Facts, MadeUp, Said
from tests.governance.reap.reap_world import ReapWorld
from tests.governance.slices import slice_world
from tests.long import examples

TICK = timedelta(minutes=10)


def replayed(world, judge, facts):
    """All that this world has recorded, replayed under its own policy."""
    played = Replay(world.name, judge, world.policy)
    for seen in read(world.cloud.store, world.layout, world.name, world.now - timedelta(days=30), facts):
        assert isinstance(seen, RecordedSweep)
        played.look(seen)
    return played.result()


def would_have_done(replay):
    """The remedies of a replay: when, and to which VM."""
    return sorted((remedy.at, remedy.target.id) for remedy in replay.remedies)


def was_done(world):
    """The remedies that Compute Engine was really asked for."""
    log = world.cloud.compute.vms.log.values()
    return sorted((one.at, one.target_id) for one in log if one.kind in {"stop", "delete"})


def was_told(world, kind):
    """When each such notice was given, and about whom: a VM, or the job whose nodes they all are."""
    return sorted(
        (notice.at, notice.job if ", " in notice.evidence["instances"] else notice.evidence["instances"])
        for notice in world.notices()
        if notice.kind == kind
    )


@pytest.fixture(scope="module")
def module():
    """functions/flag_idle_gpus/main.py."""
    return load("flag_idle_gpus")


HABITS = st.lists(st.sampled_from([(0.0,), (0.0,), (0.0,), (BUSY,), ()]), min_size=1, max_size=30)


@settings(max_examples=examples(50), deadline=None)
@given(
    habits=st.lists(HABITS, min_size=1, max_size=4),
    most=st.sampled_from([1, 2, 10]),
    remedy=st.sampled_from([Remedy.STOP, Remedy.NONE]),
    gang=st.booleans(),
)
@example(habits=[[(0.0,)] * 6, [(BUSY,)] * 6], most=1, remedy=Remedy.STOP, gang=False)
@example(habits=[[(0.0,)] * 6, [(0.0,)] * 6], most=2, remedy=Remedy.STOP, gang=True)
def test_a_replay_of_the_same_policy_does_what_was_done(module, habits, most, remedy, gang):
    """Whatever the GPUs did: the same VMs, at the same ticks, after the same warnings."""
    world = IdleWorld(
        module,
        idle=IdleLimits(remedy=remedy),
        governance=GovernanceLimits(blast_count=most, blast_share=1, ops="ops@x.org"),
    )
    vms = [
        world.vm(*habit[0], name=f"vm-{number}", job="train" if gang else f"job-{number}", gpus=1)
        for number, habit in enumerate(habits)
    ]
    for tick in range(3 * max(len(habit) for habit in habits)):
        for vm, habit in zip(vms, habits, strict=True):
            if tick % 3 == 0 and tick // 3 < len(habit):
                world.gauges.work(vm, *habit[tick // 3])
        world.ticks(minutes=10)
    replay = replayed(world, idleness.judge, IdleFacts)
    assert would_have_done(replay) == was_done(world)
    assert sorted((told.at, told.key) for told in replay.told) == was_told(world, "idle_warning")


SAYINGS = st.builds(
    Said,
    reading=st.sampled_from([Reading.BAD, Reading.BAD, Reading.BAD, Reading.UNKNOWN]),
    level=st.sampled_from([1, 1, 2]),
    ripe=st.booleans(),
    exempt=st.sampled_from(["", "", "", "kept"]),
)
EVENTS = st.tuples(st.integers(0, 3), st.none() | SAYINGS)


@settings(max_examples=examples(100), deadline=None)
@given(
    history=st.lists(st.lists(EVENTS, max_size=3), min_size=1, max_size=25),
    limits=st.builds(
        Limits,
        remedy=st.just(Remedy.STOP),
        grace=st.sampled_from([timedelta(0), TICK, 3 * TICK]),
        looks=st.sampled_from([1, 2]),
        mode=st.sampled_from([Mode.ENFORCE, Mode.ENFORCE, Mode.OBSERVE]),
    ),
    most=st.sampled_from([1, 10]),
)
def test_so_it_does_whatever_a_rule_finds(history, limits, most):
    """Findings that come, go, become unknown or exempt, and too many of them at once."""
    world = MadeUp(limits, governance=GovernanceLimits(blast_count=most, blast_share=1, ops="ops@x.org"))
    vms = [world.vm(f"vm-{number}", None) for number in range(4)]
    for events in history:
        for number, said in events:
            world.said.pop(vms[number], None)
            if said is not None:
                world.said[vms[number]] = said
        world.wait(minutes=10)
        world.sweep()
    replay = replayed(world, world._judge, Facts)
    assert would_have_done(replay) == was_done(world)
    assert sorted((told.at, told.key) for told in replay.told) == was_told(world, "idle_warning")
    assert bool(replay.stopped) == ("blast_radius" in world.kinds())


def test_so_it_does_with_orphans_and_stalls():
    """A job that ended and left its VM, one that hangs until it is closed, one that works."""
    world = ReapWorld(load("reap_vms"), stall=StallLimits(remedy=Remedy.STOP, after=timedelta(hours=1)))
    for job in ("done", "hung", "works"):
        world.job(job)
        world.beat(job, job)
    for minutes in range(0, 240, 10):
        world.beat("works", "works")
        if minutes == 20:
            world.end("done")
        if minutes == 170:
            world.end("hung", "1")
        world.sweep_for(minutes=10)
    done = was_done(world)
    assert len(done) == 3
    replay = replayed(world, reaping.judge, ReapFacts)
    assert would_have_done(replay) == done
    assert {(remedy.rule, remedy.remedy) for remedy in replay.remedies} == {
        ("orphan", Remedy.DELETE),
        ("stall", Remedy.STOP),
    }


def test_so_it_does_with_early_stops():
    """A loss that is no number; one that was none for a moment; one over a bound of another policy."""
    world = ReapWorld(load("reap_vms"), early_stop=EarlyStopLimits(unreal=True, over={"loss": 10.0}))
    vms = {job: world.job(job)[job] for job in ("nan", "spike", "high")}
    for minutes in range(0, 60, 5):
        for job, loss in (("nan", "NaN"), ("spike", "Infinity" if minutes == 20 else "0.5"), ("high", "7.5")):
            body = f'{{"attempt": 1, "instance_id": "{vms[job]}", "metrics": {{"loss": {loss}}}}}'
            world.store(Heartbeat(job=job, node=job), body.encode())
        world.sweep_for(minutes=5)
    done = was_done(world)
    assert [target for _, target in done] == [vms["nan"]]
    assert would_have_done(replayed(world, reaping.judge, ReapFacts)) == done
    world.set_policy(early_stop=EarlyStopLimits(over={"loss": 5.0}))
    other = replayed(world, reaping.judge, ReapFacts)
    assert {remedy.target.id for remedy in other.remedies if remedy.rule == "early_stop"} == {vms["high"]}


def test_so_it_does_with_caps():
    """A job over its limit, one that comes near it, and one without any."""
    world = CapWorld(load("cap_runtime"), job_cap=JobCap(remedy=Remedy.STOP))
    over = world.job("over", file='max_runtime = "3h"\n')
    world.job("near", file='max_runtime = "7h"\n')
    world.job("free")
    world.sweep_for(hours=6, every=TICK)
    done = was_done(world)
    assert [target for _, target in done] == [over]
    replay = replayed(world, capping.judge, CapFacts)
    assert would_have_done(replay) == done
    assert {told.key for told in replay.told} == {"over", "near"}


def test_so_it_does_with_slices():
    """All VMs of one go at the tick at which its group was deleted, and the other one works."""
    limits = GovernanceLimits(blast_count=99, blast_share=1, ops="ops@x.org")
    world = IdleWorld(load("flag_idle_gpus"), idle=IdleLimits(remedy=Remedy.STOP), governance=limits)
    idle, busy = (slice_world.launch(world, job) for job in ("idle", "busy"))
    for instance_id in (*idle.vms, *busy.vms):
        world.gauges.chips.add(instance_id)
        world.gauges.work(instance_id, *((BUSY if instance_id in busy.vms else 0.0,) * 4))
    world.ticks(hours=4)
    [(group, group_id)] = slice_world.deleted_groups(world)
    assert (group, group_id) == (idle.group.name, idle.group.id)
    replay = replayed(world, idleness.judge, IdleFacts)
    at = next(at for at, target in was_done(world) if target == group_id)
    assert would_have_done(replay) == sorted((at, vm) for vm in idle.vms)
