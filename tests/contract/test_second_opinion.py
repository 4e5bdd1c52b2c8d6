"""Google's typed client lists what our own door lists; where it does not, the doctor says so."""

from functools import partial
from typing import Any

import pytest

from localcloud.compute import ComputeService
from localcloud.compute.fleet import Fleet as Wanted
from spotwarden.cli.deployment.comparing import WHAT, second_opinion
from spotwarden.cli.deployment.examining import Check, CheckState
from spotwarden.gcp.second_opinion import fleet
from spotwarden.ports import RejectedError, UnansweredError
from tests.contract.local_world import LocalWorld
from tests.contract.retry_policies import QUICK, SHORT
from tests.contract.scripted import Scripted
from tests.contract.served import PROJECT, Served

ZONES = ("us-central1-a", "europe-west4-a")


@pytest.fixture
def filled(local_world: LocalWorld, served: Served) -> LocalWorld:
    """A Compute Engine with VMs in two zones, more than one page of them, some of them spot."""
    service: ComputeService = local_world._service

    def fill() -> None:
        for model, count in (("SPOT", 510), ("STANDARD", 5)):
            service.knobs.create_fleet(
                Wanted(
                    count=count,
                    prefix=f"{model.lower()}-",
                    machine_type="a2-highgpu-1g",
                    zones=ZONES,
                    labels={"team": "vision", "spotwarden-job": "j"},
                    metadata={},
                )
            )
        for vm in service._site.registry:
            if vm.resource["name"].startswith("spot"):
                vm.resource["scheduling"] |= {"provisioningModel": "SPOT", "preemptible": True}

    served.run(fill)
    return local_world


def compared(world: LocalWorld) -> Check:
    """What the doctor finds."""
    return second_opinion(
        world.compute.fleet, partial(fleet, PROJECT, endpoint=world.url, retry_policy=QUICK)
    )


def test_both_doors_see_the_same_fleet(filled: LocalWorld):
    """Over more than one page: ids, names, zones, status, machine types, scheduling, labels."""
    found = compared(filled)
    assert (found.what, found.state, found.why) == (WHAT, CheckState.GOOD, "515 VMs, the same in both lists")


@pytest.mark.parametrize(
    ("where", "planted", "why"),
    [
        ("governed.FIELDS", "(id,name,status,machineType,scheduling)", "labels is {} in our list"),
        ("governed.FIELDS", "(id,name,status,machineType,labels)", "provisioning is 'STANDARD'"),
        ("governed.FIELDS", "(id,name,status,scheduling,labels)", "machine_type is ''"),
        ("governed.by_ids", lambda _: [{"filter": "name = spot-1"}], "is not in our list"),
    ],
    ids=["labels", "scheduling", "machine type", "a list cut short"],
)
def test_a_fault_of_our_door_is_found(
    filled: LocalWorld, monkeypatch: pytest.MonkeyPatch, where: str, planted: Any, why: str
):
    """Planted: a field that is no longer asked for, a filter that is too narrow."""
    monkeypatch.setattr(f"spotwarden.gcp.{where}", planted)
    found = compared(filled)
    assert found.state is CheckState.BAD
    assert why in found.why
    assert "more" in found.why
    assert "report this as a bug" in found.todo


def test_a_zone_that_is_down_is_told_as_unknown(filled: LocalWorld):
    """What can be seen is the same, and the doctor says what cannot."""
    filled.hide(ZONES[0])
    found = compared(filled)
    assert found.state is CheckState.UNKNOWN
    assert found.why.endswith(f"neither shows {ZONES[0]} now")


def test_a_refusal_is_told_with_its_words(google: Scripted):
    """As every other thing that may not be looked at."""
    google.refuse(403, "forbidden", "Required 'compute.instances.list' permission")
    with pytest.raises(RejectedError, match=r"compute\.instances\.list"):
        fleet(PROJECT, endpoint=google.url, retry_policy=QUICK)


def test_an_outage_is_waited_for_and_then_no_answer(google: Scripted):
    """Within the patience it goes unnoticed."""
    google.refuse(503, "backendError")
    google.say({"items": {"zones/us-central1-a": {"instances": [{"id": "17", "name": "vm"}]}}})
    assert [vm.id for vm in fleet(PROJECT, endpoint=google.url, retry_policy=QUICK)] == ["17"]
    google.refuse(503, "backendError")
    google.refuse(503, "backendError")
    with pytest.raises(UnansweredError):
        [fleet(PROJECT, endpoint=google.url, retry_policy=SHORT) for _ in range(2)]


def test_the_local_cloud_is_reached_past_a_proxy(google: Scripted, monkeypatch: pytest.MonkeyPatch):
    """The client reads the environment's proxies; loopback is not their business."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    google.say({})
    assert fleet(PROJECT, endpoint=google.url, retry_policy=SHORT) == ()


def test_google_is_asked_with_credentials(monkeypatch: pytest.MonkeyPatch):
    """Without an endpoint the client finds its own host and the process's credentials."""
    said: dict[str, Any] = {}

    class Client:
        def __init__(self, **settings: Any) -> None:
            said.update(settings)
            raise RejectedError("enough", "seen")

    monkeypatch.setattr("spotwarden.gcp.second_opinion.InstancesClient", Client)
    with pytest.raises(RejectedError, match="seen"):
        fleet(PROJECT)
    assert said["credentials"] is None
    assert said["client_options"] == {"api_endpoint": None}
    with pytest.raises(ValueError, match="leave it empty for Google"):
        fleet(PROJECT, endpoint="http://example.com")
