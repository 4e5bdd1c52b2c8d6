"""Each method, parameter and field of Google's is done, refused by its name, or said to have no effect."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import httpx
import pytest

from localcloud.cloud import LocalCloud, Options
from localcloud.compute.api.call import WITHOUT_BODY
from localcloud.methods import known_method
from localcloud.storage.fields import BucketFields, ObjectFields
from localcloud.storage.undone import OBJECT_FIELDS, SETTINGS
from tests.localcloud.conformance.ignored import IGNORED
from tests.localcloud.conformance.write_methods import (
    ANSWERS,
    APIS,
    METHODS,
    PAGE,
    PARAMETERS,
    ApiMethod,
    answered,
    base_of,
    bound,
    document,
    is_done,
    listed,
    methods,
    page,
)

JSON = {"content-type": "application/json"}
FOLDERS = {
    "cloudresourcemanager": "projects",
    "cloudscheduler": "scheduler",
    "iam": "service_accounts",
    "logging": "logs",
    "cloudfunctions": "deployed",
    "run": "deployed",
}
"""Where the tests of an API are, if not in a folder of its name."""

_BY_THE_SERVER = (
    "etag", "generation", "hardDeleteTime", "id", "kind", "metageneration", "owner", "selfLink",
    "softDeleteTime", "timeCreated", "updated",
)  # fmt: skip
SET_BY_THE_SERVER = {
    "Bucket": (
        *_BY_THE_SERVER, "locationType", "objectRetention", "projectNumber", "satisfiesPZI", "satisfiesPZS",
    ),
    "Object": (
        *_BY_THE_SERVER, "bucket", "componentCount", "customerEncryption", "mediaLink", "restoreToken",
        "retentionExpirationTime", "size", "timeDeleted", "timeFinalized", "timeStorageClassUpdated",
    ),
}  # fmt: skip
"""Members of resources that no caller sets; Google ignores them, and so do we."""

ACCESS_LISTS = ("acl", "defaultObjectAcl")
"""Access control lists, which are kept beside the settings."""


def path_of(api: str, method: ApiMethod) -> str:
    """A path of the method, with names that nothing has."""
    return "/" + base_of(api) + method.path.replace("{}", "nothing")


def test_the_list_of_methods_is_that_of_googles_documents():
    """Derived anew it is the same; `write_methods.py` brings it up to date."""
    assert METHODS.read_text(encoding="utf-8") == listed()


def test_the_shapes_of_answers_are_those_of_googles_documents():
    """Derived anew they are the same; `write_methods.py` brings them up to date."""
    assert ANSWERS.read_text(encoding="utf-8") == answered()


def test_the_parameters_of_methods_are_those_of_googles_documents():
    """Derived anew they are the same; `write_methods.py` brings them up to date."""
    assert PARAMETERS.read_text(encoding="utf-8") == bound()


def test_the_page_says_what_is_done():
    """Its tables are those of the routes that there are; `write_methods.py` brings them up to date."""
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text)


@pytest.mark.parametrize(
    ("verb", "path", "method"),
    [
        ("POST", "/storage/v1/b/bucket/relocate", "storage.buckets.relocate"),
        ("GET", "/storage/v1/b/bucket/o/a%2Fb:c/acl", "storage.objectAccessControls.list"),
        ("POST", "/compute/beta/projects/p/zones/z/instances/i/suspend", "compute.instances.suspend"),
        ("POST", "/v1/projects/p/topics/t:setIamPolicy", "pubsub.projects.topics.setIamPolicy"),
        ("GET", "/v1/projects/p/topics/t", "pubsub.projects.topics.get"),
        ("GET", "/v1/projects/p/topics/t:getIamPolicy", "pubsub.projects.topics.getIamPolicy"),
        ("GET", "/v2/projects/p/logs", "logging.projects.logs.list"),
        ("GET", "/v2/flocks/p/logs", "logging.logs.list"),
        ("GET", "/storage/v1/b//o", ""),
        ("PATCH", "/v1/projects/p/topics/t:setIamPolicy", "pubsub.projects.topics.patch"),
        ("POST", "/compute/v1/projects/p/zones/z/instances/i/levitate", ""),
        ("GET", "/mailbox", ""),
    ],
)
def test_a_request_means_a_method(verb: str, path: str, method: str):
    """Also of Compute Engine's other versions; what Google does not have either means none."""
    assert known_method(verb, path) == method


async def _answers(state: Path, asked: Sequence[tuple[str, str]]) -> list[httpx.Response]:
    async with (
        LocalCloud(Options(project="nothing", state=state, machines=False)) as cloud,
        httpx.AsyncClient(base_url=cloud.endpoints.http, trust_env=False, timeout=60) as client,
    ):
        return [
            await client.request(verb, path, headers={"content-type": "application/json"})
            for verb, path in asked
        ]


def said(answer: httpx.Response) -> str:
    """The message of an error."""
    return str(answer.json()["error"]["message"]) if answer.is_error else ""


def test_a_method_that_is_not_done_says_so(tmp_path: Path):
    """501 with its name for each, whoever asks; 404 and 405 are for what Google does not have either."""
    undone = [(api, method) for api in APIS for method in methods(api) if not is_done(api, method)]
    asked = [(method.verb, path_of(api, method)) for api, method in undone]
    found = zip(undone, asyncio.run(_answers(tmp_path, asked)), strict=True)
    wrong = [
        f"{api}.{method.name}: {answer.status_code} {said(answer)}"
        for (api, method), answer in found
        if answer.status_code != 501 or not re.search(rf"does not do {api}\.[\w.]+\.$", said(answer))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_parameter_that_asks_for_nothing_is_taken(tmp_path: Path):
    """Clients write defaults out: false, as Python writes it too, 0 and nothing."""
    base = "/v1/projects/nothing/locations?filter="
    compute = "/compute/v1/projects/nothing/aggregated/instances?serviceProjectNumber="
    asked = [("GET", base), ("GET", f"{base}x"), *(("GET", compute + text) for text in ("0", "7"))]
    asked += [("GET", f"/storage/v1/b?project=nothing&softDeleted={text}") for text in ("False", "true")]
    assert [answer.status_code for answer in asyncio.run(_answers(tmp_path, asked))] == [200, 501] * 3


def test_a_body_is_read_by_the_methods_that_take_one():
    """And by no other one of Compute Engine's."""
    for method in methods("compute"):
        if method.verb in ("POST", "PUT", "PATCH") and is_done("compute", method):
            ends = [re.sub(r"\{\w+\}", "{}", end) for end in WITHOUT_BODY]
            assert method.path.endswith(tuple(ends)) == (not method.body), method.name


def test_what_google_has_not_is_not_found(tmp_path: Path):
    """One fact apart: another word at the end."""
    asked = [("POST", "/compute/v1/projects/p/zones/z/instances/i/levitate"), ("POST", "/v2/nothing")]
    assert [answer.status_code for answer in asyncio.run(_answers(tmp_path, asked))] == [404, 404]


@cache
def text_of_tests(api: str) -> str:
    """The text of the tests of an API."""
    folder = Path(__file__).parents[1] / FOLDERS.get(api, api)
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py")))


def is_tested(api: str, name: str) -> bool:
    """Whether the tests of an API name it, as it is or as Google's Python clients do."""
    snake = re.sub(r"(?<!^)([A-Z])", lambda match: "_" + match[1].lower(), name.partition(".")[2] or name)
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text_of_tests(api)) for word in (name, snake))


def ignored(api: str) -> set[str]:
    """What is said to have no effect."""
    return {name for names, _ in IGNORED.get(api, ()) for name in names}


def open_parameters(api: str) -> Iterator[tuple[str, ApiMethod]]:
    """Parameters of methods that are done, that no test names and that are not said to have no effect."""
    for method in methods(api):
        if is_done(api, method):
            for name in method.parameters:
                if name not in ignored(api) and not is_tested(api, name):
                    yield name, method


@pytest.mark.parametrize("api", APIS)
def test_a_parameter_is_done_or_refused(api: str, tmp_path: Path):
    """What no test of the API names is refused, and the refusal names it."""
    left = list(open_parameters(api))
    asked = [(method.verb, f"{path_of(api, method)}?{name}=2") for name, method in left]
    found = zip(left, asyncio.run(_answers(tmp_path, asked)), strict=True)
    wrong = [
        f"{method.name}?{name}: {answer.status_code} {said(answer)}"
        for (name, method), answer in found
        if answer.status_code not in (400, 501) or name not in answer.text
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("message", "kept", "refused"),
    [
        ("Bucket", BucketFields, {path.partition(".")[0] for path in SETTINGS}),
        ("Object", ObjectFields, set(OBJECT_FIELDS)),
    ],
)
def test_a_member_of_a_resource_is_kept_or_refused(message: str, kept: type, refused: set[str]):
    """Or it is the server's alone; and what is kept is tested, or said to have no effect."""
    names = {re.sub(r"_(\w)", lambda match: match[1].upper(), name) for name in kept.__struct_fields__}
    known = set(document("storage")["schemas"][message]["properties"])
    assert known - names - refused - {*SET_BY_THE_SERVER[message], *ACCESS_LISTS} == set()
    silent = {name for name in names if not is_tested("storage", name)}
    assert silent <= refused | {name.partition(".")[2] for name in ignored("storage")}


def test_nothing_is_said_to_have_no_effect_that_is_not_there():
    """Each is a parameter of a method that is done, or a member of a message."""
    for api in APIS:
        done = [method for method in methods(api) if is_done(api, method)]
        there = {name for method in done for name in method.parameters}
        schemas = document(api)["schemas"]
        there |= {
            f"{message}.{name}" for message in schemas for name in schemas[message].get("properties", {})
        }
        assert ignored(api) - there == set()
