"""A bulk create → its nodes by name, all of them or none."""

import pytest
from msgspec.structs import replace

from spotwarden.create_script.request.requested import launch_of_request
from spotwarden.model.launch import NoLaunch
from spotwarden.model.request import Request
from tests.create_script.launch.saying import request_of

BULK = "gcloud compute instances bulk create --zone=us-central1-a "


@pytest.mark.parametrize(
    ("flags", "nodes"),
    [
        (["--name-pattern=test-vm-#", "--count=3"], ("test-vm-1", "test-vm-2", "test-vm-3")),
        (["--name-pattern=vm-##", "--count=2"], ("vm-01", "vm-02")),
        (["--name-pattern=vm-#-a", "--count=1"], ("vm-1-a",)),
        (["--name-pattern=vm-#", "--count=9"], tuple(f"vm-{number}" for number in range(1, 10))),
        (["--predefined-names=head,worker"], ("head", "worker")),
    ],
)
def test_the_nodes_are_known_before_they_are_there(flags, nodes, gang):
    """By the rule of the pattern, or as the script names them."""
    assert gang(*flags).nodes == nodes
    assert gang(*flags).gang


def test_the_nodes_are_asked_for_by_name(gang):
    """A pattern would go on from a machine that is still there, and give the others new names."""
    body = gang("--name-pattern=w-#", "--count=2").request.body
    assert body["perInstanceProperties"] == {"w-1": {}, "w-2": {}}
    assert "namePattern" not in body


@pytest.mark.parametrize(("again", "names"), [(True, ["w-1", "w-2"]), (False, ["w-8", "w-9"])])
def test_an_old_machine_does_not_change_the_names(again, names, cloud):
    """It would if the pattern were sent again."""
    assert cloud.accepts(request_of("create", "w-7"))
    request = request_of("bulk", "create", "--name-pattern=w-#", "--count=2", "--zone=us-central1-a")
    assert cloud.accepts(launch_of_request(request).request if again else request)
    assert sorted(cloud.instances().keys() - {"w-7"}) == names


def test_host_names_stay_with_their_nodes(gang):
    """Naming the nodes takes nothing away from them."""
    request = gang("--predefined-names=a,b").request
    each = {"a": {"hostname": "a.example.com"}, "b": {}}
    launch = launch_of_request(replace(request, body={**request.body, "perInstanceProperties": each}))
    assert launch.request.body["perInstanceProperties"] == each


@pytest.mark.parametrize("least", [[], ["--min-count=1"], ["--min-count=3"]])
def test_a_gang_runs_whole_or_not_at_all(least, gang):
    """Half a gang would wait for the rest and cost money."""
    body = gang("--name-pattern=w-#", "--count=3", *least).request.body
    assert (body["count"], body["minCount"]) == ("3", "3")


def test_the_rest_of_the_request_is_what_gcloud_sends(gang):
    """Machine, disks, networks and the location policy are not touched."""
    body = gang(
        "--name-pattern=w-#",
        "--count=2",
        "--target-distribution-shape=any_single_zone",
        "--location-policy=us-central1-a=deny",
        place="--region=us-central1",
    ).request.body
    assert body["locationPolicy"] == {
        "locations": {"zones/us-central1-a": {"preference": "DENY"}},
        "targetShape": "ANY_SINGLE_ZONE",
    }
    assert body["instanceProperties"]["machineType"] == "n1-standard-1"


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ("--name-pattern=vm --count=2", "needs one row of 1 to 18 #"),
        ("--name-pattern=a#b# --count=2", "needs one row of 1 to 18 #"),
        (f"--name-pattern=a{'#' * 19} --count=2", "needs one row of 1 to 18 #"),
        ("--name-pattern=vm-# --count=10", "too few # for 10 machines"),
        ("--predefined-names=a,b,c --count=2", "it names 3 machines and asks for 2"),
    ],
)
def test_names_that_are_left_open_are_refused(flags, reason, read):
    """Nobody could tell the job's nodes from other machines."""
    launch = read(BULK + flags)
    assert isinstance(launch, NoLaunch)
    assert launch.reason.startswith("create.sh: ")
    assert reason in launch.reason


def test_a_bulk_create_makes_as_many_machines_as_compute_engine_takes_and_no_more(read, gang):
    """5,000 with each call ("About bulk creation of VMs"); a greater number would only be names to write."""
    assert len(gang("--name-pattern=w-####", "--count=5000").nodes) == 5_000
    over = read(BULK + "--name-pattern=w-####### --count=5001")
    assert isinstance(over, NoLaunch)
    assert "one bulk create makes at most 5000" in over.reason


def test_a_request_that_creates_nothing_launches_nothing():
    """The reason names the path."""
    stop = Request(method="POST", path="/compute/v1/projects/p/zones/z/instances/vm/stop", query={}, body={})
    assert launch_of_request(stop) == NoLaunch(reason=f"{stop.path} creates no instances")


def test_a_launch_made_of_its_own_request_is_the_same(gang):
    """What our own attempts have sent can be sent again; the script is not known from it."""
    launch = gang("--name-pattern=w-#", "--count=2", "--provisioning-model=SPOT")
    assert launch_of_request(launch.request) == replace(launch, script=None)
