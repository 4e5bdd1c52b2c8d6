"""How the adapter stops, labels and removes: races, lost answers, and links that are none of ours."""

import json
from typing import Any

import pytest

from spotwarden.gcp.compute import ComputeEngine
from spotwarden.model.instance import Status
from spotwarden.ports import RejectedError, UnansweredError
from tests.contract.local_world import LocalWorld
from tests.contract.scripted import Scripted
from tests.contract.worlds import ZONE, finished, new_id, running, status

DONE = {"name": "operation-1", "status": "DONE", "operationType": "x"}
ID = "4000000000000000001"
DISK = f"projects/demo/zones/us-central1-a/disks/{ID}"


def labels_read(fingerprint: str = "f", **labels: str) -> dict[str, Any]:
    """What is read before labels are set."""
    return {"labels": labels, "labelFingerprint": fingerprint}


def test_labels_are_set_on_those_that_were_read(google: Scripted, compute: ComputeEngine):
    """All of them, under the fingerprint, with a request id of its own."""
    google.say(labels_read("f1", team="a", idle="60"))
    google.say(DONE)
    compute.label(ZONE, ID, {"idle": "", "kept": "b"})
    read, written = google.asked
    assert read.query == {"fields": "labels,labelFingerprint"}
    assert written.path.endswith(f"/instances/{ID}/setLabels")
    assert json.loads(written.body) == {"labels": {"team": "a", "kept": "b"}, "labelFingerprint": "f1"}
    assert written.query["requestId"]


def test_labels_that_change_meanwhile_are_read_again(google: Scripted, compute: ComputeEngine):
    """Once: what somebody else has just set stays."""
    google.say(labels_read("f1"))
    google.refuse(412, "conditionNotMet")
    google.say(labels_read("f2", keep="2026-12-31"))
    google.say(DONE)
    compute.label(ZONE, ID, {"idle": "60"})
    assert json.loads(google.asked[3].body) == {
        "labels": {"keep": "2026-12-31", "idle": "60"},
        "labelFingerprint": "f2",
    }
    assert google.asked[1].query["requestId"] != google.asked[3].query["requestId"]


def test_labels_that_change_again_are_left(google: Scripted, compute: ComputeEngine):
    """The next sweep comes soon enough."""
    for _ in range(2):
        google.say(labels_read())
        google.refuse(412, "conditionNotMet")
    with pytest.raises(RejectedError, match="conditionNotMet"):
        compute.label(ZONE, ID, {"idle": "60"})
    assert len(google.asked) == 4


def test_another_refusal_of_labels_is_said_at_once(google: Scripted, compute: ComputeEngine):
    """Nothing is asked again."""
    google.say(labels_read())
    google.refuse(403, "forbidden")
    with pytest.raises(RejectedError, match="forbidden"):
        compute.label(ZONE, ID, {"idle": "60"})
    assert len(google.asked) == 2


@pytest.mark.parametrize("name", ["my-vm", "", "0", "1/../2", "17?x=1"])
def test_a_name_is_never_acted_on(google: Scripted, compute: ComputeEngine, name: str):
    """Nothing is sent for what is no id."""
    google.say(DONE)
    with pytest.raises(ValueError, match="Not an instance ID"):
        compute.stop(ZONE, name, "r")
    with pytest.raises(ValueError, match="Not an instance ID"):
        compute.label(ZONE, name, {"a": "b"})
    assert google.asked == []


@pytest.mark.parametrize(
    "link",
    [
        "projects/demo/zones/us-central1-a/disks/my-disk",
        "projects/other/zones/us-central1-a/disks/17",
        "projects/demo/zones/us-central1-a/instances/17",
        "projects/demo/zones/us-central1-a/disks/17?force=true",
        "projects/demo/global/../zones/z/disks/17",
        f"https://example.com/{DISK}",
        "",
    ],
)
def test_only_a_thing_of_ours_by_its_id_is_removed(google: Scripted, compute: ComputeEngine, link: str):
    """No name, no other project, no VM, no other host."""
    google.say(DONE)
    with pytest.raises(ValueError, match="by its ID"):
        compute.remove(link, "r")
    assert google.asked == []


@pytest.mark.parametrize(
    "link",
    [
        DISK,
        "projects/demo/regions/us-central1/disks/17",
        "projects/demo/regions/us-central1/addresses/17",
        "projects/demo/global/addresses/17",
        "projects/demo/global/snapshots/17",
    ],
)
def test_a_thing_is_removed_by_its_link(google: Scripted, compute: ComputeEngine, link: str):
    """Zonal, regional or global, with the request id."""
    google.say(DONE)
    assert compute.remove(link, "r").done
    [asked] = google.asked
    assert (asked.method, asked.path) == ("DELETE", f"/compute/v1/{link}")
    assert asked.query == {"requestId": "r"}


def thing(**fields: Any) -> dict[str, Any]:
    """A disk as Google lists it, left over unless told otherwise."""
    return {
        "id": "17",
        "name": "d",
        "selfLink": "https://www.googleapis.com/compute/v1/projects/demo/zones/z/disks/d",
        "status": "READY",
        "sizeGb": "20",
        "labels": {"spotwarden-job": "j"},
        **fields,
    }


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, True),
        ({"users": ["projects/demo/zones/z/instances/vm"]}, False),
        ({"status": "CREATING"}, False),
        ({"status": "DELETING"}, False),
        ({"labels": {}}, False),
        ({"labels": {"spotwarden-job": ""}}, False),
    ],
)
def test_a_leftover_is_ours_whole_and_unused(
    google: Scripted, compute: ComputeEngine, fields: dict[str, Any], *, told: bool
):
    """One fact less, and it is none; whatever the filter has let through."""
    google.say({"items": {"zones/z": {"disks": [thing(**fields)]}}})
    google.say({})
    assert bool(compute.leftovers()[0]) == told
    assert [asked.query["filter"] for asked in google.asked] == ["labels.spotwarden-job:*"] * 3


def test_a_global_address_is_no_jobs(google: Scripted, compute: ComputeEngine):
    """No VM can have one: it is a load balancer's, whatever labels it bears."""
    base = "https://www.googleapis.com/compute/v1/projects/demo"
    scopes = {
        "global": {"addresses": [thing(status="RESERVED", selfLink=f"{base}/global/addresses/a")]},
        "regions/us-east1": {
            "addresses": [
                thing(
                    status="RESERVED", selfLink=f"{base}/regions/us-east1/addresses/a", address="203.0.113.9"
                )
            ]
        },
    }
    google.say({})
    google.say({"items": scopes})
    google.say({})
    [found], _unreachable = compute.leftovers()
    assert (found.link, found.address) == ("projects/demo/regions/us-east1/addresses/17", "203.0.113.9")
    assert "address," in google.asked[1].query["fields"]


def test_all_pages_of_snapshots_are_read(google: Scripted, compute: ComputeEngine):
    """What they hide is said as well."""
    google.say({})
    google.say({})
    link = "https://www.googleapis.com/compute/v1/projects/demo/global/snapshots/s"
    google.say({"items": [thing(selfLink=link, diskSizeGb="30", sourceDiskId="4711")], "nextPageToken": "t"})
    hidden = [{"key": "scope", "value": "regions/us-east1"}]
    google.say({"items": [], "warning": {"code": "UNREACHABLE", "data": hidden}})
    [found], unreachable = compute.leftovers()
    assert (found.kind, found.size_gb, found.link) == ("snapshot", 30, "projects/demo/global/snapshots/17")
    assert (found.origin, found.id) == ("4711", "17")
    assert "sourceDiskId" in google.asked[2].query["fields"]
    assert unreachable == ("us-east1",)


OUTAGE = [{"status": 429}, {"status": 503}, {"cut": True}]


@pytest.mark.parametrize("outage", OUTAGE)
def test_a_stop_is_asked_for_again_in_an_outage(local_world: LocalWorld, faults, outage: dict[str, Any]):
    """Whether it was carried out or not, under the same request id: there is one operation."""
    vm_id, since = running(local_world, "node"), local_world.now()
    for after_work in (False, True):
        faults(path="/stop$", method="POST", count=1, after_work=after_work, **outage)
    finished(local_world, local_world.compute.stop(ZONE, vm_id, new_id()))
    told = [one.kind for one in local_world.compute.operations(since).items if one.target_id == vm_id]
    assert told.count("stop") == 1
    assert status(local_world, "node") is Status.TERMINATED


@pytest.mark.parametrize("outage", OUTAGE)
def test_labels_are_set_in_an_outage(local_world: LocalWorld, faults, outage: dict[str, Any]):
    """Their own success, the answer of which was lost, is no race with somebody else."""
    vm_id = running(local_world, "node")
    for after_work in (False, True):
        faults(path="/setLabels$", method="POST", count=1, after_work=after_work, **outage)
    local_world.compute.label(ZONE, vm_id, {"idle": "60"})
    [found] = local_world.compute.fleet(ids=[vm_id]).items
    assert found.labels["idle"] == "60"


@pytest.mark.parametrize("outage", OUTAGE)
def test_a_removal_is_done_in_an_outage(local_world: LocalWorld, faults, outage: dict[str, Any]):
    """Gone by our own hand is not refused: the request id brings the first answer back."""
    local_world.leave("disk", "thing", {"spotwarden-job": "j"})
    [found], _ = local_world.compute.leftovers()
    for after_work in (False, True):
        faults(path="/disks/", method="DELETE", count=1, after_work=after_work, **outage)
    assert local_world.compute.remove(found.link, new_id()).kind == "delete"
    local_world.until(lambda: local_world.compute.leftovers()[0] == ())


def test_no_answer_in_the_end_is_said(google: Scripted, hasty: ComputeEngine):
    """Nobody knows whether it was done."""
    google.refuse(503, "backendError")
    with pytest.raises(UnansweredError):
        hasty.stop(ZONE, ID, "r")
