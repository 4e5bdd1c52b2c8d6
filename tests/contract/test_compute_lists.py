"""How the Compute adapter reads lists and operations, whatever Google may answer."""

from datetime import UTC, datetime

import msgspec
import pytest

from spotwarden.gcp.compute import ComputeEngine
from spotwarden.model.instance import Instance, Status
from tests.contract.scripted import Scripted

SINCE = datetime(2026, 1, 5, 20, 0, 0, 250_000, tzinfo=UTC)


def vm(name: str, **more: object) -> dict[str, object]:
    """A running instance as the API words it."""
    return {"id": f"1{len(name)}", "name": name, "status": "RUNNING", **more}


def insert_of(name: str, **more: object) -> dict[str, object]:
    """A finished insert of an instance as the API words it."""
    return {
        "name": f"operation-{name}",
        "status": "DONE",
        "operationType": "insert",
        "insertTime": "2026-01-05T12:30:00.000-08:00",
        "targetId": "17",
        "targetLink": f"https://www.googleapis.com/compute/v1/projects/demo/zones/z/instances/{name}",
        **more,
    }


def test_the_list_asks_for_no_more_than_is_read(google: Scripted, compute: ComputeEngine):
    """Whole pages, partial answers rather than none, and of each instance only our fields."""
    google.say({})
    compute.instances()
    [asked] = google.asked
    assert (asked.method, asked.path) == ("GET", "/compute/v1/projects/demo/aggregated/instances")
    assert asked.query == {
        "maxResults": "500",
        "returnPartialSuccess": "true",
        "fields": "items/*/instances(id,name,status,creationTimestamp,lastStartTimestamp,labels,"
        "scheduling/preemptionNoticeDuration),"
        "items/*/warning,nextPageToken,unreachables,warning",
    }


def test_a_list_of_one_answer_is_read(google: Scripted, compute: ComputeEngine):
    """Zone by its short name, moments in UTC, and the labels that a launch of ours writes."""
    labels = {"spotwarden-job": "job", "spotwarden-attempt": "3", "team": "x"}
    times = {
        "creationTimestamp": "2026-01-05T12:30:00.000-08:00",
        "lastStartTimestamp": "2026-01-05T12:31:00.000-08:00",
    }
    google.say({"items": {"zones/us-central1-a": {"instances": [vm("node", labels=labels, **times)]}}})
    assert compute.instances().items == (
        Instance(
            id="14",
            name="node",
            zone="us-central1-a",
            status=Status.RUNNING,
            created=datetime(2026, 1, 5, 20, 30, tzinfo=UTC),
            started=datetime(2026, 1, 5, 20, 31, tzinfo=UTC),
            job="job",
            attempt=3,
        ),
    )


@pytest.mark.parametrize("attempt", ["", "three", "-1", "²"])
def test_an_attempt_label_that_is_no_number_is_none(google: Scripted, compute: ComputeEngine, attempt: str):
    """A label is anybody's to write; one odd label must not end the sweep."""
    google.say({"items": {"zones/z": {"instances": [vm("node", labels={"spotwarden-attempt": attempt})]}}})
    [instance] = compute.instances().items
    assert instance.attempt is None


def test_every_page_is_read(google: Scripted, compute: ComputeEngine):
    """A zone may go on over pages; the token of the last one goes with the next request."""
    google.say({"items": {"zones/a": {"instances": [vm("one")]}}, "nextPageToken": "t/1"})
    google.say({"items": {"zones/a": {"instances": [vm("two")]}}, "nextPageToken": "t/2"})
    google.say({"items": {"zones/b": {"instances": [vm("three")]}}})
    assert [one.name for one in compute.instances().items] == ["one", "two", "three"]
    assert [asked.query.get("pageToken") for asked in google.asked] == [None, "t/1", "t/2"]


def test_a_page_that_is_not_answered_is_asked_for_again(google: Scripted, compute: ComputeEngine):
    """That page, not the whole list."""
    google.say({"items": {"zones/a": {"instances": [vm("one")]}}, "nextPageToken": "t"})
    google.say(b"", status=503)
    google.say({"items": {"zones/a": {"instances": [vm("two")]}}})
    assert [one.name for one in compute.instances().items] == ["one", "two"]
    assert [asked.query.get("pageToken") for asked in google.asked] == [None, "t", "t"]


def test_an_empty_zone_hides_nothing(google: Scripted, compute: ComputeEngine):
    """Each zone without an instance carries this warning, every day."""
    warning = {"code": "NO_RESULTS_ON_PAGE", "data": [{"key": "scope", "value": "zones/a"}]}
    google.say({"items": {"zones/a": {"warning": warning}}, "warning": {"code": "NO_RESULTS_ON_PAGE"}})
    assert compute.instances().unreachable == ()


@pytest.mark.parametrize(
    ("answer", "unreachable"),
    [
        ({"unreachables": ["zones/a", "https://x/projects/p/zones/b"]}, ("a", "b")),
        ({"items": {"zones/a": {"warning": {"code": "UNREACHABLE"}}}}, ("a",)),
        (
            {"items": {"zones/a": {"warning": {"code": "PARTIAL_SUCCESS"}, "instances": [vm("one")]}}},
            ("a",),
        ),
        ({"warning": {"code": "UNREACHABLE", "data": [{"key": "scope", "value": "zones/a"}]}}, ("a",)),
        ({"warning": {"code": "LIST_OVERHEAD_QUOTA_EXCEED"}}, ("project",)),
        ({"warning": {"code": "SOMETHING_NEW"}}, ("project",)),
    ],
)
def test_a_list_that_may_hide_something_says_where(
    google: Scripted, compute: ComputeEngine, answer: dict[str, object], unreachable: tuple[str, ...]
):
    """Unreachable scopes and any warning but the one of empty zones; unknown means wait."""
    google.say(answer)
    google.say(answer)
    assert compute.instances().unreachable == unreachable
    assert compute.operations(SINCE).unreachable == unreachable


def test_a_warning_on_one_page_counts_for_the_whole_list(google: Scripted, compute: ComputeEngine):
    """The last page may be fine."""
    google.say({"unreachables": ["zones/a"], "nextPageToken": "t"})
    google.say({})
    assert compute.instances().unreachable == ("a",)


def test_a_status_of_tomorrow_makes_its_zone_unsure(google: Scripted, compute: ComputeEngine):
    """Nobody can judge such an instance: it is neither alive nor gone, and the others stay listed."""
    strange = vm("strange", status="HIBERNATING")
    google.say(
        {"items": {"zones/a": {"instances": [vm("one"), strange]}, "zones/b": {"instances": [vm("two")]}}}
    )
    listed = compute.instances()
    assert [one.name for one in listed.items] == ["one", "two"]
    assert listed.unreachable == ("a",)


def test_the_log_is_asked_for_from_then_on(google: Scripted, compute: ComputeEngine):
    """The bound is written as the Pacific coast writes it: right whether moments or texts are compared."""
    google.say({})
    compute.operations(SINCE)
    [asked] = google.asked
    assert asked.path == "/compute/v1/projects/demo/aggregated/operations"
    assert asked.query["filter"] == 'insertTime >= "2026-01-05T12:00:00-08:00"'
    assert asked.query["returnPartialSuccess"] == "true"


@pytest.mark.parametrize("text", ["2026-01-05T12:00:01.000-08:00", "2026-07-05T13:00:00.000-07:00"])
def test_the_bound_is_never_past_what_it_is_to_let_through(
    google: Scripted, compute: ComputeEngine, text: str
):
    """Compared as text, in winter and in summer."""
    google.say({})
    compute.operations(datetime.fromisoformat(text))
    bound = google.asked[0].query["filter"].split('"')[1]
    assert bound <= text


def test_the_log_holds_what_was_asked_for_since(google: Scripted, compute: ComputeEngine):
    """Exactly: from the moment on, not a quarter of a second before."""
    before = insert_of("before", insertTime="2026-01-05T12:00:00.249-08:00")
    just = insert_of("just", insertTime="2026-01-05T12:00:00.250-08:00")
    google.say({"items": {"zones/z": {"operations": [just, before]}}})
    assert [one.target_name for one in compute.operations(SINCE).items] == ["just"]


def test_the_log_is_in_order(google: Scripted, compute: ComputeEngine):
    """By when it was asked for, over all zones."""
    late = insert_of("late", insertTime="2026-01-05T12:40:00.000-08:00")
    google.say(
        {"items": {"zones/a": {"operations": [late]}, "zones/z": {"operations": [insert_of("early")]}}}
    )
    assert [one.target_name for one in compute.operations(SINCE).items] == ["early", "late"]


def test_the_log_is_about_instances(google: Scripted, compute: ComputeEngine):
    """The disk that dies with its VM has a delete of its own, which says nothing of the VM."""
    disk = insert_of("x", operationType="delete", targetLink="https://x/zones/z/disks/instances")
    group = insert_of("x", targetLink="https://x/zones/z/instanceGroupManagers/m")
    google.say({"items": {"zones/z": {"operations": [disk, group, insert_of("node")]}, "global": {}}})
    assert [one.target_name for one in compute.operations(SINCE).items] == ["node"]


def test_an_operation_is_read_in_full(google: Scripted, compute: ComputeEngine):
    """Who did what to which id, where and when."""
    told = insert_of(
        "node",
        operationType="compute.instances.preempted",
        user="system",
        zone="https://x/zones/us-east1-b",
        clientOperationId="asked",
        operationGroupId="group",
    )
    google.say({"items": {"zones/us-east1-b": {"operations": [told]}}})
    [operation] = compute.operations(SINCE).items
    assert msgspec.structs.asdict(operation) == {
        "name": "operation-node",
        "zone": "us-east1-b",
        "kind": "compute.instances.preempted",
        "target_id": "17",
        "target_name": "node",
        "done": True,
        "error": "",
        "user": "system",
        "at": datetime(2026, 1, 5, 20, 30, tzinfo=UTC),
        "request_id": "asked",
        "group": "group",
    }


@pytest.mark.parametrize(
    ("scheduling", "notice"),
    [
        ({}, False),
        ({"preemptionNoticeDuration": {"seconds": "120"}}, True),
        ({"preemptionNoticeDuration": {"seconds": "0"}}, False),
    ],
)
def test_an_instance_says_whether_it_hears_of_its_preemption(
    google: Scripted, compute: ComputeEngine, scheduling: object, *, notice: bool
):
    """The API's `Scheduling`: where there is no such duration nobody is told before the soft off."""
    google.say({"items": {"zones/z": {"instances": [vm("node", scheduling=scheduling)]}}})
    [instance] = compute.instances().items
    assert instance.notice is notice
