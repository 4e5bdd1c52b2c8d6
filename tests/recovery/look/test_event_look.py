"""One event, from its marker to the request: what is asked side by side, and what may happen meanwhile."""

from threading import Event

import msgspec
import pytest

from spotwarden.layout import Heartbeat, InstanceId, MetricsFile, OpenJob, StatusCode
from spotwarden.model.action import LaunchInstances, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState
from tests.fakes.world import GANG, World, load
from tests.recovery.crowd_world import Slow


class Meanwhile:
    """A port before whose first such call something happens; `about` begins what the call is about."""

    def __init__(self, port, call, happen, about=""):
        self.port, self.call, self.happen, self.about = port, call, happen, about

    def __getattr__(self, name):
        method = getattr(self.port, name)
        if name != self.call:
            return method

        def called(*words, **named):
            if not words or str(words[0]).startswith(self.about):
                happen, self.happen = self.happen, lambda: None
                happen()
            return method(*words, **named)

        return called


@pytest.fixture
def lost(world):
    """A job that was seen and is preempted, its VM gone."""
    world.settle()
    world.preempt()
    world.wait(minutes=2)
    return world


def calls(world, cloud=None, about="test-vm"):
    """What a sweep for the event asks until its request, and whether there is one."""
    slow = Slow(cloud or world.cloud.ports())
    world.sweep_over(slow.cloud, about)
    made = [(call, str(what)) for call, what, _ in slow.made]
    sent = [index for index, (call, _) in enumerate(made) if call == "launch"]
    return made[: sent[0] + 1] if sent else made, bool(sent)


def test_each_list_is_asked_for_once(lost):
    """The folder before the instances and after them; no list of the chain on top of those."""
    made, sent = calls(lost)
    lists = [(call, what) for call, what in made if call in {"entries", "instances", "operations"}]
    assert sent
    assert [call for call, _ in lists].count("instances") == 1
    assert [call for call, _ in lists].count("operations") == 1
    folders = [index for index, row in enumerate(lists) if row == ("entries", "test-vm/metadata/")]
    (instances,) = [index for index, (call, _) in enumerate(lists) if call == "instances"]
    assert folders[0] < instances < folders[1]
    assert ("entries", "test-vm/metadata/attempts/") not in lists


def test_instances_are_asked_for_while_heartbeats_are_still_being_listed(lost):
    """A job that comes back waits for no list that it needs later."""
    lost.settings = msgspec.structs.replace(lost.settings, workers=4)
    asked, waited, ports = Event(), [], lost.cloud.ports()
    beats = Meanwhile(ports.store, "each_entry", lambda: waited.append(asked.wait(timeout=10)), "heartbeats/")
    instances = Meanwhile(ports.compute, "instances", asked.set)
    _, sent = calls(lost, msgspec.structs.replace(ports, store=beats, compute=instances))
    assert (waited, sent) == ([True], True)


def test_the_claim_is_behind_the_folder_and_the_request_behind_the_claim(lost):
    """Nothing is asked of anybody between them."""
    made, _ = calls(lost)
    assert made[-3:-1] == [("entries", "test-vm/metadata/"), ("write", "test-vm/metadata/attempts/2.json")]


def test_the_entry_of_an_open_job_is_one_read(lost):
    """It stands in the object's metadata."""
    made, _ = calls(lost)
    named = [call for call, what in made if what == lost.layout.build(OpenJob(job="test-vm"))]
    assert named == ["entry"]


def test_an_entry_that_shows_no_content_is_read(lost):
    """Another program wrote it."""
    name = lost.layout.build(OpenJob(job="test-vm"))
    data = lost.cloud.store.read(name).data
    lost.cloud.store.write(name, data, generation=None)
    made, sent = calls(lost)
    assert [call for call, what in made if what == name] == ["entry", "read"]
    assert sent


def test_where_the_folder_has_changed_the_instances_are_looked_at_once_more(lost):
    """What a newer chain has made would not be in the first list."""
    registered = InstanceId(job="test-vm", node="test-vm")
    happen = Meanwhile(
        lost.cloud.ports().compute, "instances", lambda: lost.store(registered, lost.first.encode())
    )
    made, sent = calls(lost, msgspec.structs.replace(lost.cloud.ports(), compute=happen))
    assert sent
    assert [call for call, _ in made].count("instances") == 2
    assert ("entries", "test-vm/metadata/attempts/") in made


@pytest.mark.parametrize(
    "written",
    [Heartbeat(job="test-vm", node="test-vm"), MetricsFile(job="test-vm", node="test-vm", attempt=1)],
)
def test_what_a_vm_writes_while_it_runs_is_no_change(lost, written):
    """A gang's other nodes write theirs at any moment."""
    happen = Meanwhile(lost.cloud.ports().compute, "instances", lambda: lost.store(written, b"{}"))
    made, _ = calls(lost, msgspec.structs.replace(lost.cloud.ports(), compute=happen))
    assert [call for call, _ in made].count("instances") == 1


def test_a_job_that_ends_while_the_instances_are_listed_is_not_brought_back(lost):
    """It wrote its status before its VM went; the folder is listed once more behind the instances."""
    happen = Meanwhile(
        lost.cloud.ports().compute, "instances", lambda: lost.store(StatusCode(job="test-vm"), b"0")
    )
    _, sent = calls(lost, msgspec.structs.replace(lost.cloud.ports(), compute=happen))
    assert not sent
    assert lost.attempts()[-1].number == 1


def test_a_stop_behind_the_last_listing_wins_over_the_claim(lost):
    """Both create the next record, and one of them can."""

    def stop():
        over = Attempt(
            job="test-vm",
            number=2,
            state=AttemptState.STOPPED,
            created=lost.cloud.clock.now(),
            reason="stop",
            updated=lost.cloud.clock.now(),
        )
        lost.store("test-vm/metadata/attempts/2.json", msgspec.json.encode(over))

    happen = Meanwhile(lost.cloud.ports().store, "write", stop, "test-vm/metadata/attempts/")
    _, sent = calls(lost, msgspec.structs.replace(lost.cloud.ports(), store=happen))
    assert not sent


def test_nothing_is_asked_of_compute_engine_once_the_marker_is_gone(lost):
    """An event that comes twice finds nothing to do."""
    marker = lost.cloud.store.entries("preempted-jobs/")[0]
    lost.cloud.store.delete(marker.name, generation=marker.generation)
    made, _ = calls(lost)
    assert not {"instances", "operations"} & {call for call, _ in made}


def test_a_gang_of_the_name_of_its_first_node_is_looked_for_by_all_its_names():
    """The first list did not ask for the other nodes, of which nobody may know."""
    gang = World(load("recover_spot"), script=GANG.replace(b"gang-1,gang-2", b"test-vm,test-vm-x"))
    gang.settle()
    for node in ("test-vm", "test-vm-x"):
        gang.preempt(node=node)
    gang.wait(minutes=2)
    made, sent = calls(gang)
    names = [what for call, what in made if call == "instances"]
    assert sent
    assert "test-vm-x" in names[-1]
    assert len(names) == 2


def test_only_what_was_listed_or_created_by_the_call_before_is_not_listed_again(some, walk):
    """A claim behind a look that is new; and its request, which follows the claim."""
    steps, _ = walk(some.job(surveyed=True, fresh=True))
    assert [(type(step), step.fresh) for step in steps[:2]] == [(WriteAttempt, True), (LaunchInstances, True)]


def test_a_claim_behind_a_look_at_the_instances_lists_the_chain(some, walk):
    """Somebody may have gone on with it meanwhile."""
    steps, _ = walk(some.job(fresh=True))
    assert [step.fresh for step in steps[1:3]] == [False, True]


def test_a_request_behind_a_record_that_was_written_anew_lists_the_chain(some, walk, asked, tick):
    """A stop may stand behind that record: it is an object of its own."""
    waiting = some.attempt(
        2,
        state=AttemptState.BACKING_OFF,
        tries=(asked(error="ZONE_RESOURCE_POOL_EXHAUSTED"),),
        replaces={"test-vm": "1001"},
        instances={},
        not_before=tick.now,
    )
    facts = some.job(ledger=(*some.job().ledger, waiting))
    steps, _ = walk(facts)
    written = next(index for index, step in enumerate(steps) if isinstance(step, WriteAttempt))
    assert steps[written].generation
    assert isinstance(steps[written + 1], LaunchInstances)
    assert not steps[written + 1].fresh
