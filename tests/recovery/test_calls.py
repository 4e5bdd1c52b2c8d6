"""What a storm asks of the bucket: nothing twice, and nothing that a listing has said."""

from collections import Counter
from datetime import timedelta

import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.turn import take_turn
from spotwarden.model.tick import Tick
from spotwarden.recovery.folder.open_jobs import read_watches
from spotwarden.recovery.look.gather import gather
from spotwarden.recovery.look.storms import CROWD
from spotwarden.recovery.sweep import FIRST_BATCH
from tests.fakes.trouble import unanswered
from tests.recovery.crowd_world import Crowded, Slow

JOBS = 30


@pytest.fixture
def asked(world):
    """Preempt many jobs, sweep until all run; gives the calls by what they are about, and the sweeps."""
    crowd = Crowded(world)
    names = crowd.jobs(JOBS)
    crowd.preempt(*names)
    world.wait(minutes=1)
    slow = Slow(world.cloud.ports())
    sweeps = 0
    while sweeps == 0 or world.names("preempted-jobs/"):
        world.sweep_over(slow.cloud)
        world.wait(minutes=1)
        sweeps += 1
    assert len(world.instances()) == JOBS + 1
    return Counter((call, kind_of(str(what))) for call, what, _ in slow.made)


def kind_of(name):
    """What kind of object a name is of, for the kinds that are counted here."""
    kinds = ("status-code", "create-instance.sh", "instance-id", "spotwarden/open/", "metadata/attempts/")
    return next((kind for kind in kinds if kind in name), "")


def test_the_list_of_open_jobs_is_read_no_second_time(asked):
    """A job's entry is the one that the list has given."""
    assert asked["read", "spotwarden/open/"] == 0


def test_a_list_of_very_many_open_jobs_is_read_no_second_time(world, monkeypatch):
    """Nobody but us writes there, so each row of the list shows its text."""
    monkeypatch.setattr("tests.fakes.store.DESCRIBED_AT_MOST", 1)
    Crowded(world).jobs(3)
    GenerationCache.forget()
    slow = Slow(world.cloud.ports())
    assert len(read_watches(slow.cloud.store, world.layout, workers=1).watched) == len(
        ["a", "b", "c", "test-vm"]
    )
    assert [call for call, _, _ in slow.made] == ["each_entry"]


def test_a_job_without_a_status_is_not_asked_for_one(asked):
    """The listing of its folder says that there is none."""
    assert asked["read", "status-code"] == 0


def test_what_this_process_has_read_or_written_is_not_read(asked):
    """Scripts, ids, and records of attempts."""
    for kind in ("create-instance.sh", "instance-id", "metadata/attempts/"):
        assert asked["read", kind] == 0


def test_a_record_is_written_three_times_from_the_claim_to_the_end(asked):
    """With the first try, with the operation, with the ids."""
    assert asked["write", "metadata/attempts/"] == 3 * JOBS


def test_the_markers_of_many_jobs_go_in_one_call(asked):
    """Cloud Storage takes a hundred deletes in one; none goes alone."""
    assert (asked["delete_all", ""], asked["delete", ""]) == (1, 0)


def test_of_markers_that_go_together_one_that_is_not_answered_holds_up_its_own_job(world):
    """It is cleared by the next sweep, and nothing is launched for it."""
    crowd = Crowded(world)
    names = crowd.jobs(4)
    crowd.preempt(*names)
    world.wait(minutes=1)
    world.sweep()
    world.wait(minutes=1)
    world.cloud.store.trouble.order("delete_all", unanswered(after_work=False), about="job-2$")
    waiting = world.sweep().waiting
    assert [reason.partition(": no answer")[0] for reason in waiting] == ["job-2"]
    assert world.names("preempted-jobs/") == ["preempted-jobs/job-2"]
    world.sweep()
    assert world.names("preempted-jobs/") == []
    assert len(world.instances()) == len(names) + 1


def test_nobody_waits_for_a_second_write_of_a_record_while_others_are_to_be_asked_for(world):
    """An object takes one write a second: what was accepted is written down behind the next requests."""
    crowd = Crowded(world)
    crowd.preempt(*crowd.jobs(FIRST_BATCH + 8))
    world.wait(minutes=1)
    slow = Slow(world.cloud.ports())
    world.sweep_over(slow.cloud)
    calls = [(call, str(what)) for call, what, _ in slow.made]
    records = [name for call, name in calls if call == "write" and "metadata/attempts/" in name]
    again = next(index for index, name in enumerate(records) if name in records[:index])
    assert again == FIRST_BATCH + 8
    asked = [index for index, (call, _) in enumerate(calls) if call == "launch"]
    second = [index for index, call in enumerate(calls) if call == ("write", records[again])][1]
    assert len([index for index in asked if index < second]) == FIRST_BATCH + 8


def test_what_was_accepted_is_written_down_in_the_same_sweep(world):
    """A sweep that dies before that costs a lease, no more."""
    crowd = Crowded(world)
    crowd.preempt(*crowd.jobs(FIRST_BATCH + 8))
    world.wait(minutes=1)
    world.sweep()
    names = [entry.name for entry in world.cloud.store.entries("job-", glob="job-*/metadata/attempts/2.json")]
    records = [world.read(name) for name in names]
    assert len(records) == FIRST_BATCH + 8
    assert all(record["tries"][-1]["operation"] and not record.get("lease") for record in records)


@pytest.fixture
def beset(world):
    """A storm, and a sweep over everything that has the turn."""
    crowd = Crowded(world)
    crowd.preempt(*crowd.jobs(CROWD + 1))
    tick = Tick(function="recover_spot", sweep="another", now=world.cloud.clock.now())
    assert take_turn(world.cloud.store, world.layout, tick)
    return world


def calls_of(world, about):
    """How many calls one sweep makes."""
    slow = Slow(world.cloud.ports())
    world.sweep_over(slow.cloud, about)
    return len(slow.made)


def test_of_the_events_of_a_storm_the_first_finds_out_and_the_next_ask_nothing(beset):
    """Each job has one of its marker and one of the log: a thousand jobs would ask thousands of times."""
    assert calls_of(beset, "job-1") > 0
    assert calls_of(beset, "job-2") == 0
    assert calls_of(beset, "") > 0


@pytest.mark.parametrize(("seconds", "asks"), [(14, False), (15, True)])
def test_a_storm_is_known_for_seconds(beset, seconds, asks):
    """To the second; then an event looks again."""
    calls_of(beset, "job-1")
    beset.wait(seconds=seconds)
    assert (calls_of(beset, "job-2") > 0) is asks


def test_an_event_reads_nothing_ahead_where_one_has_just_found_many_markers(beset):
    """It would be in vain for as long as the storm lasts: the jobs that are shared out wait behind it."""
    calls_of(beset, "job-1")
    beset.wait(seconds=15)
    slow = Slow(beset.cloud.ports())
    beset.sweep_over(slow.cloud, "job-2")
    assert {call for call, what, _ in slow.made if "job-2" in str(what) or "heartbeats" in str(what)} == set()


def test_a_minute_later_an_event_reads_ahead_again(beset):
    """The storm is over as a rule."""
    calls_of(beset, "job-1")
    beset.wait(minutes=1)
    slow = Slow(beset.cloud.ports())
    beset.sweep_over(slow.cloud, "job-2")
    assert "job-2/metadata/" in {str(what) for _, what, _ in slow.made}


def test_a_clock_that_is_behind_knows_of_no_storm(beset):
    """It would know of it for as long as it is behind."""
    calls_of(beset, "job-1")
    slow, behind = Slow(beset.cloud.ports()), beset.cloud.clock.now() - timedelta(seconds=1)
    tick = Tick(function="recover_spot", sweep="behind", now=behind, about="job-2")
    assert gather(slow.cloud, beset.layout, tick).busy
    assert slow.made


def test_an_event_that_finds_no_storm_silences_nobody(beset):
    """Of few markers each is answered by itself, whoever has the turn."""
    for entry in beset.cloud.store.entries("preempted-jobs/")[CROWD - 1 :]:
        beset.cloud.store.delete(entry.name, generation=entry.generation)
    beset.wait(minutes=1)
    for job in ("job-1", "job-2"):
        beset.sweep(about=job)
        assert beset.read(f"{job}/metadata/attempts/2.json")["tries"]


def test_from_a_marker_to_the_request_few_calls_wait_for_one_another(world):
    """What most jobs need is read while the markers are listed, and no list is asked for twice."""
    crowd = Crowded(world)
    world.settle()
    crowd.preempt("test-vm")
    world.wait(minutes=2)
    slow = Slow(world.cloud.ports())
    world.sweep_over(slow.cloud, "test-vm")
    before = slow.made[: [call for call, _, _ in slow.made].index("launch") + 1]
    assert len(before) == 12
    asked = [(call, str(what)) for call, what, _ in before[:10]]
    # Of what is remembered of places only the generation is asked for: this function has written it itself.
    assert Counter(call for call, _ in asked) == {
        "entries": 3, "entry": 3, "each_entry": 1, "operations": 1, "instances": 1, "read": 1,
    }  # fmt: skip
    assert [what for call, what in asked if call == "read"] == ["preempted-jobs/test-vm"]
    assert [call for call, _, _ in before[10:]] == ["write", "launch"]


@pytest.mark.parametrize("call", ["entry", "entries", "each_entry"])
def test_what_is_read_ahead_in_vain_is_read_in_its_turn(world, call):
    """A job that is looked at by its event comes back all the same."""
    crowd = Crowded(world)
    world.settle()
    crowd.preempt("test-vm")
    world.wait(minutes=2)
    about = {"entry": "spotwarden/open/", "entries": "^test-vm/metadata/", "each_entry": "heartbeats/"}[call]
    world.cloud.store.trouble.order(call, unanswered(after_work=False), about=about)
    world.sweep(about="test-vm")
    assert world.attempts()[-1].number == 2
