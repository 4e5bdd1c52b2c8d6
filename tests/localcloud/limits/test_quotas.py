"""How many calls a minute a project may make."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from localcloud.cloud import LocalCloud, Options
from localcloud.limits import OFF, ApiQuotas, CallLimits, Limits
from localcloud.rpc import RpcError

READ = "POST /v2/entries:list"
USUAL = Limits()
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Project:
    """Calls of one project, at moments that the test chooses."""

    def __init__(self, limits: Limits = USUAL) -> None:
        self.limits = limits
        self.at = NOON
        self._quotas = ApiQuotas(lambda: self.limits, now=lambda: self.at, consumer=lambda: "17")

    def calls(self, call: str, count: int) -> list[str]:
        """Make so many calls; gives what the refused ones said."""
        said = []
        for _ in range(count):
            try:
                self._quotas.count(call)
            except RpcError as error:
                assert (error.code, error.status) == ("RESOURCE_EXHAUSTED", 429)
                said.append(error.message)
        return said


def test_the_61st_look_into_the_log_in_a_minute_is_refused() -> None:
    """In the words of Cloud Logging."""
    project = Project()
    assert project.calls(READ, 60) == []
    (said,) = project.calls(READ, 1)
    assert said == (
        "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute' of service"
        " 'logging.googleapis.com' for consumer 'project_number:17'."
    )


def test_the_quota_is_full_again_on_the_full_minute() -> None:
    """However late in the last one it was used up."""
    project = Project()
    project.at += timedelta(seconds=59)
    assert len(project.calls(READ, 61)) == 1
    project.at += timedelta(seconds=1)
    assert project.calls(READ, 60) == []


def test_queries_of_metrics_have_a_quota_of_their_own_over_http_and_grpc_together() -> None:
    """6,000 a minute; what has no quota is not counted."""
    project = Project()
    project.calls(READ, 60)
    assert project.calls("ListTimeSeries", 3000) == []
    assert project.calls("GET /v3/projects/p/timeSeries", 3001) != []
    for free in ("POST /v2/entries:write", "POST /v3/projects/p/timeSeries", "Publish"):
        assert project.calls(free, 6001) == []


@pytest.mark.parametrize(("part", "refused"), [(0.5, 70), (1, 40), (2, 0), (0, 0)])
def test_a_part_of_the_quotas_can_be_had(part: float, refused: int) -> None:
    """0 is none."""
    assert len(Project(Limits(api_quotas=part)).calls(READ, 100)) == refused


def test_a_grpc_method_beyond_its_quota_is_not_done() -> None:
    """It is refused after its way there."""
    limits, done = Limits(latency_seconds=0, api_quotas=1 / 6000), list[str]()
    calls = CallLimits(lambda: limits, now=lambda: NOON, consumer=lambda: "17")

    async def ask() -> None:
        async with calls.around("ListTimeSeries"):
            done.append("asked")

    asyncio.run(ask())
    with pytest.raises(RpcError, match="Time series queries"):
        asyncio.run(ask())
    assert done == ["asked"]


def test_a_cloud_refuses_as_its_limits_say(tmp_path: Path) -> None:
    """Cloud Logging with 429, Compute Engine with 403; what /local/rates says stays until then."""

    async def story() -> None:
        options = Options(project="demo", state=tmp_path, machines=False, limits=Limits(latency_seconds=0))
        async with LocalCloud(options) as cloud, httpx.AsyncClient(base_url=cloud.endpoints.http) as http:
            rates = cloud.compute.knobs.rates
            assert (len(rates.limits), rates.limits["default"]) == (10, 1500)
            rates.limit("default", 7)
            cloud.limits.set(Limits(latency_seconds=0, doubled=0))
            assert rates.limits["default"] == 7
            cloud.limits.set(Limits(latency_seconds=0, api_quotas=0.001))
            assert (rates.limits["default"], rates.limits["heavy_weight_read_requests"]) == (1, 0)
            refused = await http.get("/compute/v1/projects/demo/aggregated/instances")
            assert (refused.status_code, refused.json()["error"]["errors"][0]["reason"]) == (
                403,
                "rateLimitExceeded",
            )
            body = {"resourceNames": ["projects/demo"]}
            answers = [await http.post("/v2/entries:list", json=body) for _ in range(2)]
            assert [answer.status_code for answer in answers] == [200, 429]
            assert answers[1].json()["error"]["status"] == "RESOURCE_EXHAUSTED"
            assert cloud.compute.project_number in answers[1].json()["error"]["message"]
            cloud.limits.set(OFF)
            assert rates.limits == {}
            assert (await http.post("/v2/entries:list", json=body)).status_code == 200

    asyncio.run(story())
