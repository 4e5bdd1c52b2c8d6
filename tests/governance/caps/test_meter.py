"""The meter of `cap_runtime`: every second once, whatever happens to ticks, writes, lists and VMs."""

from datetime import timedelta

import msgspec
import pytest

from spotwarden.governance.caps import meter as usage
from spotwarden.layout import UsageRecord
from spotwarden.model.usage import UsageDay
from tests.fakes.trouble import conflict, unanswered
from tests.fakes.world import load
from tests.governance.caps.cap_world import ADA, CapWorld, between

DAY = 86_400


@pytest.fixture(scope="session")
def module():
    """functions/cap_runtime/main.py."""
    return load("cap_runtime")


@pytest.fixture
def world(module):
    """A project at midnight."""
    world = CapWorld(module)
    world.until(world.midnight())
    return world


def record(world):
    """Where today's usage is written."""
    return world.layout.build(UsageRecord(day=world.now.date()))


def test_a_vm_is_metered_by_the_day(world):
    """Whose, as what, how long."""
    vm = world.job()
    world.sweep_for(hours=2)
    used = world.day().vms[vm]
    assert (used.owner, used.job, used.kind.machine_type, used.kind.gpus) == (
        ADA,
        "train",
        "g2-standard-4",
        1,
    )
    assert world.seconds(vm) == 2 * 3600


def test_days_without_a_tick_lose_nothing(world):
    """Three days later all of them are full."""
    vm = world.job()
    start = world.now
    world.wait(days=3, hours=1)
    world.sweep()
    days = [start + timedelta(days=index) for index in range(4)]
    assert [world.seconds(vm, day) for day in days] == [DAY, DAY, DAY, 3600]


def test_midnight_loses_nothing_between_two_ticks(world):
    """The last minutes of a day are written the day after."""
    vm = world.job()
    yesterday = world.now
    world.wait(hours=23, minutes=58)
    world.sweep()
    assert world.seconds(vm) == DAY - 120
    world.wait(minutes=5)
    world.sweep()
    assert world.seconds(vm, yesterday) == DAY
    assert world.seconds(vm) == 180


def test_a_doubled_tick_changes_nothing(world):
    """Not even the record."""
    world.job()
    world.sweep_for(hours=1)
    before = world.cloud.store.read(record(world)).generation
    world.sweep()
    assert world.cloud.store.read(record(world)).generation == before


def test_a_vm_that_is_stopped_and_started_counts_what_it_ran(world):
    """Two hours, three down, one: three hours."""
    vm = world.job()
    world.sweep_for(hours=2)
    world.stop(vm)
    world.sweep_for(hours=3)
    world.start(vm)
    world.sweep_for(hours=1)
    assert world.seconds(vm) == 3 * 3600


def test_a_vm_that_is_gone_keeps_what_it_used(world):
    """Its owner has used it."""
    vm = world.job()
    world.sweep_for(hours=2)
    world.cloud.compute.vms.remove(vm)
    world.sweep_for(hours=2)
    assert world.seconds(vm) == 2 * 3600


def test_a_sweep_that_was_not_first_counts_on_top(world):
    """Between its reading and its writing another has written: it reads anew, and neither loses anything."""
    vm = world.job()
    world.sweep_for(minutes=5)
    late = UsageDay(day=world.now.date(), vms={**world.day().vms, "77": world.day().vms[vm]})
    real = world.cloud.store.write
    waiting = [True]

    def write(name, data, **said):
        if name == record(world) and waiting and waiting.pop():
            real(name, msgspec.json.encode(late), generation=None)
        return real(name, data, **said)

    world.cloud.store.write = write
    world.sweep_for(minutes=5)
    assert world.seconds("77") == 300
    assert world.seconds(vm) == 600


@pytest.mark.parametrize("trouble", [conflict(), unanswered(after_work=False), unanswered(after_work=True)])
def test_a_day_that_cannot_be_written_is_written_by_the_next_sweep(world, trouble):
    """Five conflicts in a row, or an answer that was lost: nothing is."""
    vm = world.job()
    world.cloud.store.trouble.order("write", trouble, about="/usage/", times=usage.TRIES)
    world.sweep_for(minutes=5)
    world.sweep_for(minutes=5)
    world.sweep_for(hours=1)
    assert world.seconds(vm) == 3600 + 600


def test_a_record_that_cannot_be_read_stops_nothing_and_is_kept(world, capsys):
    """It is said in the log; that day counts as nothing, and is not written over."""
    world.job()
    world.cloud.store.write(record(world), b"{", generation=None)
    world.sweep_for(minutes=5)
    assert world.cloud.store.read(record(world)).data == b"{"
    assert "so that day is not counted" in capsys.readouterr().out


def test_a_settled_day_is_neither_read_nor_written_again(world):
    """Of a whole month a warm function reads today."""
    world.job()
    world.wait(days=2, hours=2)
    world.sweep()
    past = world.now - timedelta(days=1)
    assert world.day(past).settled
    name = world.layout.build(UsageRecord(day=past.date()))
    world.cloud.store.trouble.order("read", unanswered(after_work=False), about=name, times=100)
    world.cloud.store.trouble.order("write", unanswered(after_work=False), about=name, times=100)
    world.sweep_for(hours=1)
    assert world.cloud.store.read(record(world)) is not None


def test_what_a_hidden_zone_hid_is_counted_when_it_shows_again(world):
    """A day is not settled by a list that lacks something."""
    vm = world.job()
    start = world.now
    world.sweep_for(hours=20)
    world.cloud.compute.hide("us-central1-a")
    world.sweep_for(hours=8, every=timedelta(hours=1))
    assert world.seconds(vm, start) == 20 * 3600
    world.cloud.compute.show("us-central1-a")
    world.sweep_for(minutes=5)
    assert world.seconds(vm, start) == DAY


def test_a_vm_that_starts_while_we_look_is_counted_by_the_next_look(world):
    """It is on no list yet, and loses nothing: it counts from its start."""
    world.job()
    made = []

    def launched():
        made.append(world.job("other"))

    world.wait(minutes=5)
    world.sweep(cloud=between(world.cloud.ports(), "train", launched))
    assert world.seconds(made[0]) == 0
    world.sweep_for(minutes=5)
    assert world.seconds(made[0]) == 300


def test_a_clock_that_is_off_counts_nothing(world):
    """Ten minutes are more than the policy allows: nothing is looked at."""
    vm = world.job()
    world.wait(minutes=5)
    world.skew = timedelta(minutes=10)
    with pytest.raises(Exception, match="clock"):
        world.sweep()
    assert world.seconds(vm) == 0
