"""The project's number is one and the same, whichever service says it."""

import asyncio
import re
from pathlib import Path

import httpx
import pytest

from localcloud.cloud import LocalCloud, Options
from localcloud.project import number_of

FLAVOR = {"Metadata-Flavor": "Google"}
SAID = (
    ("/compute/v1/projects/demo", r'"id":"(\d+)"'),
    ("/compute/v1/projects/demo", r'"defaultServiceAccount":"(\d+)-compute@developer'),
    ("/storage/v1/b/jobs", r'"projectNumber":"(\d+)"'),
    ("/storage/v1/b?project=demo", r'"projectNumber":"(\d+)"'),
    ("/storage/v1/projects/demo/serviceAccount", r'"service-(\d+)@gs-project-accounts'),
    ("/computeMetadata/v1/project/numeric-project-id", r"^(\d+)$"),
)
"""Where a service says it, and how."""
TAKEN = ("/compute/v1/projects/{}", "/storage/v1/b?project={}")
"""Where it may stand for the project's id."""


@pytest.fixture
def answers(tmp_path: Path) -> dict[str, httpx.Response]:
    """What a local cloud answers under each of these paths."""
    number = number_of("demo")
    paths = [path for path, _ in SAID] + [path.format(number) for path in TAKEN]

    async def ask() -> dict[str, httpx.Response]:
        options = Options(project="demo", state=tmp_path, machines=False)
        async with LocalCloud(options) as cloud:
            url = cloud.endpoints.http
            async with httpx.AsyncClient(base_url=url, trust_env=False, headers=FLAVOR) as client:
                await client.post("/storage/v1/b?project=demo", json={"name": "jobs"})
                return {path: await client.get(path) for path in paths}

    return asyncio.run(ask())


def test_every_service_says_the_same_number(answers: dict[str, httpx.Response]):
    """Buckets, Compute Engine, service accounts and the metadata server."""
    said = {(path, form): re.findall(form, answers[path].text) for path, form in SAID}
    assert said == {where: [number_of("demo")] for where in said}


def test_the_number_stands_for_the_id(answers: dict[str, httpx.Response]):
    """Where Google takes either."""
    assert [answers[path.format(number_of("demo"))].status_code for path in TAKEN] == [200, 200]


def test_another_project_has_another_number():
    """And one that Google's could be: twelve digits."""
    assert number_of("demo") != number_of("other")
    assert re.fullmatch(r"\d{12}", number_of("demo"))
