"""How the adapter reads the list of a fleet, page by page, and what it makes of an odd answer."""

import re
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from spotwarden.gcp.built_in import built_in
from spotwarden.gcp.compute import ComputeEngine
from spotwarden.gcp.filters import LONGEST
from spotwarden.gcp.fleet import IN_A_FILTER, MOST_FILTERS
from spotwarden.model.fleet import Machine
from spotwarden.ports import RejectedError, UnansweredError
from tests.contract.scripted import Scripted

ROOT = "https://www.googleapis.com/compute/v1/projects/demo/zones/us-central1-a"


def vm(number: int = 17, **fields: Any) -> dict[str, Any]:
    """An instance as Google lists it."""
    return {
        "id": str(number),
        "name": f"vm-{number}",
        "status": "RUNNING",
        "creationTimestamp": "2026-01-05T01:00:00.000-08:00",
        "lastStartTimestamp": "2026-01-05T01:00:07.000-08:00",
        "machineType": f"{ROOT}/machineTypes/n1-standard-8",
        "scheduling": {"provisioningModel": "STANDARD", "preemptible": False},
        **fields,
    }


def listed(*vms: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A page of one zone."""
    return {"items": {"zones/us-central1-a": {"instances": list(vms)}}, **more}


def read(google: Scripted, compute: ComputeEngine, **fields: Any) -> Machine:
    """The VM with these fields, as it is read."""
    google.say(listed(vm(**fields)))
    [found] = compute.fleet().items
    return found


def test_only_the_needed_fields_are_asked_for(google: Scripted, compute: ComputeEngine):
    """Five hundred a page, in part if need be, and no filter: one list serves all."""
    google.say(listed(vm()))
    compute.fleet()
    [asked] = google.asked
    assert asked.path == "/compute/v1/projects/demo/aggregated/instances"
    assert (asked.query["maxResults"], asked.query["returnPartialSuccess"]) == ("500", "true")
    assert "guestAccelerators(acceleratorType,acceleratorCount)" in asked.query["fields"]
    assert asked.query["fields"].count("disks") == asked.query["fields"].count("disks/type") == 1
    assert "filter" not in asked.query


def test_of_metadata_only_the_keys_are_asked_for(google: Scripted, compute: ComputeEngine):
    """The values of a thousand VMs are a thousand start-up scripts."""
    google.say(listed(vm()))
    compute.fleet()
    [asked] = google.asked
    assert asked.query["fields"].count("metadata") == asked.query["fields"].count("metadata/items/key") == 1


@pytest.mark.parametrize(
    ("fields", "manager"),
    [
        ({}, ""),
        ({"metadata": {}}, ""),
        ({"metadata": {"items": [{"key": "startup-script"}]}}, ""),
        ({"metadata": {"items": [{"key": "created-by"}]}}, ""),
        ({"metadata": {"items": [{"key": "instance-template"}]}}, ""),
        (
            {"metadata": {"items": [{"key": "instance-template"}, {"key": "created-by"}]}},
            "a managed instance group",
        ),
        ({"labels": {"goog-gke-node": ""}}, "GKE"),
        ({"labels": {"goog-k8s-cluster-name": "c"}}, "GKE"),
        ({"labels": {"goog-dataproc-cluster-name": "c"}}, "Dataproc"),
        ({"labels": {"goog-batch-worker": "true"}}, "Batch"),
        ({"labels": {"batch-job-uid": "j-1"}}, "Batch"),
        ({"labels": {"batch-node": ""}}, "Batch"),
        ({"labels": {"batch-job-id": "mine"}}, ""),
        ({"labels": {"goog-dataflow-job-id": "j"}}, "Dataflow"),
        ({"labels": {"goog-new": ""}}, "a Google service, by its label goog-new,"),
        ({"labels": {"goog-terraform-provisioned": "true"}}, ""),
        ({"labels": {"goog-ops-agent-policy": "v2", "goog-ec-src": "vm_add-gcloud"}}, ""),
        ({"labels": {"goog-ec-src": "vm_add-tf", "goog-gke-node": ""}}, "GKE"),
        ({"labels": {"google": "me", "team": "eyes"}}, ""),
    ],
)
def test_who_makes_a_vm_anew_is_told_by_its_labels_and_metadata(
    google: Scripted, compute: ComputeEngine, fields: dict[str, Any], manager: str
):
    """Google's services and managed instance groups; labels that only say how it was made are none."""
    assert read(google, compute, **fields).manager == manager


def test_a_status_of_tomorrow_hides_its_zone(google: Scripted, compute: ComputeEngine):
    """Nobody can judge a VM in it, and nobody may think that it is gone."""
    google.say(listed(vm(1), vm(2, status="LEVITATING")))
    fleet = compute.fleet()
    assert [one.id for one in fleet.items] == ["1"]
    assert fleet.hides("us-central1-a")


@pytest.mark.parametrize(
    ("scheduling", "expected"),
    [
        ({"provisioningModel": "SPOT", "preemptible": True}, "SPOT"),
        ({"preemptible": True}, "SPOT"),
        ({"provisioningModel": "STANDARD", "preemptible": True}, "SPOT"),
        ({"provisioningModel": "FLEX_START"}, "FLEX_START"),
        ({"preemptible": False}, "STANDARD"),
        ({}, "STANDARD"),
    ],
)
def test_a_preemptible_vm_is_a_spot_vm(
    google: Scripted, compute: ComputeEngine, scheduling: dict[str, Any], expected: str
):
    """However old; everything else goes by its own word."""
    assert read(google, compute, scheduling=scheduling).provisioning == expected


def test_gpus_are_those_that_the_vm_lists(google: Scripted, compute: ComputeEngine):
    """They win over what its machine type is known for."""
    cards = [{"acceleratorType": f"{ROOT}/acceleratorTypes/nvidia-h100-80gb", "acceleratorCount": 4}]
    found = read(google, compute, guestAccelerators=cards, machineType=f"{ROOT}/machineTypes/a2-highgpu-8g")
    assert (found.machine_type, found.gpus, found.gpu) == ("a2-highgpu-8g", 4, "nvidia-h100-80gb")


def test_gpus_that_a_vm_does_not_list_come_with_its_machine_type(google: Scripted, compute: ComputeEngine):
    """No page promises that they are listed for such a machine."""
    found = read(google, compute, machineType=f"{ROOT}/machineTypes/a2-ultragpu-4g")
    assert (found.gpus, found.gpu) == (4, "nvidia-a100-80gb")


def test_tpus_are_called_by_one_name_whether_a_vm_lists_them_or_not(google: Scripted, compute: ComputeEngine):
    """Prices and rules know one; whether Compute Engine lists them, and how, stands on no page."""
    cards = [{"acceleratorType": f"{ROOT}/acceleratorTypes/ct6e", "acceleratorCount": 4}]
    for listed_too in (cards, []):
        found = read(
            google, compute, guestAccelerators=listed_too, machineType=f"{ROOT}/machineTypes/ct6e-standard-4t"
        )
        assert (found.gpus, found.gpu) == (4, "tpu-v6e")


@pytest.mark.parametrize(
    ("machine_type", "expected"),
    [
        ("a2-highgpu-1g", (1, "nvidia-tesla-a100")),
        ("a2-megagpu-16g", (16, "nvidia-tesla-a100")),
        ("a3-megagpu-8g", (8, "nvidia-h100-mega-80gb")),
        ("a3-ultragpu-8g-nolssd", (8, "nvidia-h200-141gb")),
        ("a4-highgpu-8g", (8, "nvidia-b200")),
        ("g2-standard-32", (1, "nvidia-l4")),
        ("g2-standard-96", (8, "nvidia-l4")),
        ("ct6e-standard-4t", (4, "tpu-v6e")),
        ("ct5p-hightpu-1t-tpu", (1, "tpu-v5p")),
        ("ct5lp-hightpu-8t", (8, "tpu-v5e")),
        ("tpu7x-standard-4t", (4, "tpu7x")),
        ("ct9e-standard-4t", (4, "tpu-ct9e")),
        ("g2-standard-5", (0, "")),
        ("b9-highgpu-8g", (0, "")),
        ("n1-standard-8", (0, "")),
        ("", (0, "")),
    ],
)
def test_machine_types_with_gpus_are_known(machine_type: str, expected: tuple[int, str]):
    """The accelerator-optimized families; of others nothing is guessed."""
    assert built_in(machine_type) == expected


def test_a_few_ids_are_asked_for_by_a_filter(google: Scripted, compute: ComputeEngine):
    """And the answer is cut all the same."""
    google.say(listed(vm(3), vm(17), vm(4)))
    assert [one.id for one in compute.fleet(ids=["17", "3"]).items] == ["3", "17"]
    assert google.asked[0].query["filter"] == "(id = 17) OR (id = 3)"


def many(count: int) -> list[str]:
    """Ids as long as Google's."""
    return [str(4_000_000_000_000_000_000 + number) for number in range(count)]


def test_more_ids_are_asked_for_by_a_few_filters(google: Scripted, compute: ComputeEngine):
    """Each short enough for a URL; together they name every id once."""
    google.say({})
    compute.fleet(ids=many(MOST_FILTERS * IN_A_FILTER))
    filters = [asked.query["filter"] for asked in google.asked]
    assert len(filters) == MOST_FILTERS
    assert max(map(len, filters)) <= LONGEST
    assert sorted(re.findall(r"\d+", " ".join(filters))) == many(MOST_FILTERS * IN_A_FILTER)


def test_for_very_many_ids_everything_is_asked_for(google: Scripted, compute: ComputeEngine):
    """One more: a list of all costs less than so many that look through all."""
    google.say(listed(vm(17), vm(18)))
    ids = [*many(MOST_FILTERS * IN_A_FILTER), "17"]
    assert [one.id for one in compute.fleet(ids=ids).items] == ["17"]
    assert [asked.query.get("filter") for asked in google.asked] == [None]


def test_what_is_no_id_cannot_widen_the_filter(google: Scripted, compute: ComputeEngine):
    """It is left out of the question, and fits nothing of the answer."""
    google.say(listed(vm(17)))
    assert compute.fleet(ids=["1) OR (name = x"]).items == ()
    assert "filter" not in google.asked[0].query


def test_a_short_answer_is_no_answer(google: Scripted, hasty: ComputeEngine):
    """Half a list is not the fleet."""
    google.say(b'{"items": {"zones/us-central1-a": {"instances": [')
    with pytest.raises(UnansweredError):
        hasty.fleet()


def test_a_refusal_rises(google: Scripted, compute: ComputeEngine):
    """A permission that is missing is no empty fleet."""
    google.refuse(403, "forbidden")
    with pytest.raises(RejectedError, match="forbidden"):
        compute.fleet()


def test_what_vms_have_in_common_is_kept_once(google: Scripted, compute: ComputeEngine):
    """A hundred thousand of them fit into a small function."""
    google.say(listed(*(vm(number, labels={"team": "a", "owner": "b"}) for number in range(1, 501))))
    items = compute.fleet().items
    assert len({id(one.labels) for one in items}) == 1
    assert len({id(one.zone) for one in items}) == 1
    assert len({id(one.machine_type) for one in items}) == 1
    each = sys.getsizeof(items[0].id) + sys.getsizeof(items[0].name) + sys.getsizeof(items[0])
    assert each + 2 * sys.getsizeof(items[0].created) < 600


def test_moments_are_utc(google: Scripted, compute: ComputeEngine):
    """Google writes those of the Pacific coast."""
    found = read(google, compute)
    assert str(found.created) == "2026-01-05 09:00:00+00:00"
    assert str(found.started) == "2026-01-05 09:00:07+00:00"


@pytest.mark.parametrize(
    ("fields", "ends"),
    [
        (
            {"resourceStatus": {"scheduling": {"terminationTimestamp": "2026-01-05T13:00:00.000-08:00"}}},
            datetime(2026, 1, 5, 21, tzinfo=UTC),
        ),
        ({"resourceStatus": {"scheduling": {}}}, None),
        ({}, None),
    ],
    ids=["a run time", "none", "nothing said"],
)
def test_when_compute_engine_ends_a_vm_is_read(google: Scripted, compute: ComputeEngine, fields, ends):
    """By its run time, in UTC; None where it has no bound."""
    assert read(google, compute, **fields).ends == ends
