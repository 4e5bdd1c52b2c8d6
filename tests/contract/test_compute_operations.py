"""How the Compute adapter reads one operation and what went wrong with it."""

import pytest

from spotwarden.gcp.compute import ComputeEngine
from tests.contract.scripted import Scripted

OPERATION = {"name": "operation-1", "status": "RUNNING", "operationType": "insert"}
DONE = {"name": "operation-node", "status": "DONE", "operationType": "insert"}
STOCKOUT = {
    "code": "STOCKOUT",
    "message": "No room.",
    "errorDetails": [
        {"help": {"links": [{"url": "https://cloud.google.com/compute/docs/resource-error"}]}},
        {"localizedMessage": {"locale": "en-US", "message": "Try another zone."}},
        {
            "errorInfo": {
                "reason": "resource_availability",
                "domain": "compute.googleapis.com",
                "metadatas": {"zonesAvailable": "us-central1-b,us-central1-f", "attachment": ""},
            }
        },
    ],
}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"error": {"errors": [{"code": "QUOTA_EXCEEDED", "message": "Quota."}]}}, "QUOTA_EXCEEDED: Quota."),
        ({"error": {"errors": [{"code": "INTERNAL_ERROR"}]}}, "INTERNAL_ERROR"),
        (
            {"error": {"errors": [{"code": "A", "message": "a"}, {"code": "B", "message": "b"}]}},
            "A: a; B: b",
        ),
        (
            {"error": {"errors": [STOCKOUT]}, "httpErrorStatusCode": 503},
            "STOCKOUT: No room. [reason=resource_availability zonesAvailable=us-central1-b,us-central1-f]",
        ),
        ({"httpErrorStatusCode": 409, "httpErrorMessage": "CONFLICT"}, "HTTP 409: CONFLICT"),
        ({}, ""),
    ],
)
def test_a_failed_operation_says_why_in_one_line(
    google: Scripted, compute: ComputeEngine, answer: dict[str, object], error: str
):
    """Code first; for a stockout also the reason and where there is room."""
    google.say({**DONE, **answer})
    assert compute.operation("us-central1-a", "operation-node").error == error


def test_an_operation_under_way_has_no_error_yet(google: Scripted, compute: ComputeEngine):
    """An error counts once the operation is done: until then it may still be rolled back or tried again."""
    google.say({**DONE, "status": "RUNNING", "error": {"errors": [STOCKOUT]}})
    operation = compute.operation("us-central1-a", "operation-node")
    assert (operation.done, operation.error) == (False, "")


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("us-central1-a", "zones/us-central1-a"),
        ("us-south1-ai1b", "zones/us-south1-ai1b"),
        ("us-central1", "regions/us-central1"),
        ("northamerica-northeast1", "regions/northamerica-northeast1"),
    ],
)
def test_an_operation_is_looked_up_where_it_is(
    google: Scripted, compute: ComputeEngine, place: str, path: str
):
    """In its zone, or for a regional request in its region."""
    google.say(OPERATION)
    compute.operation(place, "operation-1")
    assert google.asked[0].path == f"/compute/v1/projects/demo/{path}/operations/operation-1"
