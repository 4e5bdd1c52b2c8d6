"""The validator itself: it lets real exchanges pass, and it catches each kind of error."""

import asyncio
from dataclasses import replace

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from localcloud.http import build_app
from tests.localcloud.conformance.discovery import Discovery, Exchange
from tests.localcloud.conformance.exceptions import EXCEPTIONS
from tests.localcloud.conformance.recorder import Recorder

STORAGE = Discovery.load("storage", "v1")
COMPUTE = Discovery.load("compute", "v1")

OBJECT = {
    "kind": "storage#object",
    "name": "a/b",
    "bucket": "bucket",
    "generation": "1700000000000001",
    "size": "5",
    "timeCreated": "2026-11-21T08:00:00.123Z",
    "metadata": {"any": "text"},
    "componentCount": 2,
}
GET = Exchange(method="GET", path="/storage/v1/b/bucket/o/a%2Fb", status=200, response=OBJECT)
INSTANCE = {
    "name": "test-vm",
    "machineType": "zones/us-central1-a/machineTypes/n1-standard-4",
    "scheduling": {"provisioningModel": "SPOT", "maxRunDuration": {"seconds": "3600"}},
    "guestAccelerators": [{"acceleratorCount": 1}],
}
OPERATION = {
    "kind": "compute#operation",
    "id": "7",
    "status": "DONE",
    "insertTime": "2026-11-21T00:00:00.000-08:00",
}
INSERT = Exchange(
    method="POST",
    path="/compute/v1/projects/project/zones/us-central1-a/instances",
    request=INSTANCE,
    status=200,
    response=OPERATION,
)
ERROR = {"error": {"code": 404, "message": "gone", "errors": [{"reason": "notFound", "message": "gone"}]}}


@pytest.mark.parametrize(
    "exchange", [GET, replace(GET, status=404, response=ERROR), replace(GET, status=304, response=None)]
)
def test_a_true_storage_exchange_passes(exchange: Exchange):
    """An answer, an error and "not modified" are as the document has them."""
    assert STORAGE.check(exchange) == []


def test_a_true_compute_exchange_passes():
    """An insert with nested objects, lists, 64-bit numbers and enums is as the document has it."""
    assert COMPUTE.check(INSERT) == []


PLANTED = {
    "a path that is not there": (replace(GET, path="/storage/v1/b/bucket/blobs"), "no such method"),
    "a method the path does not take": (replace(GET, method="POST"), "no such method"),
    "an unknown parameter": (replace(GET, query=[("generatoin", "1")]), "query generatoin: there is no such"),
    "a parameter of the wrong type": (replace(GET, query=[("generation", "x")]), "'x' is no int64"),
    "a parameter that is no enum value": (replace(GET, query=[("projection", "some")]), "'some' is none of"),
    "a parameter given twice": (replace(GET, query=[("generation", "1")] * 2), "given twice"),
    "a 64-bit number as a number": (replace(GET, response=OBJECT | {"size": 5}), "int64 goes as a string"),
    "a 64-bit number that is none": (replace(GET, response=OBJECT | {"size": "-5"}), "'-5' is no uint64"),
    "a 32-bit number that is too large": (
        replace(GET, response=OBJECT | {"componentCount": 1 << 31}),
        "is no int32",
    ),
    "a boolean for a number": (replace(GET, response=OBJECT | {"componentCount": True}), "is no integer"),
    "a moment without a zone": (
        replace(GET, response=OBJECT | {"timeCreated": "2026-11-21T08:00:00"}),
        "no RFC 3339 date-time",
    ),
    "a moment that never was": (
        replace(GET, response=OBJECT | {"timeCreated": "2026-02-30T08:00:00Z"}),
        "no RFC 3339 date-time",
    ),
    "an unknown field": (
        replace(GET, response=OBJECT | {"sise": "5"}),
        "response.sise: there is no such field",
    ),
    "a map value of the wrong type": (
        replace(GET, response=OBJECT | {"metadata": {"a": 1}}),
        "response.metadata.a",
    ),
    "another kind": (replace(GET, response=OBJECT | {"kind": "storage#bucket"}), "is not storage#object"),
    "no kind": (replace(GET, response={"name": "a"}), "None is not storage#object"),
    "an answer without a body": (replace(GET, response=None), "there is no body"),
    "a body where there is none": (
        Exchange(method="DELETE", path=GET.path, status=200, response=OBJECT),
        "answers with no body",
    ),
    "a request body where there is none": (replace(GET, request={"name": "a"}), "takes no body"),
    "an error without a reason": (
        replace(GET, status=404, response={"error": {"code": 404, "message": "gone", "errors": [{}]}}),
        "objects with a reason",
    ),
    "an error with another code": (replace(GET, status=410, response=ERROR), "404 is not the status"),
    "an error as text": (replace(GET, status=404, response=None), "no error body"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_storage_error_is_caught(kind: str):
    """Each kind of departure from the document is found, and nothing else is."""
    exchange, expected = PLANTED[kind]
    found = STORAGE.check(exchange)
    assert len(found) == 1
    assert expected in found[0]


PLANTED_COMPUTE = {
    "a nested unknown field": (INSTANCE | {"scheduling": {"spot": True}}, "request.scheduling.spot"),
    "a nested enum value": (INSTANCE | {"scheduling": {"provisioningModel": "spot"}}, "'spot' is none of"),
    "a name that breaks the pattern": (INSTANCE | {"name": "Test_VM"}, "does not match"),
    "a list item of the wrong type": (INSTANCE | {"guestAccelerators": ["t4"]}, "guestAccelerators[0]"),
    "a required field left out": ({"machineType": "x"}, "request.name: it is required"),
}


@pytest.mark.parametrize("kind", PLANTED_COMPUTE)
def test_a_planted_compute_error_is_caught(kind: str):
    """Requests are held against the document as strictly as answers."""
    body, expected = PLANTED_COMPUTE[kind]
    found = COMPUTE.check(replace(INSERT, request=body))
    assert len(found) == 1
    assert expected in found[0]


def test_a_project_that_breaks_its_pattern_is_caught():
    """Path parameters are held against their patterns, too."""
    found = COMPUTE.check(replace(INSERT, path=INSERT.path.replace("/project/", "/Pro_ject/")))
    assert "path project" in found[0]


def test_a_required_parameter_left_out_is_caught():
    """A list of buckets needs a project; a refusal because of just that does not."""
    listing = Exchange(method="GET", path="/storage/v1/b", status=200, response={"kind": "storage#buckets"})
    assert "query project: it is required" in STORAGE.check(listing)[0]
    refused = {"error": {"code": 400, "message": "Required", "errors": [{"reason": "required"}]}}
    assert STORAGE.check(replace(listing, status=400, response=refused)) == []


def test_what_was_refused_may_be_wrong():
    """Nobody is blamed for a bad request that was answered with 400, or for no method with 404."""
    refused = {"error": {"code": 400, "message": "No.", "errors": [{"reason": "invalid"}]}}
    assert COMPUTE.check(replace(INSERT, request={"nam": 1}, status=400, response=refused)) == []
    assert STORAGE.check(replace(GET, path="/storage/v1/nothing", status=404, response=ERROR)) == []


def test_every_exception_names_its_reason():
    """What is let through although the document does not have it is written down with why."""
    assert all(len(allowed.reason) > 20 for allowed in EXCEPTIONS)


async def _answer(request: Request) -> Response:
    body = await request.json()
    return JSONResponse(OBJECT | body)


async def _converse(recorder: Recorder, body: dict[str, object]) -> None:
    routes = [Route("/storage/v1/b/bucket/o/a", _answer, methods=["PATCH"])]
    app = build_app(routes, middleware=[recorder.middleware()])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://local") as client:
        await client.patch("/storage/v1/b/bucket/o/a", json=body)
        await client.get("/elsewhere")


def _ask(body: dict[str, object]) -> Recorder:
    recorder = Recorder()
    asyncio.run(_converse(recorder, body))
    return recorder


def test_the_recorder_keeps_what_passes_through_an_app():
    """Method, path, query, status and both bodies are kept; paths of no API are not judged."""
    recorder = _ask({"contentType": "text/plain"})
    assert [exchange.method for exchange in recorder.exchanges] == ["PATCH", "GET"]
    assert recorder.exchanges[0].request == {"contentType": "text/plain"}
    assert recorder.findings() == []


def test_the_recorder_reports_what_does_not_fit():
    """A wrong answer of an app becomes a finding that names the call."""
    (request, response) = _ask({"contentTyp": "text/plain"}).findings()
    assert request.startswith("PATCH /storage/v1/b/bucket/o/a → 200: request.contentTyp")
    assert "response.contentTyp" in response
