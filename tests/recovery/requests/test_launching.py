"""The request as a try sends it: whose it is, spot or on demand, and for how long at most."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.request import Request
from spotwarden.recovery.requests.launching import prepare, request_id, stamp
from spotwarden.recovery.requests.notice_field import with_notice

SPOT = {"provisioningModel": "SPOT", "instanceTerminationAction": "STOP", "preemptible": True}


@pytest.fixture
def scheduling(some, asked):
    """The scheduling that a try sends for what the script says."""

    def send(said, *, spot=True, left=None, bulk=False):
        body = {"name": "test-vm", "scheduling": said}
        request = replace(some.launch().request, body={"instanceProperties": body} if bulk else body)
        attempt = some.attempt(2, tries=(asked(spot=spot),)).attempt
        sent = prepare(request, attempt, left=left).body
        return (sent["instanceProperties"] if bulk else sent).get("scheduling")

    return send


def test_request_ids_differ_by_job_attempt_place_and_turn():
    """The same call always has the same id, every other call another."""
    base = ("a", 1, "z", 1)
    others = [("b", 1, "z", 1), ("a", 2, "z", 1), ("a", 1, "y", 1), ("a", 1, "z", 2)]
    assert request_id(*base) == request_id(*base)
    assert len({request_id(*one) for one in [base, *others]}) == 5


def test_a_launched_vm_is_told_its_job_attempt_and_try(some):
    """Metadata for the guest, labels for whoever lists; the rest of the request stays."""
    request = some.launch().request
    body = stamp(request, "test-vm", 2, 3).body
    items = {item["key"]: item["value"] for item in body["metadata"]["items"]}
    ours = {"spotwarden-job": "test-vm", "spotwarden-attempt": "2", "spotwarden-try": "3"}
    assert items == {**ours, "startup-script": "true"}
    assert body["labels"] == ours
    assert request.body["metadata"]["items"] == [{"key": "startup-script", "value": "true"}]


def test_a_gangs_vms_are_told_in_their_common_properties(some):
    """A bulk request has one body for all of them."""
    bulk = replace(some.launch().request, body={"count": "2", "instanceProperties": {"labels": {"a": "b"}}})
    body = stamp(bulk, "gang", 2).body
    assert body["instanceProperties"]["labels"]["spotwarden-job"] == "gang"
    assert body["instanceProperties"]["labels"]["a"] == "b"
    assert "labels" not in body


def test_an_older_attempts_stamp_is_replaced(some):
    """A launch made from what ran brings the stamp of the former attempt."""
    again = stamp(stamp(some.launch().request, "test-vm", 2), "test-vm", 3)
    values = [item["value"] for item in again.body["metadata"]["items"] if "attempt" in item["key"]]
    assert values == ["3"]
    assert again.body["labels"]["spotwarden-attempt"] == "3"


@pytest.mark.parametrize("key", ["sourceInstanceTemplate", "sourceMachineImage"])
def test_a_template_keeps_its_own_metadata(some, key):
    """Metadata in the request would replace the template's, so none is added."""
    request = replace(some.launch().request, body={"name": "test-vm", key: "t"})
    assert stamp(request, "test-vm", 2).body == {"name": "test-vm", key: "t"}


@pytest.mark.parametrize("bulk", [False, True])
def test_a_spot_try_sends_the_scripts_own_scheduling(scheduling, bulk):
    """Nothing is added where nothing is bounded."""
    assert scheduling(SPOT, bulk=bulk) == SPOT
    assert not scheduling({}, bulk=bulk)


@pytest.mark.parametrize("bulk", [False, True])
def test_an_on_demand_try_sends_nothing_that_only_spot_vms_may_have(scheduling, bulk):
    """No termination action, no notice; what else the script says stays."""
    said = {**SPOT, "preemptionNoticeDuration": {"seconds": "120"}, "onHostMaintenance": "TERMINATE"}
    sent = scheduling(said, spot=False, bulk=bulk)
    assert sent == {"onHostMaintenance": "TERMINATE", "provisioningModel": "STANDARD"}


def test_an_on_demand_try_of_a_spot_script_does_not_migrate(scheduling):
    """A standard VM with GPUs is refused without that word, and a spot script need not say it."""
    assert scheduling(SPOT, spot=False)["onHostMaintenance"] == "TERMINATE"


@pytest.mark.parametrize("model", ["FLEX_START", "RESERVATION_BOUND"])
def test_a_try_keeps_a_model_that_is_neither_spot_nor_on_demand(scheduling, model):
    """A script that waits for cheap capacity, or has paid for some, is not sent at the on-demand price."""
    said = {
        "provisioningModel": model,
        "instanceTerminationAction": "DELETE",
        "maxRunDuration": {"seconds": "600"},
    }
    assert scheduling(said, spot=False) == said


def test_an_on_demand_try_keeps_the_action_that_its_run_limit_needs(scheduling):
    """`maxRunDuration` goes with a termination action, on demand too."""
    limited = {**SPOT, "maxRunDuration": {"seconds": "600"}}
    assert scheduling(limited, spot=False) == {
        "maxRunDuration": {"seconds": "600"},
        "instanceTerminationAction": "STOP",
        "onHostMaintenance": "TERMINATE",
        "provisioningModel": "STANDARD",
    }


def test_a_bound_goes_with_a_termination_action(scheduling):
    """The script's own, else the VM is deleted at its end; on demand as well."""
    bounded = scheduling(SPOT, left=timedelta(hours=1))
    assert (bounded["maxRunDuration"], bounded["instanceTerminationAction"]) == ({"seconds": "3600"}, "STOP")
    assert scheduling({}, left=timedelta(hours=1))["instanceTerminationAction"] == "DELETE"
    assert scheduling({}, left=timedelta(hours=1), spot=False)["instanceTerminationAction"] == "DELETE"


@pytest.mark.parametrize(("own", "sent"), [(3599, "3599"), (3600, "3600"), (3601, "3600")])
def test_a_bound_is_never_longer_than_the_scripts_own(scheduling, own, sent):
    """The shorter of the two holds."""
    said = {**SPOT, "maxRunDuration": {"seconds": str(own)}}
    assert scheduling(said, left=timedelta(hours=1))["maxRunDuration"]["seconds"] == sent


def test_a_bound_is_never_shorter_than_compute_engine_takes(scheduling):
    """30 s, even where less is left by the time the request is made."""
    assert scheduling({}, left=timedelta(seconds=-5))["maxRunDuration"] == {"seconds": "30"}


def test_a_moment_of_the_scripts_own_is_left_alone(scheduling):
    """Compute Engine takes a duration or a moment, not both."""
    said = {**SPOT, "terminationTime": "2026-11-22T00:00:00Z"}
    assert scheduling(said, left=timedelta(hours=1)) == said


@pytest.mark.parametrize(
    ("place", "denied"),
    [
        ("us-central1", ["zones/us-central1-a", "zones/us-central1-f"]),
        ("us-east1", ["zones/us-east1-b"]),
        ("us-central1-a", []),
        ("europe-west4", []),
    ],
)
def test_a_request_for_a_region_goes_to_no_zone_where_a_name_is_held(some, asked, place, denied):
    """A zone's own request says nothing of zones; what the script says of others stays."""
    body = {"instanceProperties": {}, "locationPolicy": {"targetShape": "ANY_SINGLE_ZONE"}}
    request = replace(some.launch().request, body=body)
    attempt = some.attempt(2, tries=(replace(asked(), place=place),)).attempt
    held = {"us-central1-f", "us-central1-a", "us-east1-b"}
    sent = prepare(request, attempt, held=held).body["locationPolicy"]
    assert sent["targetShape"] == "ANY_SINGLE_ZONE"
    assert sent.get("locations", {}) == {zone: {"preference": "DENY"} for zone in denied}


@pytest.mark.parametrize("notice", [True, False])
def test_a_request_from_a_template_has_neither_notice_nor_word_of_it(notice):
    """Scheduling or metadata in the request would replace the template's."""
    request = Request(method="POST", path="/p", query={}, body={"sourceInstanceTemplate": "t", "name": "a"})
    assert with_notice(request, notice=notice) == request


def test_a_notice_is_added_and_taken_out_and_all_else_stays():
    """Of the very request that its script makes."""
    body = {
        "name": "a",
        "scheduling": {"provisioningModel": "SPOT"},
        "metadata": {"items": [{"key": "team", "value": "eyes"}]},
    }
    asked = with_notice(Request(method="POST", path="/p", query={}, body=body), notice=True)
    assert asked.body["scheduling"] == {
        "provisioningModel": "SPOT",
        "preemptionNoticeDuration": {"seconds": "120"},
    }
    items = [{"key": "spotwarden-early", "value": "1"}, {"key": "team", "value": "eyes"}]
    assert asked.body["metadata"] == {"items": items}
    again = with_notice(asked, notice=False)
    assert again.body == {**body, "metadata": {"items": items}}
