"""What its developer launched, and what runs: on the list, in the ledger, and on record."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import (
    ClearMarker,
    EndWatch,
    Fetch,
    KeepWatch,
    RecordLaunched,
    Tell,
    WriteAttempt,
)
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.model.launch import NoLaunch
from spotwarden.model.outcome import Done
from spotwarden.recovery.attempts import next_step
from spotwarden.recovery.steps.settling import RECORDED
from tests.recovery.facts import NOW, REQUEST

INSTANCE = {
    "id": "1001",
    "name": "test-vm",
    "zone": "https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a",
    "machineType": "g2-standard-4",
    **REQUEST.body,
}
RAN = {Fetch: Done(resource={"instance": INSTANCE, "disks": {}})}


@pytest.fixture
def seen(some):
    """A job with a script that nobody has written down, and a VM of its name that runs."""

    def build(*instances, **facts):
        there = instances or (some.instance(),)
        return some.job(
            **{
                "ledger": (),
                "nodes": (),
                "instances": there,
                "fetched": some.ran(*there),
                "watched": some.watched(attempt=0, instances={}, recorded=False),
                **facts,
            }
        )

    return build


def sighted(one):
    """The record of an attempt that was seen; None where the step is no such record."""
    return one.record if isinstance(one, WriteAttempt) and one.record.seen else None


def test_a_job_that_is_seen_is_watched_before_anything_else(seen, step):
    """Nobody would miss an instance of a job that nobody watches."""
    assert isinstance(step(seen(watched=None)), KeepWatch)


def test_a_job_that_its_developer_launched_gets_attempt_one(some, seen, step):
    """Running since its VM started, with the VM's id; nobody has placed it."""
    record = sighted(step(seen()))
    assert (record.number, record.state, record.instances) == (1, AttemptState.RUNNING, {"test-vm": "1001"})
    assert record.started == some.instance().started
    assert record.tries == ()


@pytest.mark.parametrize(
    "other",
    [{"job": "another"}, {"job": "test-vm", "attempt": 1}, {"status": Status.TERMINATED}],
    ids=["another job's", "one of ours", "stopped"],
)
def test_what_its_developer_did_not_launch_is_no_sighting(some, seen, step, other):
    """A label of ours tells whose it is; what does not run was not launched."""
    assert sighted(step(seen(some.instance(**other)))) is None


def test_a_name_alone_makes_no_vm_a_jobs(some, seen, step):
    """Its script makes one of this name, or the id stands in its metadata."""
    for launch in (None, some.launch(script=None), NoLaunch(reason="create-instance.sh:1: no")):
        assert sighted(step(seen(launch=launch))) is None
        assert sighted(step(seen(launch=launch, registrations={"test-vm": "9999"}))) is None
        assert sighted(step(seen(launch=launch, registrations={"test-vm": "1001"})))


def test_a_vm_of_a_name_that_the_script_does_not_make_is_somebody_elses(some, seen, step):
    """Though it was looked at, because a marker named its id or it is called like a node of a gang."""
    assert sighted(step(seen(some.instance(name="their-vm")))) is None
    assert sighted(step(seen(some.instance(name="gang-9"), job="gang", launch=some.gang()))) is None
    assert sighted(step(seen(some.instance(name="gang-2"), job="gang", launch=some.gang())))


@pytest.mark.parametrize("state", [AttemptState.ENDED, AttemptState.STOPPED, AttemptState.GAVE_UP])
def test_a_closed_job_that_is_launched_again_lives_again(some, seen, step, state):
    """As the next attempt; the VM that it was closed for is no news."""
    closed = some.attempt(3, state, instances={"test-vm": "1001"})
    assert sighted(step(seen(ledger=(closed,)))) is None
    assert sighted(step(seen(some.instance(id="3003"), ledger=(closed,)))).number == 4


def test_a_stranger_beside_a_vm_that_runs_is_no_attempt(some, seen, step):
    """One of that name in another zone is somebody's experiment, whether or not the job's own VM lives."""
    running = some.attempt(1, instances={"test-vm": "1001"})
    beside = some.instance(id="3003", zone="us-central1-b")
    assert sighted(step(seen(some.instance(), beside, ledger=(running,)))) is None
    assert sighted(step(seen(beside, ledger=(running,)))) is None
    assert sighted(step(seen(some.instance(id="3003"), ledger=(running,)))).number == 2


def test_further_nodes_of_a_gang_join_the_attempt_that_was_seen(some, seen, step):
    """A gang that was seen while it was being launched is one attempt."""
    one, two = some.instance(name="gang-1"), some.instance(name="gang-2", id="1002")
    first = some.attempt(1, job="gang", instances={"gang-1": "1001"}, seen=True)
    facts = seen(one, two, job="gang", ledger=(first,), launch=some.gang())
    record = sighted(step(facts))
    assert (record.number, record.instances) == (1, {"gang-1": "1001", "gang-2": "1002"})
    launched = replace(first, attempt=replace(first.attempt, seen=False))
    assert sighted(step(replace(facts, ledger=(launched,)))) is None


def test_who_starts_a_node_after_a_stop_that_was_broken_off_has_the_whole_gang_again(some, seen, step):
    """The nodes that the stop did not come to have run all the time; without them they would be orphans."""
    ids = {"gang-1": "1001", "gang-2": "1002", "gang-3": "1003"}
    one, two = some.instance(name="gang-1", started=NOW), some.instance(name="gang-2", id="1002")
    down = some.instance(name="gang-3", id="1003", status=Status.TERMINATED)
    began = some.attempt(1, job="gang", instances=ids)
    stop = some.attempt(2, AttemptState.STOPPED, job="gang", replaces=ids)
    start = some.operation("start", target_name="gang-1", at=NOW, user="ann@x.org")
    node = some.node(node="gang-1", marker=None, instance=one, history=(start,))
    other = some.node(node="gang-2", marker=None, instance_id="1002", instance=two, history=())
    facts = seen(two, one, down, job="gang", ledger=(began, stop), nodes=(node, other), launch=some.gang())
    record = sighted(step(facts))
    assert (record.number, record.instances) == (3, {"gang-1": "1001", "gang-2": "1002"})
    assert record.started == NOW
    left_alone = replace(facts, nodes=(replace(node, history=()), other))
    assert sighted(step(left_alone)) is None


def test_the_last_node_that_is_started_after_such_a_stop_joins_the_others(some, seen, step):
    """They are counted already, and stay in the attempt that has them."""
    ids = {"gang-1": "1001", "gang-2": "1002"}
    one, two = some.instance(name="gang-1", started=NOW), some.instance(name="gang-2", id="1002")
    stop = some.attempt(1, AttemptState.STOPPED, job="gang", replaces=ids)
    again = some.attempt(2, job="gang", instances={"gang-2": "1002"}, seen=True)
    start = some.operation("start", target_name="gang-1", at=NOW, user="ann@x.org")
    node = some.node(node="gang-1", marker=None, instance=one, history=(start,))
    facts = seen(two, one, job="gang", ledger=(stop, again), nodes=(node,), launch=some.gang())
    record = sighted(step(facts))
    assert (record.number, record.instances) == (2, ids)


def test_a_node_that_was_lost_before_the_stop_is_not_in_what_a_person_starts(some, seen, walk):
    """The attempt is what could be started; the marker of the lost node is answered, and nothing is made."""
    ids = {"gang-1": "1001", "gang-2": "1002"}
    began = some.attempt(1, job="gang", instances=ids)
    stop = some.attempt(2, AttemptState.STOPPED, job="gang", replaces=ids)
    two = some.instance(name="gang-2", id="1002", started=NOW)
    failed = some.operation("compute.instances.hostError", target_name="gang-1")
    start = some.operation("start", target_name="gang-2", target_id="1002", at=NOW, user="ann@x.org")
    lost = some.node(node="gang-1", marker=some.marker(node="gang-1"), history=(failed,))
    back = some.node(node="gang-2", marker=None, instance_id="1002", instance=two, history=(start,))
    facts = seen(two, job="gang", ledger=(began, stop), nodes=(lost, back), launch=some.gang())
    steps, after = walk(facts)
    assert [type(taken) for taken in steps] == [ClearMarker, WriteAttempt]
    assert after.newest.instances == {"gang-2": "1002"}


@pytest.fixture
def settling(some):
    """A job that was seen and runs; its entry is up to date, and what runs is not on record."""

    def build(**facts):
        seen = some.attempt(1, seen=True, instances={"test-vm": "1001"})
        entry = some.watched(recorded=False)
        return some.quiet(**{"ledger": (seen,), "watched": entry, **facts})

    return build


def test_what_runs_is_written_down_once(settling, walk):
    """Fetched, recorded, and the entry says so; then there is nothing left to do."""
    steps, facts = walk(settling(), RAN)
    assert [type(one) for one in steps] == [Fetch, RecordLaunched, KeepWatch]
    assert steps[1].ran == {"test-vm": RAN[Fetch].resource}
    assert facts.watched.watch.recorded


def test_what_is_on_record_is_not_written_again(settling, walk):
    """A sweep died between the record and the entry."""
    steps, _ = walk(settling(recorded=True), RAN)
    assert RecordLaunched not in [type(one) for one in steps]


def test_an_entry_of_an_older_attempt_is_brought_up_to_date(some, settling, policy, tick):
    """Under its generation; what ran before is not what runs now."""
    newer = some.attempt(2, instances={"test-vm": "1001"})
    facts = settling(ledger=(newer,), watched=some.watched())
    entry = next_step(facts, policy, replace(tick, patient=False))
    assert isinstance(entry, KeepWatch)
    assert (entry.watch.attempt, entry.watch.recorded, entry.generation) == (2, False, 31)


def test_an_entry_that_is_behind_is_written_once_together_with_what_runs(some, settling, walk):
    """An object takes one write a second. Where what runs cannot be read, it is written all the same."""
    newer = some.attempt(2, instances={"test-vm": "1001"})
    facts = settling(ledger=(newer,), watched=some.watched(), fetched=some.ran(some.instance()))
    steps, _ = walk(facts)
    assert [type(step) for step in steps] == [RecordLaunched, KeepWatch]
    assert (steps[-1].watch.attempt, steps[-1].watch.recorded, steps[-1].generation) == (2, True, 31)
    steps, _ = walk(replace(facts, fetched={"1001": None}))
    assert (type(steps[0]), steps[0].watch.attempt, steps[0].watch.recorded) == (KeepWatch, 2, False)


def test_an_event_leaves_the_record_to_the_next_tick(settling, policy, tick):
    """It has somebody to bring back."""
    facts = settling()
    assert isinstance(next_step(facts, policy, tick), Fetch)
    assert next_step(facts, policy, replace(tick, patient=False)) is None


def test_of_a_crowd_a_few_are_put_on_record_at_once_and_the_others_in_the_minutes_after(
    settling, policy, tick
):
    """A storm of a thousand would else ask for more reads than Compute Engine answers in a minute."""
    others = tuple(f"job-{number}" for number in range(24))

    def recorded(place: int, minute: int) -> bool:
        crowd = (*others[:place], "test-vm", *others[place:])
        then = replace(tick, batch=True, jobs=crowd, now=tick.now.replace(minute=minute))
        return next_step(settling(), policy, then) is not None

    minutes = [{place for place in range(25) if recorded(place, minute)} for minute in range(3)]
    assert [len(places) for places in minutes] == [RECORDED, RECORDED, RECORDED]
    assert set().union(*minutes) == set(range(25))


def test_a_vm_that_is_gone_before_it_is_fetched_is_not_recorded(settling, walk):
    """The next look sees what became of it."""
    steps, _ = walk(settling(), {Fetch: Done(resource=None)})
    assert [type(one) for one in steps] == [Fetch]


def test_a_vm_whose_disk_is_gone_before_it_is_read_is_not_recorded(settling, walk):
    """Preempted between the two: the rest makes nothing again, and would hide a good record."""
    half = {"instance": {"id": "1001"}, "disks": {"zones/z/disks/a": {"id": "1"}, "zones/z/disks/b": None}}
    steps, _ = walk(settling(), {Fetch: Done(resource=half)})
    assert [type(one) for one in steps] == [Fetch]


def test_every_node_of_a_gang_is_fetched(some, walk):
    """The record has one resource for each."""
    ids = {"gang-1": "1001", "gang-2": "1002"}
    both = tuple(some.instance(name=name, id=number) for name, number in ids.items())
    nodes = tuple(
        some.node(node=one.name, instance_id=one.id, instance=one, marker=None, history=()) for one in both
    )
    entry = some.watched(job="gang", instances=ids, recorded=False)
    ledger = (some.attempt(1, job="gang", instances=ids),)
    steps, _ = walk(some.gang_job(nodes=nodes, instances=both, watched=entry, ledger=ledger), RAN)
    assert [type(one) for one in steps] == [Fetch, Fetch, RecordLaunched, KeepWatch]
    assert set(steps[2].ran) == set(ids)


CHANGED = {"instance": {**INSTANCE, "machineType": "g2-standard-8"}, "disks": {}}
"""The VM was launched as another machine type than the stored script has by now."""


def test_a_script_that_differs_from_what_runs_is_told_once(settling, step):
    """Before the record is written, so that it is never left out; and once."""
    facts = settling(fetched={"1001": CHANGED})
    told = step(facts)
    assert isinstance(told, Tell)
    assert (
        told.notice.why == "the machine type: the script says g2-standard-4, the instance has g2-standard-8"
    )
    assert isinstance(step(replace(facts, told=frozenset({told.notice.id}))), RecordLaunched)


def test_what_we_launched_ourselves_is_not_held_against_the_script(some, settling, step):
    """It may be in another place and on demand."""
    ours = some.attempt(1, instances={"test-vm": "1001"})
    facts = settling(ledger=(ours,), fetched={"1001": CHANGED})
    assert isinstance(step(facts), RecordLaunched)


@pytest.mark.parametrize("code", ["0", "1"])
def test_a_job_that_has_ended_leaves_the_list(some, settling, walk, code):
    """With whatever status, once none of its VMs runs any more; its record ends first."""
    gone = some.node(marker=None, history=())
    steps, _ = walk(settling(status_code=code, nodes=(gone,), instances=()))
    assert [type(one) for one in steps] == [WriteAttempt, EndWatch]
    assert walk(settling(status_code=code))[0] == []


def test_a_node_of_a_gang_that_was_lost_before_it_was_seen_is_a_node_of_it(some, step):
    """Its bulk request made it, by the log: the attempt has its id, so that its loss is judged."""
    there = some.instance(id="1002", name="gang-2")
    made = [
        some.operation("insert", name=f"op-{number}", target_id=number, target_name=node, group="g")
        for number, node in (("1001", "gang-1"), ("1002", "gang-2"))
    ]
    failed = some.operation(
        "insert", name="op-3", target_id="8", target_name="gang-1", group="g", error="NO: x"
    )
    other = some.operation("insert", name="op-4", target_id="9", target_name="theirs", group="g")
    facts = some.gang_job(
        ledger=(),
        nodes=(),
        instances=(there,),
        fetched=some.ran(there),
        inserts=(*made, failed, other),
        watched=some.watched(attempt=0, instances={}, recorded=False),
    )
    record = sighted(step(facts))
    assert record is not None
    assert record.instances == {"gang-1": "1001", "gang-2": "1002"}


@pytest.mark.parametrize(
    ("own", "since", "number"),
    [(Status.TERMINATED, 1, 3), (Status.RUNNING, 1, 2), (Status.TERMINATED, -1, 2)],
    ids=["its own VM is down", "its own VM runs", "it ran on from before"],
)
def test_a_job_goes_on_in_an_older_vm_that_a_person_has_started(some, walk, tick, own, since, number):
    """No second VM is made beside it, and its kit goes on only where a record has its id."""
    began = tick.now - timedelta(minutes=30)
    ledger = (
        some.attempt(1, instances={"test-vm": "1001"}, started=began - timedelta(hours=1)),
        some.attempt(2, instances={"test-vm": "1002"}, started=began),
    )
    older = some.instance(id="1001", job="test-vm", attempt=1, started=began + since * timedelta(minutes=5))
    newer = some.instance(id="1002", job="test-vm", attempt=2, status=own, started=began)
    facts = some.job(ledger=ledger, instances=(older, newer), nodes=(), watched=some.watched(attempt=2))
    _, known = walk(facts)
    assert known.newest.number == number
    assert known.newest.instances == {"test-vm": "1001" if number == 3 else "1002"}


def test_an_older_vm_that_a_person_started_and_that_was_preempted_unseen_is_the_job(some, walk, tick):
    """Started after the newest attempt's own VM had shut itself down: that no longer ends the job."""
    began = tick.now - timedelta(minutes=30)
    known = _gone_back(some, walk, started=began + timedelta(minutes=11))
    assert (known.newest.number, known.newest.state) == (3, AttemptState.RUNNING)
    assert known.newest.instances == {"test-vm": "1001"}
    assert known.newest.started == began + timedelta(minutes=11)


@pytest.mark.parametrize(
    ("minutes", "user"),
    [(9, "ann@x.org"), (11, "schedule@p.iam.gserviceaccount.com")],
    ids=["started before that end", "started by no person"],
)
def test_an_older_vm_that_is_down_again_keeps_no_job_open_otherwise(some, walk, tick, minutes, user):
    """The last thing that is known of the job is that its own VM has shut itself down."""
    began = tick.now - timedelta(minutes=30)
    known = _gone_back(some, walk, started=began + timedelta(minutes=minutes), user=user)
    assert (known.newest.number, known.newest.state) == (3, AttemptState.STOPPED)


def _gone_back(some, walk, *, started, user="ann@x.org"):
    """What is known of a job after a sweep; its VM of attempt 1 was started again, and preempted since."""
    began = NOW - timedelta(minutes=30)
    ledger = (
        some.attempt(1, instances={"test-vm": "1001"}, started=began - timedelta(hours=1)),
        some.attempt(2, instances={"test-vm": "1002"}, started=began),
    )
    older = some.instance(id="1001", job="test-vm", attempt=1, status=Status.TERMINATED, started=started)
    newer = some.instance(id="1002", job="test-vm", attempt=2, status=Status.TERMINATED, started=began)
    ended = some.operation(
        "compute.instances.guestTerminate",
        name="operation-2",
        target_id="1002",
        at=began + timedelta(minutes=10),
    )
    start = some.operation("start", name="operation-3", user=user, at=started)
    taken = some.operation(name="operation-4", at=began + timedelta(minutes=15))
    facts = some.job(
        ledger=ledger,
        instances=(older, newer),
        nodes=(some.node(marker=None, instance_id="1002", instance=newer, history=(ended,)),),
        outlived=(some.node(marker=None, instance=older, history=(start, taken)),),
        watched=some.watched(attempt=2, instances={"test-vm": "1002"}),
    )
    return walk(facts)[1]
