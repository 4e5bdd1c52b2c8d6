"""Several instances that ran → one bulk request."""

import pytest

from spotwarden.create_script.request.launched import launch_of_resources
from tests.create_script.launch.again import GANG, again, refusal


def test_a_gang_is_made_again_as_one(run):
    """By name, all or none."""
    launch = again(run, *GANG)
    body = launch.request.body
    assert launch.request.path == "/compute/v1/projects/project/zones/us-central1-a/instances/bulkInsert"
    assert (launch.nodes, launch.gang, launch.spot) == (("w-1", "w-2", "w-3"), True, True)
    assert (body["count"], body["minCount"]) == ("3", "3")
    assert body["perInstanceProperties"] == {"w-1": {}, "w-2": {}, "w-3": {}}
    assert body["instanceProperties"]["machineType"] == "n1-standard-1"
    assert body["instanceProperties"]["disks"][0]["initializeParams"]["diskType"] == "pd-standard"


def test_host_names_go_with_their_nodes(run):
    """They are the one thing besides names in which nodes may differ."""
    instances, disks = run(*GANG)
    named = {name: {**one, "hostname": f"{name}.example.com"} for name, one in instances.items()}
    each = launch_of_resources(named, disks).request.body["perInstanceProperties"]
    assert each["w-2"] == {"hostname": "w-2.example.com"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"labels": {"role": "head"}}, "w-2 is not like w-1 in labels"),
        ({"machineType": "projects/p/zones/z/machineTypes/e2-small"}, "w-2 is not like w-1 in machineType"),
        (
            {"zone": "projects/project/zones/us-east1-b"},
            "ran in 2 zones: us-central1-a, us-east1-b",
        ),
    ],
)
def test_nodes_that_differ_are_no_gang_of_one_request(fields, reason, run):
    """One bulk request makes machines of one kind."""
    instances, disks = run(*GANG)
    assert reason in refusal({**instances, "w-2": {**instances["w-2"], **fields}}, disks)


def test_what_a_bulk_request_cannot_say_is_not_dropped(run):
    """A gang without the protection that it had would be another."""
    instances, disks = run(*GANG)
    protected = {name: {**one, "deletionProtection": True} for name, one in instances.items()}
    assert refusal(protected, disks) == "a bulk request has no deletionProtection, which w-1 has"


def test_where_nothing_ran_nothing_can_be_made():
    """The reason is for a person."""
    assert refusal({}) == "its instances ran in 0 zones: none"


def with_drives(instances, **fields):
    """The gang, all with a second disk."""
    disk = {"deviceName": "data", "type": "PERSISTENT", "source": "projects/p/zones/z/disks/data", **fields}
    return {name: {**one, "disks": [*one["disks"], disk]} for name, one in instances.items()}


def test_a_disk_that_all_nodes_read_is_attached_to_all(run):
    """By its bare name, as a bulk request has it."""
    instances, disks = run(*GANG)
    launch = launch_of_resources(with_drives(instances, mode="READ_ONLY"), disks)
    assert launch.request.body["instanceProperties"]["disks"][1]["source"] == "data"


def test_a_disk_that_stays_and_is_written_is_for_one_machine(run):
    """A bulk request could give it to none of them."""
    instances, disks = run(*GANG)
    reason = refusal(with_drives(instances, mode="READ_WRITE"), disks)
    assert reason == "the disk data can be written by one machine only"


def test_disks_with_names_of_their_own_are_not_made_in_bulk(run):
    """The second of the same name would be refused."""
    instances, disks = run(*GANG)
    own = {"name": "data", "sizeGb": "10", "type": "projects/p/zones/z/diskTypes/pd-ssd"}
    own["creationTimestamp"] = instances["w-1"]["creationTimestamp"]
    known = {**disks, "projects/p/zones/z/disks/data": own}
    reason = refusal(with_drives(instances, autoDelete=True), known)
    assert reason == "the disk data has a name of its own, and there would be several"
