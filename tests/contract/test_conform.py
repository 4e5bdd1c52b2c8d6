"""Everything that the adapters send is what Google's discovery documents allow."""

import json
from datetime import UTC, datetime

from spotwarden.gcp.compute import ComputeEngine
from spotwarden.model.request import Request
from tests.contract.retry_policies import OpenStore
from tests.contract.scripted import Asked, Scripted
from tests.contract.served import Served
from tests.localcloud.conformance.discovery import Discovery, Exchange

# The v1 document of November 2026 lost this parameter while its own text goes on recommending it; the beta
# document has it, and gcloud sends it to v1.
KNOWN = "query returnPartialSuccess: there is no such parameter"


def requests_only(findings: list[str]) -> list[str]:
    """What is wrong with requests: the answers are the local cloud's business, or a script's."""
    return [text for text in findings if ": response" not in text and not text.endswith(KNOWN)]


def exchange(asked: Asked) -> Exchange:
    """A request, as the checker takes it."""
    body = json.loads(asked.body) if asked.body else None
    return Exchange(
        method=asked.method, path=asked.path, query=list(asked.query.items()), request=body, status=200
    )


def call_everything(compute: ComputeEngine) -> None:
    """Make every call that the adapter has."""
    compute.instances()
    compute.operations(datetime(2026, 1, 5, tzinfo=UTC))
    path = "/compute/v1/projects/demo/zones/us-central1-a/instances"
    create = Request(method="POST", path=path, query={"alt": "json"}, body={"name": "n", "machineType": "m"})
    compute.launch(create, "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f11")
    compute.operation("us-central1-a", "operation-1")
    compute.operation("us-central1", "operation-1")
    compute.instances(names=["node-1", "node-2"], job="job")
    compute.start("us-central1-a", "17", "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f12")
    compute.delete("us-central1-a", "17", "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f13")
    compute.resource("us-central1-a", "17")
    compute.stop("us-central1-a", "17", "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f14")
    for place in ("zones/us-central1-a", "regions/us-central1"):
        compute.remove(f"projects/demo/{place}/disks/17", "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f15")
    for link in ("regions/us-central1/addresses/17", "global/addresses/17", "global/snapshots/17"):
        compute.remove(f"projects/demo/{link}", "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f16")


def call_governance(google: Scripted, compute: ComputeEngine) -> None:
    """Every list of governance, and labels that are read and set."""
    compute.fleet()
    compute.leftovers()
    google.say({"labelFingerprint": "MDE="})
    google.say({"name": "operation-1"})
    compute.fleet(ids=["17", "18"])
    compute.label("us-central1-a", "17", {"a": "b"})


def call_offers(google: Scripted, compute: ComputeEngine) -> None:
    """Ask where a machine can be had, so that both lists are asked for."""
    google.say({"items": {"zones/us-central1-a": {"machineTypes": [{"name": "n1-standard-8"}]}}})
    google.say({})
    compute.offers("n1-standard-8", ["nvidia-tesla-t4"])


def call_advice(compute: ComputeEngine) -> None:
    """Ask about a zone and about a region, whose questions differ."""
    for place in ("us-central1-a", "us-central1"):
        compute.advice("g2-standard-4", place, 2)
        compute.capacity_history("g2-standard-4", place)


def test_compute_engine_is_asked_as_its_document_says(google: Scripted, compute: ComputeEngine):
    """Paths, parameters, bodies; but for the one parameter that the document has lost."""
    call_offers(google, compute)
    call_governance(google, compute)
    call_everything(compute)
    call_advice(compute)
    api = Discovery.load("compute", "v1")
    findings = [text for asked in google.asked for text in api.check(exchange(asked))]
    assert len(google.asked) == 28
    assert requests_only(findings) == []


def test_the_check_would_catch_a_wrong_parameter(google: Scripted, compute: ComputeEngine):
    """A parameter that no document has is found."""
    google.say({"name": "operation-1"})
    compute.operation("us-central1-a", "operation-1")
    [asked] = google.asked
    wrong = Exchange(method="GET", path=asked.path, query=[("fieldz", "name")], status=200)
    assert requests_only(Discovery.load("compute", "v1").check(wrong)) != []


def test_cloud_storage_is_asked_as_its_document_says(served: Served, open_store: OpenStore):
    """Every call that the adapter has, as google-cloud-storage sends it."""
    store, before = open_store(), len(served.recorder.exchanges)
    generation = store.write("a/b", b"1", generation=0, content_type="text/plain")
    store.write("a/b", b"2", generation=None)
    store.read("a/b")
    store.entries("a/", glob="a/*", limit=3)
    store.folders("")
    store.delete("a/b", generation=generation)
    seen = served.recorder.exchanges[before:]
    api = Discovery.load("storage", "v1")
    assert len(seen) >= 6
    assert requests_only([text for one in seen for text in api.check(one)]) == []
