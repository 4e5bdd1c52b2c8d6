"""What the adapter asks of Cloud Monitoring, and what it makes of odd answers."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.cloud.monitoring_v3 import ListTimeSeriesRequest, ListTimeSeriesResponse
from google.protobuf.json_format import ParseDict
from grpc import StatusCode

from spotwarden.gcp import monitoring
from spotwarden.gcp.monitoring import SILENT_FOR, CloudMonitoring
from spotwarden.gcp.series import MOST_CALLS_OF_MANY, MOST_IDS, named_calls
from spotwarden.gcp.tally import calls
from spotwarden.model.load import Buckets
from spotwarden.ports import UnansweredError
from tests.contract.retry_policies import QUICK, SHORT
from tests.contract.scripted_rpc import ScriptedRpc

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
GRID = Buckets(end=NOW, step=timedelta(minutes=5), count=2)
HOUR_AGO = NOW - timedelta(hours=1)


@pytest.fixture
def metrics(rpc: ScriptedRpc) -> Iterator[CloudMonitoring]:
    """The adapter, pointed at a server that says what it is told to."""
    adapter = CloudMonitoring(project="demo", endpoint=rpc.url, retry_policy=QUICK)
    yield adapter
    adapter.close()


@pytest.fixture
def hasty(rpc: ScriptedRpc) -> Iterator[CloudMonitoring]:
    """The adapter when it soon gives up."""
    adapter = CloudMonitoring(project="demo", endpoint=rpc.url, retry_policy=SHORT)
    yield adapter
    adapter.close()


TYPES = {"int64Value": "INT64", "doubleValue": "DOUBLE", "distributionValue": "DISTRIBUTION"}


def answer(
    value: dict[str, Any], *ids: str, ends: str = "2026-11-21T08:00:00Z", **more: Any
) -> ListTimeSeriesResponse:
    """A page with one point for each instance."""
    point = {"interval": {"startTime": ends, "endTime": ends}, "value": value}
    series = [
        {
            "resource": {"type": "gce_instance", "labels": {"instance_id": one}},
            "valueType": TYPES[next(iter(value))],
            "points": [point],
        }
        for one in ids
    ]
    found = ListTimeSeriesResponse()
    ParseDict({"timeSeries": series, **more}, ListTimeSeriesResponse.pb(found))
    return found


def not_found(rpc: ScriptedRpc) -> None:
    """What Monitoring says of a metric that was never written."""
    rpc.refuse(StatusCode.NOT_FOUND, "Cannot find metric(s) that match type = x.")


def asked(rpc: ScriptedRpc) -> list[ListTimeSeriesRequest]:
    """What was asked."""
    return rpc.requests(ListTimeSeriesRequest)


NOTHING = ListTimeSeriesResponse()
COUNT = answer({"int64Value": "5"}, "17")
TOP = answer({"doubleValue": 3.25}, "17")


def test_counts_are_asked_for_before_the_maximum(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """What is late arrives between two questions: a point that was counted must have been looked at."""
    for page in (COUNT, COUNT, TOP, NOTHING):
        rpc.say(page)
    loads = metrics.gpus(GRID)
    assert (loads.rows["17"].top, loads.rows["17"].points, loads.rows["17"].gpus) == (
        (-1, 3.25),
        (-1, 5),
        (-1, 5),
    )
    questions = [(one.aggregation.per_series_aligner.name, one.filter) for one in asked(rpc)]
    counts = ["ALIGN_COUNT", "ALIGN_COUNT"]
    assert [aligner for aligner, _ in questions] == [*counts, "ALIGN_MAX", *counts]
    assert "agent.googleapis.com/gpu/utilization" in questions[2][1]
    assert "workload.googleapis.com/gpu.dcgm.utilization" in questions[3][1]


def test_the_number_of_questions_does_not_grow_with_the_vms(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """Three for what reports, two for what nobody writes; without counts one of each source."""
    many = answer({"int64Value": "5"}, *(str(number) for number in range(1, 1001)))
    for page in (many, many, many, NOTHING):
        rpc.say(page)
    assert len(metrics.gpus(GRID).rows) == 1000
    assert len(rpc.asked) == 5
    monitoring._SILENT.clear()
    assert metrics.gpus(GRID, counts=False).rows == {}
    assert len(rpc.asked) == 7


def test_tpus_that_google_refuses_to_tell_of_are_unknown(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """GPUs are judged all the same: the question was never put to the real Monitoring."""
    rpc.refuse(StatusCode.INVALID_ARGUMENT, "The supplied filter does not specify a valid combination")
    loads = metrics.tpus(GRID, ids=["17"])
    assert (dict(loads.rows), loads.problem) == ({}, "")


def test_tpus_without_an_answer_are_a_problem(rpc: ScriptedRpc, hasty: CloudMonitoring):
    """Cases stay as they are until there is one."""
    for _ in range(9):
        rpc.refuse(StatusCode.UNAVAILABLE, "away")
    assert "Cloud Monitoring" in hasty.tpus(GRID, ids=["17"]).problem


def test_no_vm_with_tpus_is_no_question(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """An empty list of ids never means all."""
    assert metrics.tpus(GRID, ids=[]).rows == {}
    assert rpc.asked == []


def sources(rpc: ScriptedRpc) -> list[str]:
    """Which source each question was for."""
    return ["dcgm" if "dcgm" in one.filter else "agent" for one in asked(rpc)]


def test_a_source_that_knew_nobody_is_not_asked_again_at_once(
    rpc: ScriptedRpc, metrics: CloudMonitoring, monkeypatch: pytest.MonkeyPatch
):
    """But now and then: somebody may install another agent. The first source is always asked."""
    monkeypatch.setattr(monitoring.clock, "now", lambda: NOW)
    rpc.say(NOTHING)
    for _ in range(3):
        metrics.gpus(GRID, counts=False)
    assert sources(rpc) == ["agent", "dcgm", "agent", "agent"]
    monkeypatch.setattr(monitoring.clock, "now", lambda: NOW + SILENT_FOR)
    metrics.gpus(GRID, counts=False)
    assert sources(rpc)[4:] == ["agent", "dcgm"]


def test_an_instance_that_one_source_lacks_is_asked_of_the_next(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """However silent that was; what it knows of one it may know of others, so it is no longer left out."""
    for page in (NOTHING, NOTHING, TOP, answer({"doubleValue": 0.5}, "18"), NOTHING):
        rpc.say(page)
    metrics.gpus(GRID, counts=False)
    rows = metrics.gpus(GRID, ids=["17", "18"], counts=False).rows
    assert (rows["17"].top, rows["18"].top) == ((-1, 3.25), (-1, 50))
    assert '"17"' not in asked(rpc)[-1].filter
    metrics.gpus(GRID, counts=False)
    assert sources(rpc) == ["agent", "dcgm", "agent", "dcgm", "agent", "dcgm"]


@pytest.mark.parametrize(("known", "calls"), [(1400, 12), (1399, 1)])
def test_of_a_project_with_far_more_some_are_named(
    rpc: ScriptedRpc, metrics: CloudMonitoring, known: int, calls: int
):
    """Google bills each series that it returns: where naming saves half of them it may take more calls."""
    everybody = [str(number) for number in range(1, known + 1)]
    for page in (answer({"doubleValue": 3.0}, *everybody), NOTHING):
        rpc.say(page)
    metrics.gpus(GRID, counts=False)
    some = everybody[:700]
    metrics.cpus(HOUR_AGO, NOW, ids=some)  # of another metric nothing is known
    assert "one_of" not in asked(rpc)[-1].filter
    before = len(rpc.asked)
    metrics.gpus(GRID, ids=some, counts=False)
    named = [request for request in asked(rpc)[before:] if "agent" in request.filter]
    assert len(named) == calls
    assert ("one_of" in asked(rpc)[before].filter) is (calls > 1)


def test_however_many_there_are_no_more_than_two_hundred_calls_name_some():
    """Three questions of so many are a tenth of what Monitoring takes in a minute."""
    ids = {str(number) for number in range(1, MOST_CALLS_OF_MANY * MOST_IDS + 1)}
    assert len(named_calls(ids, 10**6)) == MOST_CALLS_OF_MANY
    assert {name for call in named_calls(ids, 10**6) for name in call} == ids
    assert named_calls({*ids, "0"}, 10**6) == [[]]
    assert named_calls(ids) == [[]]


def test_a_source_is_not_asked_for_what_is_known(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """Two counts at the same time, and then the maximum, of the one source that knows the instance."""
    for page in (COUNT, COUNT, TOP):
        rpc.say(page)
    metrics.gpus(GRID, ids=["17"])
    assert sources(rpc) == ["agent"] * 3


def test_everything_is_grouped_by_the_id(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """Counts first by the GPU's number, so that a restarted agent makes no second GPU."""
    rpc.say(COUNT)
    metrics.gpus(GRID)
    metrics.cpus(HOUR_AGO, NOW)
    metrics.logged(HOUR_AGO, NOW)
    for question in asked(rpc):
        last = question.secondary_aggregation or question.aggregation
        assert last.group_by_fields == ["resource.label.instance_id"]
        assert 'resource.type = "gce_instance"' in question.filter
        assert 'project = "demo"' in question.filter


def test_counts_are_first_summed_up_by_the_number_of_a_gpu(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """An agent that was restarted calls its GPU by another uuid, and makes no second one."""
    rpc.say(COUNT)
    metrics.gpus(GRID)
    # Questions go out side by side, in no order.
    first, *_ = [
        question
        for question in asked(rpc)
        if question.secondary_aggregation.cross_series_reducer.name == "REDUCE_COUNT"
        and "metric.label.gpu_number" in question.aggregation.group_by_fields
    ]
    assert first.aggregation.group_by_fields == ["resource.label.instance_id", "metric.label.gpu_number"]
    assert first.aggregation.cross_series_reducer.name == "REDUCE_SUM"


def test_a_metric_that_nobody_ever_wrote_has_no_rows(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """It is answered with NOT_FOUND, and no problem."""
    not_found(rpc)
    loads = metrics.gpus(GRID)
    assert (loads.rows, loads.problem) == ({}, "")
    assert metrics.cpus(HOUR_AGO, NOW) == {}
    assert metrics.logged(HOUR_AGO, NOW) == {}


UNREACHABLE = b"\x32\x08us-east1"
"""A field that the client does not know, as it comes: `unreachable` is one for its 2.32."""

PARTS = [{"executionErrors": [{"code": 4, "message": "too slow"}]}, {}]


def part(value: dict[str, Any], instance: str, more: dict[str, Any]) -> bytes:
    """A page that may lack something, and says so."""
    whole = ListTimeSeriesResponse.serialize(answer(value, instance, **more))
    return whole if more else whole + UNREACHABLE


@pytest.mark.parametrize("more", PARTS)
def test_a_part_of_an_answer_is_none(rpc: ScriptedRpc, metrics: CloudMonitoring, more: dict[str, Any]):
    """What is missing may be the one GPU that is busy."""
    rpc.say(part({"int64Value": "1"}, "17", more))
    loads = metrics.gpus(GRID)
    assert loads.rows == {}
    assert "partial answer" in loads.problem
    with pytest.raises(UnansweredError, match="partial answer"):
        metrics.cpus(HOUR_AGO, NOW)
    with pytest.raises(UnansweredError, match="partial answer"):
        metrics.logged(HOUR_AGO, NOW)


@pytest.mark.parametrize("more", PARTS)
def test_a_part_of_a_later_page_spoils_the_whole(
    rpc: ScriptedRpc, metrics: CloudMonitoring, more: dict[str, Any]
):
    """Also where the first page was fine."""
    rpc.say(answer({"doubleValue": 1.0}, "17", nextPageToken="t"))
    rpc.say(part({"doubleValue": 1.0}, "18", more))
    assert metrics.gpus(GRID, counts=False).rows == {}


def test_a_refusal_is_told_and_known_of_nobody(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """A permission that is missing never looks like idle GPUs."""
    rpc.refuse(StatusCode.PERMISSION_DENIED, "Permission monitoring.timeSeries.list denied")
    loads = metrics.gpus(GRID)
    assert loads.rows == {}
    assert "monitoring.timeSeries.list" in loads.problem
    with pytest.raises(UnansweredError, match=r"monitoring\.timeSeries\.list"):
        metrics.cpus(HOUR_AGO, NOW)


def test_a_short_answer_is_no_answer(rpc: ScriptedRpc, hasty: CloudMonitoring):
    """Half a page is not the truth."""
    rpc.say(ListTimeSeriesResponse.serialize(TOP)[:-3])
    assert hasty.gpus(GRID).problem


@pytest.mark.parametrize("odd", [{"doubleValue": "NaN"}, {"doubleValue": "Infinity"}])
def test_what_is_no_number_is_unknown(rpc: ScriptedRpc, metrics: CloudMonitoring, odd: dict[str, Any]):
    """Neither busy nor idle."""
    rpc.say(answer(odd, "17"))
    rpc.say(NOTHING)
    assert metrics.gpus(GRID, counts=False).rows["17"].top == (-1, -1)


def test_a_point_of_another_kind_is_no_answer(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """A distribution has no one number."""
    rpc.say(answer({"distributionValue": {"count": "1"}}, "17"))
    assert metrics.gpus(GRID, counts=False).problem


def test_a_bucket_is_found_by_the_end_of_its_points(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """Wherever in it Monitoring ends its own periods."""
    rpc.say(answer({"doubleValue": 7.0}, "17", ends="2026-11-21T07:58:12.000000001Z"))
    rpc.say(answer({"doubleValue": 9.0}, "18", ends="2026-11-21T07:55:00Z"))
    rpc.asked.clear()
    assert metrics.gpus(GRID, counts=False).rows["17"].top == (-1, 7)


def test_a_short_time_is_a_minute_at_least(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """Monitoring aligns to no less."""
    rpc.say(NOTHING)
    metrics.cpus(NOW - timedelta(seconds=5), NOW)
    metrics.logged(NOW - timedelta(seconds=5), NOW)
    assert [one.aggregation.alignment_period for one in asked(rpc)] == [timedelta(minutes=1)] * 2


def test_equal_rows_are_kept_once(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """A hundred thousand idle VMs look alike."""
    rpc.say(answer({"doubleValue": 0.0}, *(str(number) for number in range(1, 101))))
    rpc.say(NOTHING)
    rows = metrics.gpus(GRID, counts=False).rows
    assert len({id(load.top) for load in rows.values()}) == 1


def test_a_point_just_after_the_border_is_of_the_newer_bucket(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """One at the border is of the older."""
    rpc.say(answer({"doubleValue": 7.0}, "17", ends="2026-11-21T07:55:00.000000001Z"))
    assert metrics.gpus(GRID, counts=False).rows["17"].top == (-1, 7)
    rpc.say(answer({"doubleValue": 7.0}, "17", ends="2026-11-21T07:55:00Z"))
    metrics.gpus(GRID, counts=False)
    assert metrics.gpus(GRID, counts=False).rows["17"].top == (7, -1)


def test_each_page_has_a_patience_of_its_own(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """What goes wrong on the second page is asked for again there, and not from the start."""
    rpc.say(answer({"doubleValue": 1.0}, "17", nextPageToken="t"))
    rpc.refuse(StatusCode.UNAVAILABLE, "not now")
    rpc.say(answer({"doubleValue": 2.0}, "18"))
    rpc.say(NOTHING)
    assert set(metrics.gpus(GRID, counts=False).rows) == {"17", "18"}
    assert [one.page_token for one in asked(rpc)] == ["", "t", "t", ""]


def test_every_question_is_counted(rpc: ScriptedRpc, metrics: CloudMonitoring):
    """As those over REST are, for the figures of a sweep."""
    rpc.say(NOTHING)
    before = calls().get("monitoring", 0)
    metrics.gpus(GRID, counts=False)
    assert len(rpc.asked) == 2
    # Threads of a test before, whose first question was refused, may still ask theirs.
    assert calls()["monitoring"] >= before + 2
