"""Partial answers: every method that is done gives the fields that are asked for, and no unknown ones."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from localcloud.cloud import LocalCloud, Options
from tests.localcloud.conformance.write_methods import APIS, base_of, document, is_done, methods

WRONG = "Invalid field selection nosuchfield"
IMAGE = "projects/debian-cloud/global/images/family/debian-12"
ZONE = "us-central1-a"
NEWS = "projects/demo/topics/news"
INSTANCES = f"/compute/v1/projects/demo/zones/{ZONE}/instances"
SCENE: Sequence[tuple[str, str, Any]] = (
    ("POST", "/storage/v1/b?project=demo", {"name": "jobs"}),
    ("POST", "/upload/storage/v1/b/jobs/o?uploadType=media&name=a", {}),
    ("PUT", "/v1/projects/demo/topics/news", {}),
    (
        "POST",
        INSTANCES,
        {
            "name": "vm",
            "machineType": f"zones/{ZONE}/machineTypes/e2-medium",
            "disks": [{"boot": True, "initializeParams": {"sourceImage": IMAGE}}],
            "networkInterfaces": [{"network": "global/networks/default"}],
        },
    ),
    ("POST", "/v2/projects/demo/sinks", {"name": "s", "destination": f"pubsub.googleapis.com/{NEWS}"}),
)  # fmt: skip
"""What is there when a test begins."""

Asked = tuple[str, str, Any]


def answers(state: Path, asked: Sequence[Asked]) -> list[httpx.Response]:
    """What a local cloud with that scene answers."""

    async def ask() -> list[httpx.Response]:
        options = Options(project="demo", state=state, machines=False)
        async with (
            LocalCloud(options) as cloud,
            httpx.AsyncClient(base_url=cloud.endpoints.http, trust_env=False, timeout=60) as client,
        ):
            for verb, path, body in SCENE:
                (await client.request(verb, path, json=body)).raise_for_status()
            return [await client.request(verb, path, json=body) for verb, path, body in asked]

    return asyncio.run(ask())


@pytest.mark.parametrize("api", APIS)
def test_a_field_that_no_answer_has_is_refused(api: str, tmp_path: Path):
    """400 by every method that answers with something, before anything is done or looked for."""
    done = [method for method in methods(api) if is_done(api, method) and method.answer]
    base = "/" + base_of(api)
    # Of an empty message there is nothing to choose; an upload is done under another path.
    told = [
        method
        for method in done
        if document(api)["schemas"][method.answer].get("properties") and method.name != "objects.insert"
    ]
    asked = [
        (method.verb, f"{base}{method.path.replace('{}', 'nothing')}?fields=nosuchfield", {})
        for method in told
    ]
    found = zip(told, answers(tmp_path, asked), strict=True)
    wrong = [
        f"{method.name}: {answer.status_code}"
        for method, answer in found
        if answer.status_code != 400 or answer.json()["error"]["message"] != WRONG
    ]
    assert not wrong, "\n".join(wrong)


CHOSEN: Sequence[tuple[str, str, Any]] = (
    ("/storage/v1/b?project=demo", "items/name,nextPageToken", {"items": [{"name": "jobs"}]}),
    ("/storage/v1/b/jobs/o", "items(name,size)", {"items": [{"name": "a", "size": "2"}]}),
    ("/storage/v1/b/jobs/o/a", "metadata", {}),
    (f"{INSTANCES}/vm", "name,disks/boot", {"name": "vm", "disks": [{"boot": True}]}),
    (f"{INSTANCES}?fields=name", "items(name)", 400),
    (f"{INSTANCES}/vm", "labels/anything", {}),
    (f"{INSTANCES}/vm", "name/first", 400),
    (f"{INSTANCES}/vm", "disks/size", 400),
    ("/compute/v1/projects/demo/aggregated/instances", "items/*/instances/name,kind", None),
    (
        "/compute/v1/projects/demo/aggregated/instances",
        f"items/zones/{ZONE}/instances/name",
        400,
    ),
    ("/v1/projects/demo/topics", "topics/name", {"topics": [{"name": NEWS}]}),
    ("/v1/projects/demo/topics/news", "$fields", None),
    ("/v2/projects/demo/sinks", "sinks/name", {"sinks": [{"name": "s"}]}),
    ("/v3/projects/demo/monitoredResourceDescriptors", "nextPageToken", {}),
    ("/v1/projects/demo/locations/us-central1", "locationId", {"locationId": "us-central1"}),
)


def _asked() -> Iterator[Asked]:
    for path, mask, _ in CHOSEN:
        mark = "&" if "?" in path else "?"
        yield "GET", f"{path}{mark}{'$fields=name' if mask == '$fields' else f'fields={mask}'}", None


def test_an_answer_has_the_fields_that_were_asked_for(tmp_path: Path):
    """In every service: nested, in lists, of maps any key; below text there is nothing."""
    found = answers(tmp_path, [*_asked()])
    for (path, mask, expected), answer in zip(CHOSEN, found, strict=True):
        said = answer.status_code if answer.is_error else answer.json()
        if expected is not None:
            assert said == expected, (path, mask)
    whole, only = (found[[mask for _, mask, _ in CHOSEN].index(mask)] for mask in _SPECIAL)
    assert whole.json()["items"][f"zones/{ZONE}"] == {"instances": [{"name": "vm"}]}
    assert only.json() == {"name": NEWS}


_SPECIAL = ("items/*/instances/name,kind", "$fields")


def test_nothing_is_done_where_the_fields_are_wrong(tmp_path: Path):
    """The bucket is not made; with fields that there are it is, and a refusal is told whole."""
    path = "/storage/v1/b?project=demo"
    wrong, missing, made, again, got = answers(
        tmp_path,
        [
            ("POST", f"{path}&fields=nosuchfield", {"name": "other"}),
            ("GET", "/storage/v1/b/other?fields=name", None),
            ("POST", f"{path}&fields=name", {"name": "other"}),
            ("POST", f"{path}&fields=name", {"name": "other"}),
            ("GET", "/storage/v1/b/jobs/o/a?alt=media&fields=name", None),
        ],
    )
    assert [answer.status_code for answer in (wrong, missing, again)] == [400, 404, 409]
    assert made.json() == {"name": "other"}
    assert again.json()["error"]["code"] == 409
    assert got.content == b"{}"


def test_what_is_uploaded_is_answered_in_part(tmp_path: Path):
    """Uploads have paths of their own."""
    path = "/upload/storage/v1/b/jobs/o?uploadType=media&name=b&fields="
    wrong, made = answers(tmp_path, [("POST", path + "nosuchfield", {}), ("POST", path + "size", {})])
    assert (wrong.status_code, made.json()) == (400, {"size": "2"})
