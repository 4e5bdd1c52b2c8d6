"""How the Compute adapter asks for a VM, and how it takes a no, an outage and nonsense."""

import json
from datetime import timedelta

import msgspec
import pytest

from spotwarden.gcp.compute import ComputeEngine
from spotwarden.model.request import Request
from spotwarden.ports import RejectedError, UnansweredError
from tests.contract.retry_policies import QUICK
from tests.contract.scripted import Scripted

OPERATION = {"name": "operation-1", "status": "RUNNING", "operationType": "insert"}
INSERT = Request(
    method="POST",
    path="/compute/beta/projects/demo/zones/us-central1-a/instances",
    query={"alt": "json", "sourceInstanceTemplate": "https://x/y?z&w"},
    body={"name": "n", "fieldOfTomorrow": {"count": "5"}, "text": "grüße"},
)


def test_a_launch_sends_what_gcloud_would(google: Scripted, compute: ComputeEngine):
    """Path, query and body as they are, fields that no client library knows included, plus the request id."""
    google.say(OPERATION)
    compute.launch(INSERT, "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f11")
    [asked] = google.asked
    assert (asked.method, asked.path) == ("POST", INSERT.path)
    assert asked.query == {**INSERT.query, "requestId": "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f11"}
    assert json.loads(asked.body) == INSERT.body
    assert asked.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "bad",
    [
        {"method": "DELETE"},
        {"path": "/storage/v1/b/x"},
        {"path": "@example.com/compute/v1/projects/demo/zones/z/instances"},
        {"path": "/compute/v1/projects/demo/zones/z/instances?requestId=0"},
        {"path": "//example.com/compute/v1/projects/demo/zones/z/instances"},
    ],
)
def test_only_a_create_request_is_sent(google: Scripted, compute: ComputeEngine, bad: dict[str, str]):
    """Whatever came out of a script, the token goes nowhere but to Compute Engine."""
    google.say(OPERATION)
    with pytest.raises(ValueError, match="Not a create request"):
        compute.launch(msgspec.structs.replace(INSERT, **bad), "r")
    assert google.asked == []


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, "spotwarden"), ({"K_SERVICE": "recover-spot"}, "spotwarden/recover-spot")],
)
def test_the_audit_log_can_tell_which_function_asked(
    google: Scripted, compute: ComputeEngine, monkeypatch, environment: dict[str, str], expected: str
):
    """By its user agent: Cloud Run says which service it is; a developer's command is none."""
    monkeypatch.delenv("K_SERVICE", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    google.say(OPERATION)
    compute.launch(INSERT, "r")
    assert google.asked[0].headers["User-Agent"] == expected


def test_a_redirect_is_not_followed(google: Scripted, compute: ComputeEngine):
    """Compute Engine never redirects; whoever does shall not get our token."""
    google.say(b"", status=307, Location=f"{google.url}/elsewhere")
    with pytest.raises(RejectedError, match="http307"):
        compute.launch(INSERT, "r")
    assert [asked.path for asked in google.asked] == [INSERT.path]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (400, "invalid"),
        (403, "quotaExceeded"),
        (403, "forbidden"),
        (404, "notFound"),
        (409, "alreadyExists"),
        (412, "conditionNotMet"),
        (503, "insufficientCapacity"),
    ],
)
def test_a_refusal_is_said_at_once(google: Scripted, compute: ComputeEngine, status: int, reason: str):
    """Asked once; reason word and message come back. Also the one refusal that is a 503."""
    google.refuse(status, reason, "because")
    with pytest.raises(RejectedError, match="because") as refused:
        compute.launch(INSERT, "r")
    assert refused.value.code == reason
    assert len(google.asked) == 1


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (408, "requestTimeout"),
        (429, "rateLimitExceeded"),
        (500, "internalError"),
        (502, "badGateway"),
        (503, "backendError"),
        (504, "gatewayTimeout"),
        (403, "rateLimitExceeded"),
        (403, "userRateLimitExceeded"),
    ],
)
def test_an_outage_is_waited_for(google: Scripted, compute: ComputeEngine, status: int, reason: str):
    """Asked again with the same request id. Also the 403 that means no more than *not now*."""
    google.refuse(status, reason)
    google.refuse(status, reason)
    google.say(OPERATION)
    assert compute.launch(INSERT, "r").name == "operation-1"
    assert [asked.query["requestId"] for asked in google.asked] == ["r", "r", "r"]


def test_an_outage_that_stays_is_no_answer(google: Scripted):
    """Nobody knows whether it was carried out, and the error says what came last."""
    google.refuse(503, "backendError", "try later")
    # Long enough for a second call on a machine that is busy with other tests.
    retry_policy = msgspec.structs.replace(
        QUICK, longest_pause=timedelta(milliseconds=200), in_all=timedelta(seconds=1)
    )
    compute = ComputeEngine(project="demo", endpoint=google.url, retry_policy=retry_policy)
    with pytest.raises(UnansweredError, match="try later"):
        compute.launch(INSERT, "r")
    compute.close()
    assert len(google.asked) > 1


def test_a_reason_in_the_newer_form_is_found(google: Scripted, compute: ComputeEngine):
    """`details` with an ErrorInfo instead of `errors`."""
    details = [
        {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED",
        }
    ]
    google.say({"error": {"code": 403, "message": "m", "status": "X", "details": details}}, status=403)
    google.say({"error": {"code": 403, "message": "m", "status": "PERMISSION_DENIED"}}, status=403)
    with pytest.raises(RejectedError, match="PERMISSION_DENIED"):
        compute.launch(INSERT, "r")


def test_an_error_in_html_is_told_as_it_stands(google: Scripted, compute: ComputeEngine):
    """A proxy in between knows nothing of JSON."""
    google.say(b"<html>Not allowed here</html>", status=405)
    with pytest.raises(RejectedError, match=r"http405.*Not allowed here"):
        compute.launch(INSERT, "r")


def test_an_answer_that_is_cut_short_is_no_answer(google: Scripted, hasty: ComputeEngine):
    """Half of a list must not pass for a short one."""
    google.say(b'{"items": {"zones/a": {"instances": [')
    with pytest.raises(UnansweredError):
        hasty.instances()
