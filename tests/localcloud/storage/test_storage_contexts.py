"""Contexts of objects: set, changed, cleared, filtered by, and taken along."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from google.cloud import storage

from localcloud.storage.contexts import LONGEST, MOST_CONTEXTS, stamped

OBJECTS = "/storage/v1/b/bucket/o"
UPLOAD = "/upload/storage/v1/b/bucket/o"
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def contexts(**values: str | None) -> dict[str, Any]:
    """A body that asks for these; None for one that is to go."""
    return {"contexts": {"custom": {key: value and {"value": value} for key, value in values.items()}}}


def shown(answer: httpx.Response | dict[str, Any]) -> dict[str, str]:
    """The contexts of an object."""
    resource = answer if isinstance(answer, dict) else answer.json()
    return {key: held["value"] for key, held in resource.get("contexts", {}).get("custom", {}).items()}


@pytest.fixture
def make(bucket: storage.Bucket, http: httpx.Client) -> Any:
    """Makes an object with contexts, by a resumable upload."""

    def made(name: str, **values: str) -> httpx.Response:
        query = {"uploadType": "resumable", "name": name}
        begun = http.post(UPLOAD, params=query, json=contexts(**values))
        return http.put(begun.headers["location"], content=b"x")

    return made


def test_an_object_is_made_with_contexts(make: Any, http: httpx.Client):
    """Each has the time when it was made."""
    assert shown(make("a", team="eyes", step="1")) == {"team": "eyes", "step": "1"}
    told = http.get(f"{OBJECTS}/a").json()["contexts"]["custom"]["team"]
    assert told["createTime"] == told["updateTime"]


def test_a_patch_changes_some_and_leaves_the_others(make: Any, http: httpx.Client):
    """One without a value goes, as does one that is null; null for all clears all."""
    make("a", team="eyes", step="1", gone="x", lost="x")
    body = contexts(step="2", gone=None, new="3")
    body["contexts"]["custom"]["lost"] = {"value": None, "createTime": "2026-11-23T00:00:00Z"}
    wanted = {"team": "eyes", "step": "2", "new": "3"}
    assert shown(http.patch(f"{OBJECTS}/a", json=body)) == wanted
    assert shown(http.patch(f"{OBJECTS}/a", json={"metadata": {"k": "v"}})) == wanted
    assert shown(http.patch(f"{OBJECTS}/a", json={"contexts": {}})) == wanted
    assert shown(http.patch(f"{OBJECTS}/a", json={"contexts": {"custom": None}})) == {}
    http.patch(f"{OBJECTS}/a", json=contexts(team="ears"))
    assert "contexts" not in http.patch(f"{OBJECTS}/a", json={"contexts": None}).json()


def test_the_times_of_a_context_are_the_servers():
    """A changed one keeps that of its making; one that is set to what it is keeps both."""
    old = stamped({}, contexts(same="1", other="1"), NOW)
    later = NOW + timedelta(hours=1)
    new = stamped(old, contexts(same="1", other="2"), later)["contexts"]["custom"]
    before, after = "2026-11-23T12:00:00.000Z", "2026-11-23T13:00:00.000Z"
    assert new["same"] == {"value": "1", "createTime": before, "updateTime": before}
    assert new["other"] == {"value": "2", "createTime": before, "updateTime": after}


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ('contexts."team":*', ["a", "b"]),
        ('-contexts."team":*', ["c"]),
        ('contexts."team"="eyes"', ["a"]),
        ('-contexts."team"="eyes"', ["b", "c"]),
        ('contexts."nothing":*', []),
    ],
)
def test_a_list_is_filtered_by_contexts(make: Any, http: httpx.Client, asked: str, names: list[str]):
    """By a key or a key and its value, there or not; page after page."""
    make("a", team="eyes")
    make("b", team="ears")
    make("c")
    seen, token = list[str](), ""
    while True:
        query = {"filter": asked, "maxResults": "1", "pageToken": token}
        page = http.get(OBJECTS, params=query).json()
        seen += [item["name"] for item in page.get("items", ())]
        token = page.get("nextPageToken", "")
        if not token:
            break
    assert seen == names


def test_prefixes_are_exempt_from_a_filter(make: Any, http: httpx.Client):
    """As Google's discovery document says."""
    make("folder/a")
    make("b")
    page = http.get(OBJECTS, params={"filter": 'contexts."team":*', "delimiter": "/"}).json()
    assert (page.get("items"), page["prefixes"]) == (None, ["folder/"])


def test_a_filter_that_is_not_done_is_refused(bucket: storage.Bucket, http: httpx.Client):
    """501, and not a list that leaves too little out."""
    refused = http.get(OBJECTS, params={"filter": 'contexts."a":* AND contexts."b":*'})
    assert refused.status_code == 501
    assert "does not do the filter" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "query", "wanted"),
    [
        ({}, {}, {"team": "eyes"}),
        (contexts(step="1"), {}, {"step": "1"}),
        ({}, {"dropContextGroups": "custom"}, {}),
        ({"contentType": "text/plain"}, {}, {"team": "eyes"}),
        (contexts(step="1"), {"dropContextGroups": "custom"}, {"step": "1"}),
    ],
)
def test_a_copy_has_the_contexts_it_asks_for_else_its_sources(
    make: Any, http: httpx.Client, body, query, wanted
):
    """And neither, where they are dropped."""
    make("a", team="eyes")
    copied = http.post(f"{OBJECTS}/a/rewriteTo/b/bucket/o/b", params=query, json=body)
    assert shown(copied.json()["resource"]) == wanted


def test_contexts_alone_leave_the_metadata_of_a_copy_as_it_was(make: Any, http: httpx.Client):
    """They are none of it."""
    make("a", team="eyes")
    http.patch(f"{OBJECTS}/a", json={"contentType": "text/x"})
    copied = http.post(f"{OBJECTS}/a/copyTo/b/bucket/o/b", json=contexts(step="1")).json()
    assert (copied["contentType"], shown(copied)) == ("text/x", {"step": "1"})


@pytest.mark.parametrize(
    ("destination", "query", "wanted"),
    [
        ({}, {}, {"team": "ears", "a": "1", "b": "2"}),
        (contexts(step="1"), {}, {"step": "1"}),
        ({}, {"dropContextGroups": "custom"}, {}),
    ],
)
def test_a_composite_has_the_contexts_of_its_sources(
    make: Any, http: httpx.Client, destination, query, wanted
):
    """Merged, unless it has its own."""
    make("a", team="eyes", a="1")
    make("b", team="ears", b="2")
    body = {"sourceObjects": [{"name": "a"}, {"name": "b"}], "destination": destination}
    assert shown(http.post(f"{OBJECTS}/c/compose", params=query, json=body)) == wanted


@pytest.mark.parametrize(
    ("key", "value", "status"),
    [
        ("k" * LONGEST, "v" * LONGEST, 200),
        ("k" * (LONGEST + 1), "v", 400),
        ("k", "é" * (LONGEST // 2 + 1), 400),
        ("", "v", 400),
        ("k", "", 400),
        ("-k", "v", 400),
        ('a"b', "v", 400),
        ("a/b", "v", 400),
        ("k", "a'b", 400),
        ("k", "a\\b", 400),
        ("google:k", "v", 400),
        ("k", 7, 400),
    ],
)
def test_keys_and_values_have_their_form(make: Any, http: httpx.Client, key: str, value: Any, status: int):
    """As "Use object contexts" says: begun by a letter or digit, no quotation marks and slashes."""
    make("a")
    body = {"contexts": {"custom": {key: {"value": value}}}}
    assert http.patch(f"{OBJECTS}/a", json=body).status_code == status


def test_an_object_has_so_many_contexts_at_most(make: Any, http: httpx.Client):
    """Together with those that it has."""
    make("a", **{f"k{number}": "v" for number in range(MOST_CONTEXTS)})
    assert http.patch(f"{OBJECTS}/a", json=contexts(k1="other")).status_code == 200
    assert http.patch(f"{OBJECTS}/a", json=contexts(more="v")).status_code == 400


def test_contexts_outlast_a_restart(make: Any, served: Any, http: httpx.Client):
    """As all of an object."""
    make("a", team="eyes")
    served.restart()
    assert shown(http.get(f"{OBJECTS}/a")) == {"team": "eyes"}
