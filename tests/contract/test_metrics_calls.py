"""What the adapter asks of Cloud Monitoring, and what it makes of odd answers."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spotwarden.gcp.monitoring import CloudMonitoring
from spotwarden.model.load import Buckets
from spotwarden.ports import UnansweredError
from tests.contract.patience import QUICK, SHORT
from tests.contract.scripted import Scripted
from tests.contract.test_conform import exchange
from tests.localcloud.stand import described

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
GRID = Buckets(end=NOW, step=timedelta(minutes=5), count=2)
HOUR_AGO = NOW - timedelta(hours=1)


@pytest.fixture
def metrics(google: Scripted) -> Iterator[CloudMonitoring]:
    """The adapter, pointed at a server that says what it is told to."""
    adapter = CloudMonitoring(project="demo", endpoint=google.url, patience=QUICK)
    yield adapter
    adapter.close()


@pytest.fixture
def hasty(google: Scripted) -> Iterator[CloudMonitoring]:
    """The adapter when it soon gives up."""
    adapter = CloudMonitoring(project="demo", endpoint=google.url, patience=SHORT)
    yield adapter
    adapter.close()


def answer(
    value: dict[str, Any], *ids: str, ends: str = "2026-11-21T08:00:00Z", **more: Any
) -> dict[str, Any]:
    """A page with one point for each instance."""
    point = {"interval": {"startTime": ends, "endTime": ends}, "value": value}
    return {
        "timeSeries": [
            {"resource": {"type": "gce_instance", "labels": {"instance_id": one}}, "points": [point]}
            for one in ids
        ],
        **more,
    }


def not_found(google: Scripted) -> None:
    """What Monitoring says of a metric that was never written."""
    error = {"code": 404, "message": "Cannot find metric(s) that match type = x.", "status": "NOT_FOUND"}
    google.say({"error": error}, status=404)


COUNT = answer({"int64Value": "5"}, "17")
TOP = answer({"doubleValue": 3.25}, "17")


def test_counts_are_asked_for_before_the_maximum(google: Scripted, metrics: CloudMonitoring):
    """What is late arrives between two questions: a point that was counted must have been looked at."""
    for page in (COUNT, COUNT, TOP, {}):
        google.say(page)
    loads = metrics.gpus(GRID)
    assert (loads.rows["17"].top, loads.rows["17"].points, loads.rows["17"].gpus) == (
        (-1, 3.25),
        (-1, 5),
        (-1, 5),
    )
    asked = [(one.query["aggregation.perSeriesAligner"], one.query["filter"]) for one in google.asked]
    assert [aligner for aligner, _ in asked] == ["ALIGN_COUNT", "ALIGN_COUNT", "ALIGN_MAX", "ALIGN_COUNT"]
    assert "agent.googleapis.com/gpu/utilization" in asked[2][1]
    assert "workload.googleapis.com/gpu.dcgm.utilization" in asked[3][1]


def test_the_number_of_questions_does_not_grow_with_the_vms(google: Scripted, metrics: CloudMonitoring):
    """Three for what reports, one for what nobody writes; without counts one of each source."""
    many = answer({"int64Value": "5"}, *(str(number) for number in range(1, 1001)))
    for page in (many, many, many, {}):
        google.say(page)
    assert len(metrics.gpus(GRID).rows) == 1000
    assert len(google.asked) == 4
    assert metrics.gpus(GRID, counts=False).rows == {}
    assert len(google.asked) == 6


def test_everything_is_grouped_by_the_id(google: Scripted, metrics: CloudMonitoring):
    """Counts first by the GPU's number, so that a restarted agent makes no second GPU."""
    google.say(COUNT)
    metrics.gpus(GRID)
    metrics.cpus(HOUR_AGO, NOW)
    metrics.logged(HOUR_AGO, NOW)
    for asked in google.asked:
        counted = asked.query.get("secondaryAggregation.groupByFields")
        assert (counted or asked.query["aggregation.groupByFields"]) == "resource.label.instance_id"
        assert 'resource.type = "gce_instance"' in asked.query["filter"]
        assert 'project = "demo"' in asked.query["filter"]


def test_monitoring_is_asked_as_its_document_says(google: Scripted, metrics: CloudMonitoring):
    """Every question, with ids and without."""
    google.say(COUNT)
    for ids in ((), ("17", "18")):
        metrics.gpus(GRID, ids=ids)
        metrics.cpus(HOUR_AGO, NOW, ids=ids)
        metrics.logged(HOUR_AGO, NOW, ids=ids)
    api = described("monitoring", "v3")
    assert len(google.asked) >= 10
    assert [text for one in google.asked for text in api.check(exchange(one)) if "response" not in text] == []


def test_a_metric_that_nobody_ever_wrote_has_no_rows(google: Scripted, metrics: CloudMonitoring):
    """It is answered with 404, and no problem."""
    not_found(google)
    loads = metrics.gpus(GRID)
    assert (loads.rows, loads.problem) == ({}, "")
    assert metrics.cpus(HOUR_AGO, NOW) == {}
    assert metrics.logged(HOUR_AGO, NOW) == {}


PARTS = [{"executionErrors": [{"code": 4, "message": "too slow"}]}, {"unreachable": ["us-east1"]}]


@pytest.mark.parametrize("more", PARTS)
def test_a_part_of_an_answer_is_none(google: Scripted, metrics: CloudMonitoring, more: dict[str, Any]):
    """What is missing may be the one GPU that is busy."""
    google.say(answer({"int64Value": "1"}, "17", **more))
    loads = metrics.gpus(GRID)
    assert loads.rows == {}
    assert "in part" in loads.problem
    with pytest.raises(UnansweredError, match="in part"):
        metrics.cpus(HOUR_AGO, NOW)
    with pytest.raises(UnansweredError, match="in part"):
        metrics.logged(HOUR_AGO, NOW)


@pytest.mark.parametrize("more", PARTS)
def test_a_part_of_a_later_page_spoils_the_whole(
    google: Scripted, metrics: CloudMonitoring, more: dict[str, Any]
):
    """Also where the first page was fine."""
    google.say(answer({"doubleValue": 1.0}, "17", nextPageToken="t"))
    google.say(answer({"doubleValue": 1.0}, "18", **more))
    assert metrics.gpus(GRID, counts=False).rows == {}


def test_a_refusal_is_told_and_known_of_nobody(google: Scripted, metrics: CloudMonitoring):
    """A permission that is missing never looks like idle GPUs."""
    google.refuse(403, "forbidden", "Permission monitoring.timeSeries.list denied")
    loads = metrics.gpus(GRID)
    assert loads.rows == {}
    assert "monitoring.timeSeries.list" in loads.problem
    with pytest.raises(UnansweredError, match=r"monitoring\.timeSeries\.list"):
        metrics.cpus(HOUR_AGO, NOW)


def test_a_short_answer_is_no_answer(google: Scripted, hasty: CloudMonitoring):
    """Half a page is not the truth."""
    google.say(b'{"timeSeries": [{"resource":')
    assert hasty.gpus(GRID).problem


@pytest.mark.parametrize("odd", [{"doubleValue": "NaN"}, {"doubleValue": "Infinity"}])
def test_what_is_no_number_is_unknown(google: Scripted, metrics: CloudMonitoring, odd: dict[str, Any]):
    """Neither busy nor idle."""
    google.say(answer(odd, "17"))
    google.say({})
    assert metrics.gpus(GRID, counts=False).rows["17"].top == (-1, -1)


def test_an_answer_of_another_form_is_no_answer(google: Scripted, metrics: CloudMonitoring):
    """A sweep goes on without metrics, and says so, when Google has changed something."""
    google.say({"timeSeries": [{"points": [{"interval": {"startTime": "x"}, "value": {}}]}]})
    assert "form" in metrics.gpus(GRID).problem


def test_a_point_of_another_kind_is_no_answer(google: Scripted, metrics: CloudMonitoring):
    """A distribution has no one number."""
    google.say(answer({"distributionValue": {"count": "1"}}, "17"))
    assert metrics.gpus(GRID, counts=False).problem


def test_a_bucket_is_found_by_the_end_of_its_points(google: Scripted, metrics: CloudMonitoring):
    """Wherever in it Monitoring ends its own periods."""
    google.say(answer({"doubleValue": 7.0}, "17", ends="2026-11-21T07:58:12.000000001Z"))
    google.say(answer({"doubleValue": 9.0}, "18", ends="2026-11-21T07:55:00Z"))
    google.asked.clear()
    assert metrics.gpus(GRID, counts=False).rows["17"].top == (-1, 7)


def test_a_short_time_is_a_minute_at_least(google: Scripted, metrics: CloudMonitoring):
    """Monitoring aligns to no less."""
    google.say({})
    metrics.cpus(NOW - timedelta(seconds=5), NOW)
    metrics.logged(NOW - timedelta(seconds=5), NOW)
    assert [one.query["aggregation.alignmentPeriod"] for one in google.asked] == ["60s", "60s"]


def test_equal_rows_are_kept_once(google: Scripted, metrics: CloudMonitoring):
    """A hundred thousand idle VMs look alike."""
    google.say(answer({"doubleValue": 0.0}, *(str(number) for number in range(1, 101))))
    google.say({})
    rows = metrics.gpus(GRID, counts=False).rows
    assert len({id(load.top) for load in rows.values()}) == 1
