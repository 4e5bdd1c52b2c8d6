"""Query parameters that a method does not have."""

import asyncio
from pathlib import Path

import httpx
import pytest

from localcloud.cloud import LocalCloud, Options

JOBS = "/v1/projects/demo/locations/us-central1/jobs"


async def _asked(state: Path, path: str) -> httpx.Response:
    async with (
        LocalCloud(Options(project="demo", state=state, machines=False)) as cloud,
        httpx.AsyncClient(base_url=cloud.endpoints.http, trust_env=False) as client,
    ):
        return await client.get(path)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/projects/demo/topics",
        JOBS,
        "/v1/projects/demo",
        "/v1/projects/demo/serviceAccounts",
        "/v2/projects/demo/sinks",
        "/v3/projects/demo/metricDescriptors",
    ],
)
def test_a_parameter_that_the_method_does_not_have_is_refused(path, tmp_path):
    """In the words of Google's front end: a misspelled filter would otherwise list everything."""
    answer = asyncio.run(_asked(tmp_path, f"{path}?filtre=x"))
    assert answer.status_code == 400
    why = "Cannot bind query parameter. Field 'filtre' could not be found in request message."
    assert answer.json()["error"]["message"] == f'Invalid JSON payload received. Unknown name "filtre": {why}'


@pytest.mark.parametrize(
    "query",
    [
        "pageSize=1&page_size=1",
        "alt=json&prettyPrint=false&key=k&quotaUser=u&%24.xgafv=2&fields=jobs(name)",
        "pageToken=",
    ],
)
def test_either_name_of_a_parameter_is_taken_and_those_of_every_method(query, tmp_path):
    """In camel case, as the `.proto` file has it, and the system's own."""
    assert asyncio.run(_asked(tmp_path, f"{JOBS}?{query}")).status_code == 200
