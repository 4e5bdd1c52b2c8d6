"""The project and its functions, as gcloud lists them; held against Google's documents."""

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from localcloud.clock import Clock
from localcloud.cloud import LocalCloud, Options
from localcloud.deployed import DeployedFunction, DeployedService
from localcloud.deployed.bases import BASES
from localcloud.deployment import read_manifest
from localcloud.http import build_app
from tests.localcloud.conformance.discovery import Exchange
from tests.localcloud.stand import PROJECT, Stand, described
from tests.long import long

PLACE = f"projects/{PROJECT}/locations/us-central1"
RECOVER = DeployedFunction(
    name="recover-spot",
    entry_point="recover_spot",
    url="http://127.0.0.1:7001",
    memory="512M",
    timeout_seconds=300,
    topic="spotwarden-recover-spot",
)
ANSWER = DeployedFunction(
    name="answer-notice",
    entry_point="answer_notice",
    url="http://127.0.0.1:7002",
    memory="256M",
    timeout_seconds=60,
    topic="",
)
VERSIONS = {"cloudfunctions": "v2", "run": "v1"}


@pytest.fixture
def ask() -> Callable[..., httpx.Response]:
    """Ask something of a project with two functions; the answer must fit the document of its API."""
    service = DeployedService(project=PROJECT, clock=Clock(), running=lambda: [RECOVER, ANSWER])

    async def get(path: str, **query: str) -> httpx.Response:
        transport = httpx.ASGITransport(build_app([*service.routes(), *service.undone()]))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
            return await client.get(path, params=query)

    def asked(path: str, **query: str) -> httpx.Response:
        answer = asyncio.run(get(f"/{path}", **query))
        api, _, rest = path.partition("/")
        exchange = Exchange(
            method="GET",
            path=f"/{rest}",
            query=[*query.items()],
            status=answer.status_code,
            response=answer.json(),
        )
        if rest.startswith(VERSIONS.get(api, "-")):
            assert described(api, VERSIONS[api]).check(exchange) == []
        return answer

    return asked


def test_another_project_is_nobodys(ask):
    """403, as for one that the caller may not see."""
    assert ask("cloudfunctions/v2/projects/other/locations/-/functions").status_code == 403
    assert ask("run/v1/projects/other/locations/-/services").status_code == 403


@pytest.mark.parametrize("location", ["-", "us-central1"])
def test_functions_are_listed_with_what_triggers_them(ask, location):
    """One that answers requests has no trigger."""
    path = f"cloudfunctions/v2/projects/{PROJECT}/locations/{location}/functions"
    recover, answer = ask(path, pageSize="100").json()["functions"]
    assert recover["name"] == f"{PLACE}/functions/recover-spot"
    assert recover["eventTrigger"]["pubsubTopic"] == f"projects/{PROJECT}/topics/spotwarden-recover-spot"
    assert (recover["state"], recover["url"]) == ("ACTIVE", "http://127.0.0.1:7001")
    config = recover["serviceConfig"]
    assert (config["timeoutSeconds"], config["availableMemory"]) == (300, "512M")
    assert config["serviceAccountEmail"] == f"spotwarden-recover-spot@{PROJECT}.iam.gserviceaccount.com"
    assert "eventTrigger" not in answer
    assert ask(f"{path}/recover-spot").status_code == (200 if location != "-" else 404)


def test_a_function_that_there_is_not_is_not_found(ask):
    """404 with its name; in another place there are none at all."""
    assert "functions/none' was not found" in ask(f"cloudfunctions/v2/{PLACE}/functions/none").text
    assert ask(f"cloudfunctions/v2/projects/{PROJECT}/locations/us-east1/functions").json() == {}


def test_of_the_first_generation_there_are_none(ask):
    """Gcloud asks for both, and for the places of each."""
    assert ask(f"cloudfunctions/v1/projects/{PROJECT}/locations/-/functions").json() == {}
    for version in ("v1", "v2"):
        [place] = ask(f"cloudfunctions/{version}/projects/{PROJECT}/locations").json()["locations"]
        assert place["locationId"] == "us-central1"


def test_each_function_is_a_service_of_cloud_run(ask):
    """That is ready, with its URL."""
    items = ask(f"run/v1/projects/{PROJECT}/locations/-/services").json()["items"]
    assert [item["metadata"]["name"] for item in items] == ["recover-spot", "answer-notice"]
    assert items[0]["status"]["url"] == "http://127.0.0.1:7001"
    assert items[0]["status"]["conditions"][0]["status"] == "True"


@pytest.mark.parametrize(
    "path",
    [
        f"cloudfunctions/v2/{PLACE}/functions",
        f"run/v1/{PLACE}/services",
    ],
)
def test_a_parameter_that_is_not_done_is_refused(ask, path):
    """By its name."""
    answer = ask(path, filter="x") if not path.startswith("run") else ask(path, labelSelector="x")
    assert answer.status_code == 501
    assert "does not do the parameter" in answer.text


@pytest.mark.parametrize(
    "path", ["cloudfunctions/v1/operations", "run/v2/anything/else", "v1/projects/project/dashboards"]
)
def test_of_other_versions_nothing_is_done(ask, path):
    """501 with the path."""
    answer = ask(path)
    assert (answer.status_code, f"GET /{path}" in answer.text) == (501, True)


def test_each_api_has_a_path_of_its_own():
    """Several have methods of the same path."""
    assert len(set(BASES.values())) == len(BASES)


@pytest.fixture
def gcloud(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Run gcloud against such a project; give the JSON that it prints."""
    if not shutil.which("gcloud"):
        pytest.skip("gcloud is not installed: its lists of functions and services were not tried")
    stand = Stand()
    service = stand.call(DeployedService, project=PROJECT, clock=Clock(), running=lambda: [RECOVER, ANSWER])
    service.admin_routes = list
    stand.serve([service])
    yield lambda *words: json.loads(stand.gcloud(tmp_path / "home", *words, "--format=json"))
    stand.close()


@long
def test_gcloud_lists_functions_and_services(gcloud):
    """`gcloud functions list` (of both generations) and `gcloud run services list`."""
    functions = {found["name"].rpartition("/")[2] for found in gcloud("functions", "list")}
    assert functions == {"answer-notice", "recover-spot"}
    services = gcloud("run", "services", "list")
    assert sorted(found["metadata"]["name"] for found in services) == ["answer-notice", "recover-spot"]


def test_a_local_cloud_without_functions_has_none(tmp_path: Path):
    """And another API answers 501 with the name of its method."""

    async def scene() -> list[httpx.Response]:
        async with (
            LocalCloud(Options(project=PROJECT, state=tmp_path, machines=False)) as cloud,
            httpx.AsyncClient(base_url=cloud.endpoints.http, trust_env=False, timeout=60) as client,
        ):
            paths = (
                f"cloudfunctions/v2/{PLACE}/functions",
                f"secretmanager/v1/projects/{PROJECT}/secrets",
                f"cloudfunctions/v2/{PLACE}/functions/x:getIamPolicy",
            )
            return [await client.get(path) for path in paths]

    functions, secrets, policy = asyncio.run(scene())
    assert functions.json() == {}
    assert secrets.status_code == 501
    assert "does not do secretmanager.projects.secrets.list." in secrets.text
    assert "does not do cloudfunctions.projects.locations.functions.getIamPolicy." in policy.text


def test_a_local_cloud_shows_the_functions_whose_processes_it_keeps(tmp_path: Path):
    """By their names as deployed; one that answers requests listens to no topic."""
    manifest = read_manifest(Path(__file__).parents[3] / "infra" / "functions.yaml")
    rows = {function.name: function for function in manifest.functions}
    kept = {
        name: SimpleNamespace(function=rows[name], url=f"http://127.0.0.1:{number}")
        for number, name in ((7001, "recover_spot"), (7002, "answer_notice"))
    }

    async def scene() -> httpx.Response:
        async with (
            LocalCloud(Options(project=PROJECT, state=tmp_path, machines=False)) as cloud,
            httpx.AsyncClient(base_url=cloud.endpoints.http, trust_env=False, timeout=60) as client,
        ):
            cloud.functions.processes = SimpleNamespace(kept=kept)
            return await client.get(f"cloudfunctions/v2/{PLACE}/functions")

    shown = {found["name"].rpartition("/")[2]: found for found in asyncio.run(scene()).json()["functions"]}
    assert {name: found["url"][-4:] for name, found in shown.items()} == {
        "recover-spot": "7001",
        "answer-notice": "7002",
    }
    assert {name for name, found in shown.items() if "eventTrigger" in found} == {"recover-spot"}
    assert shown["recover-spot"]["serviceConfig"]["timeoutSeconds"] == rows["recover_spot"].timeout_seconds
