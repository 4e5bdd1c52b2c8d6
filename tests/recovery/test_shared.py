"""More jobs at once than one sweep takes: it asks further instances of its function to look at them."""

from collections import Counter
from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.engine.trigger import open_tick
from spotwarden.layout import Layout, MarkerName, SweepTurn
from spotwarden.model.attempt import AttemptState
from spotwarden.recovery.look.sharing import AGAIN, LOOKED_FOR, SHARED_FOR
from spotwarden.recovery.look.storms import CROWD
from tests.fakes.trouble import rejected, unanswered
from tests.recovery.crowd_world import Crowded, Slow
from tests.recovery.deliveries import Deliveries, pushed

JOBS = CROWD + 2
"""So many that an event looks at everything."""
FROM = 6


@pytest.fixture
def crowd(world):
    """Jobs that run and were seen; a sweep takes half as many itself."""
    crowd = Crowded(world)
    crowd.names = crowd.jobs(JOBS)
    world.settings = replace(world.settings, share_from=FROM, workers=1)
    return crowd


@pytest.fixture
def struck(crowd):
    """All are preempted and gone; gives what is delivered."""
    crowd.preempt(*crowd.names)
    crowd.world.wait(minutes=1)
    return Deliveries(crowd.world)


def ran_again(world):
    """The jobs that have a second attempt with a VM, or with a request for one."""
    names = [entry.name for entry in world.cloud.store.entries("job-", glob="job-*/metadata/attempts/2.json")]
    return {name.split("/")[0] for name in names if world.read(name)["tries"]}


def kind_of(name):
    """What kind of object a name is of, for the kinds that are counted here."""
    kinds = ("create-instance.sh", "instance-id", "attempts/", "preempted-jobs/", "heartbeats/", "metadata/")
    return next((kind for kind in kinds if kind in name), "")


def turn_of(world):
    """The turn as it stands in the bucket."""
    return world.read(world.layout.build(SweepTurn(function="recover_spot")))


def test_past_the_limit_a_sweep_names_the_jobs_and_ends(struck):
    """Each once, in parts of half of what it would take itself; it touches none of them."""
    struck.tick()
    assert sorted(job for jobs in struck.named() for job in jobs) == sorted(f"job-{n}" for n in range(JOBS))
    assert max(len(jobs) for jobs in struck.named()) == FROM // 2
    assert ran_again(struck.world) == set()


def test_up_to_the_limit_a_sweep_takes_them_itself(crowd):
    """Nobody else is asked."""
    crowd.preempt(*crowd.names[:FROM])
    crowd.world.wait(minutes=1)
    deliveries = Deliveries(crowd.world)
    deliveries.tick()
    assert deliveries.named() == []
    assert ran_again(crowd.world) == set(crowd.names[:FROM])


def test_a_message_says_nothing_but_the_jobs(struck):
    """What is known of them is read anew by whoever looks."""
    struck.tick()
    message = struck.topic.messages[0]
    assert message.attributes == {"spotwarden-batch": "recover_spot"}
    assert list(msgspec.json.decode(message.data)) == ["jobs"]


def test_whoever_gets_a_message_brings_back_its_jobs_and_no_other(struck):
    """It needs no turn: the sweep that asked may have it still."""
    struck.tick()
    [first, *_] = struck.named()
    struck.deliver(0)
    assert ran_again(struck.world) == set(first)


def test_delivered_twice_late_and_out_of_order_each_comes_back_once(struck):
    """A job's own record says who goes on with it."""
    struck.tick()
    for number in reversed(range(len(struck.topic.messages))):
        struck.deliver(number)
        struck.deliver(number)
    struck.world.wait(minutes=3)
    for number in range(len(struck.topic.messages)):
        struck.deliver(number)
    assert ran_again(struck.world) == {f"job-{number}" for number in range(JOBS)}
    assert len(struck.world.instances()) == JOBS + 1


def test_what_is_never_delivered_the_next_tick_asks_for_anew(struck):
    """A tick comes a minute later."""
    struck.tick()
    struck.topic.messages.clear()
    struck.world.wait(minutes=1)
    struck.tick()
    assert sum(map(len, struck.named())) == JOBS


@pytest.mark.parametrize(("early", "asked"), [(timedelta(seconds=1), 0), (timedelta(0), JOBS)])
def test_a_job_that_another_instance_looks_at_is_not_asked_for_at_once_again(struck, early, asked):
    """To the second."""
    struck.tick()
    struck.topic.messages.clear()
    struck.world.cloud.clock.advance(AGAIN - early)
    struck.tick()
    assert sum(map(len, struck.named())) == asked


@pytest.mark.parametrize(("late", "asked"), [(timedelta(seconds=1), [["job-3"]]), (timedelta(0), [])])
def test_a_job_whose_marker_is_newer_than_what_was_asked_is_asked_for_at_once(struck, late, asked):
    """It was asked for because of something else, as its first VM, and is lost since."""
    struck.tick()
    struck.topic.messages.clear()
    struck.world.cloud.clock.advance(late)
    struck.world.store(MarkerName(node="job-3"), b'{"job": "job-3"}')
    struck.world.cloud.clock.advance(AGAIN / 2)
    struck.tick()
    assert struck.named() == asked


def calls_of(struck, node, message):
    """What an instance that was just started asks of the bucket for the event of a node: calls and names."""
    struck.forget()
    slow = Slow(struck.ports())
    struck.event(node, message, slow.cloud)
    return [(call, str(what)) for call, what, _ in slow.made]


def lists_of(struck, node, message):
    """What it lists below `spotwarden/`."""
    listed = {what for call, what in calls_of(struck, node, message) if call in {"entries", "each_entry"}}
    return [what for what in listed if what.startswith("spotwarden/")]


@pytest.mark.parametrize(("node", "listed"), [("job-2", False), ("test-vm", True)])
def test_an_event_of_a_job_that_others_look_at_lists_no_jobs(struck, node, listed):
    """In a storm each new instance would; of a job that nobody was asked to look at it must."""
    struck.event("job-1", message="7")
    assert bool(lists_of(struck, node, message="8")) is listed


def test_an_event_of_a_job_that_others_look_at_asks_whose_the_turn_is_once(struck):
    """It does not try to take the turn after that."""
    struck.event("job-1", message="7")
    turn = struck.world.layout.build(SweepTurn(function="recover_spot"))
    assert [what for _, what in calls_of(struck, "job-2", message="8")].count(turn) == 1


def test_an_event_of_a_job_that_others_look_at_lists_once_the_turn_is_free(struck):
    """Nobody comes again then to see what has become of the jobs."""
    struck.event("job-1", message="7")
    struck.world.wait(seconds=15)
    assert lists_of(struck, "job-2", message="8")


@pytest.mark.parametrize("left", [0, JOBS])
def test_a_create_that_has_failed_is_looked_at_at_once(struck, left):
    """The next place is to be asked; one that went well is no haste."""
    struck.tick()
    [first, *_] = struck.named()
    struck.world.cloud.compute.stock_out("us-central1-a", left=left)
    struck.deliver(0)
    struck.topic.messages.clear()
    struck.world.wait(seconds=AGAIN.total_seconds() / 2)
    struck.tick()
    again = [job for jobs in struck.named() for job in jobs]
    assert again == ([] if left else first)


def test_the_jobs_of_a_message_are_neighbours_by_their_names(struck):
    """So are their heartbeats, which one list then shows."""
    struck.tick()
    named = [job for jobs in struck.named() for job in jobs]
    assert named == sorted(named)


@pytest.fixture
def calls_for(struck):
    """What instances that were just started ask of the bucket for one message, by call and kind of object."""

    def look():
        struck.forget()
        slow = Slow(struck.ports())
        struck.push(struck.message(0), slow.cloud)
        return Counter((call, kind_of(str(what))) for call, what, _ in slow.made)

    return look


def test_each_instance_reads_of_a_job_what_no_list_shows(struck, calls_for):
    """Of its records, ids and heartbeats nothing; its folder is listed once."""
    struck.tick()
    [first, *_] = struck.named()
    asked = len(first)
    claims = calls_for()
    assert ran_again(struck.world) == set(first)
    struck.world.wait(minutes=1)
    ends = calls_for()
    for calls in (claims, ends):
        assert calls["entries", "metadata/"] == calls["read", "create-instance.sh"] == asked
        assert calls["entries", "heartbeats/"] == 1
        assert calls["read", "attempts/"] == calls["read", "instance-id"] == 0
    assert (claims["read", "preempted-jobs/"], ends["read", "preempted-jobs/"]) == (asked, 0)
    assert claims["operation", ""] == ends["operation", ""] == 0


def test_a_claim_follows_the_look_at_the_folder(struck, calls_for):
    """Its record is older than the list of instances, so that no second one is needed."""
    struck.tick()
    claims = calls_for()
    assert claims["instances", ""] == claims["operations", ""] == 1
    assert claims["entries", "attempts/"] == 0


def test_a_job_whose_vm_still_goes_is_not_asked_for_yet(crowd):
    """Its name is taken; nothing could be done."""
    crowd.preempt(*crowd.names)
    deliveries = Deliveries(crowd.world)
    deliveries.tick()
    assert deliveries.named() == []
    crowd.world.wait(minutes=1)
    deliveries.tick()
    assert sum(map(len, deliveries.named())) == JOBS


def test_the_event_that_asked_comes_again_and_keeps_the_turn(struck):
    """All others ask nothing; it looks whose turn has come."""
    assert struck.event("job-1", message="7").soon
    assert not struck.event("job-2", message="8").soon
    struck.topic.messages.clear()
    struck.world.cloud.clock.advance(AGAIN / 2 - timedelta(seconds=2))
    assert struck.event("job-1", message="7").soon
    assert turn_of(struck.world)["kept"]


def test_a_turn_is_not_taken_on_while_its_sweep_is_at_work(struck):
    """The same message may be delivered twice at once."""
    taken = struck.taken(message="7")
    assert taken
    assert struck.taken(message="7") is None
    assert struck.taken(message="") is None


def test_a_kept_turn_is_over_soon_when_its_message_does_not_come(struck):
    """Ticks and other events go on then."""
    struck.event("job-1", message="7")
    struck.world.wait(seconds=14)
    assert struck.tick().waiting == ("another sweep is running",)
    struck.world.wait(seconds=1)
    assert struck.tick().waiting != ("another sweep is running",)


def test_after_some_minutes_the_event_comes_no_more(struck):
    """Of jobs that wait for a place for hours the ticks ask."""
    struck.event("job-1", message="7")
    struck.world.cloud.clock.advance(LOOKED_FOR)
    assert not struck.event("job-1", message="7").soon
    assert turn_of(struck.world)["holder"] == ""


def test_the_log_stays_to_be_read_until_one_sweep_has_looked_at_all(struck):
    """What was seen of a job that no other instance looked at must be seen again."""
    before = turn_of(struck.world)["swept"]
    struck.tick()
    assert turn_of(struck.world)["swept"] == before
    struck.world.cloud.clock.advance(SHARED_FOR)
    struck.topic.messages.clear()
    struck.tick()
    assert struck.named() == []
    assert turn_of(struck.world)["swept"] > before
    assert ran_again(struck.world) == {f"job-{number}" for number in range(JOBS)}


def test_where_nobody_can_be_asked_the_sweep_takes_all_itself(struck):
    """A topic that is missing, or a right: it is tried no second time for a while."""
    struck.topic.trouble.order("publish_all", rejected("Forbidden"), times=2)
    struck.tick()
    assert ran_again(struck.world) == {f"job-{number}" for number in range(JOBS)}
    struck.crowd.preempt(*(f"job-{number}" for number in range(JOBS)))
    struck.world.wait(minutes=1)
    struck.tick()
    assert struck.refused() == 1


def test_where_nobody_knows_whether_they_were_asked_the_sweep_takes_all_itself(struck):
    """Whoever was asked after all finds nothing left to do."""
    struck.topic.trouble.order("publish_all", unanswered(after_work=True))
    struck.tick()
    for number in range(len(struck.topic.messages)):
        struck.deliver(number)
    assert len(struck.world.instances()) == JOBS + 1


def test_a_job_that_was_stopped_meanwhile_is_not_launched(struck):
    """What the message says is only where to look."""
    struck.tick()
    [first, *_] = struck.named()
    struck.stop(first[0])
    struck.deliver(0)
    assert ran_again(struck.world) == set(first[1:])


def test_an_entry_that_is_broken_stops_no_other_job(struck):
    """It is told by the sweep that asks, once, and not by each that is asked."""
    struck.world.store("spotwarden/open/job-0.json", b"{")
    assert len(struck.tick().failures) == 1
    assert {job for jobs in struck.named() for job in jobs} == {f"job-{n}" for n in range(1, JOBS)}


@pytest.mark.parametrize(
    "data",
    [
        b'{"jobs": ["nobody", "spotwarden", "../test-vm", "preempted-jobs", ""]}',
        b'{"jobs": 7}',
        b'{"jobs": [{}]}',
        b"[]",
        b"{",
        b"",
    ],
)
def test_a_message_that_anybody_made_up_only_makes_it_look(crowd, data):
    """Nothing is written, whatever it says."""
    deliveries, before = Deliveries(crowd.world), crowd.world.names("")
    swept = deliveries.push(pushed(data))
    assert (swept.waiting, swept.failures) == ((), ())
    assert crowd.world.names("") == before


def test_a_made_up_message_about_a_job_that_runs_changes_nothing(crowd):
    """It is looked at, and left alone."""
    deliveries, before = Deliveries(crowd.world), crowd.world.names("")
    deliveries.push(pushed(b'{"jobs": ["job-1"], "launch": true, "zone": "us-east4-a"}'))
    assert crowd.world.names("") == before


def test_a_message_names_a_bounded_number_of_jobs():
    """Whoever wrote it: the rest is due at the next tick; a name counts once."""
    named = ["a", "a", *(f"job-{number}" for number in range(1000))]
    tick = open_tick("recover_spot", pushed(msgspec.json.encode({"jobs": named})), Layout())
    assert (tick.batch, tick.patient, tick.jobs[:2], len(tick.jobs)) == (True, True, ("a", "job-0"), 250)


def test_a_record_as_new_as_the_markers_is_looked_at_once_more(struck):
    """Nobody knows whether it was there when the instances were listed."""
    struck.tick()
    [first, *_] = struck.named()
    name = f"{first[0]}/metadata/attempts/1.json"
    struck.world.store(name, struck.world.cloud.store.read(name).data)
    struck.forget()
    slow = Slow(struck.ports())
    struck.push(struck.message(0), slow.cloud)
    heads = [what for call, what, _ in slow.made if call == "entries" and "attempts/" in str(what)]
    assert heads == [f"{first[0]}/metadata/attempts/"]
    assert ran_again(struck.world) == set(first)


def test_an_instance_that_was_asked_has_the_entries_of_its_jobs_from_one_list(struck):
    """Ten of them that read each would cost ten times the calls."""
    struck.tick()
    struck.forget()
    slow = Slow(struck.ports())
    struck.push(struck.message(0), slow.cloud)
    assert [call for call, what, _ in slow.made if "spotwarden/open/" in str(what)][:1] == ["each_entry"]
    assert [what for call, what, _ in slow.made if call == "read" and "spotwarden/open/" in str(what)] == []


def test_all_that_were_asked_for_end_as_if_one_sweep_had_taken_them(struck):
    """Running, registered, and without markers."""
    for _ in range(6):
        struck.tick()
        struck.deliver_all()
        struck.world.wait(minutes=1)
    assert struck.world.names("preempted-jobs/") == []
    records = [struck.world.read(f"job-{number}/metadata/attempts/2.json") for number in range(JOBS)]
    assert {record["state"] for record in records} == {AttemptState.RUNNING.value}
    assert turn_of(struck.world)["shared"] == {}
