"""Instances that ran → the launch that makes them again."""

import pytest

from spotwarden.create_script.request.launched import launch_of_resources
from spotwarden.create_script.request.stored import with_choices
from spotwarden.model.launch import NoLaunch
from spotwarden.model.request import Request
from tests.create_script.launch.again import GANG, RICH, again, only
from tests.create_script.launch.ran import Cloud, scripts


def test_a_machine_is_made_again_with_all_that_was_asked_for(run):
    """The developer's own words, and what the disks were made from."""
    body = again(run, *RICH).request.body
    zone = "projects/project/zones/us-central1-a"
    assert body["name"] == "trainer"
    assert body["machineType"] == f"{zone}/machineTypes/n1-standard-8"
    (gpus,) = body["guestAccelerators"]
    assert gpus == {"acceleratorCount": 2, "acceleratorType": f"{zone}/acceleratorTypes/nvidia-tesla-t4"}
    assert body["metadata"] == {"items": [{"key": "note", "value": "a,b"}, {"key": "step", "value": "1"}]}
    assert (body["labels"], body["tags"]) == ({"team": "vision"}, {"items": ["train"]})
    assert body["scheduling"]["maxRunDuration"] == {"seconds": "3600"}
    kinds = [disk["initializeParams"]["diskType"].rsplit("/", 1)[1] for disk in body["disks"]]
    assert kinds == ["pd-standard", "pd-ssd", "local-ssd"]
    assert body["disks"][0]["initializeParams"]["sourceImage"].startswith(
        "projects/debian-cloud/global/images/"
    )


def test_the_launch_tells_what_a_place_must_offer(run):
    """As one that was made from a script; there is no script to name."""
    launch = again(run, *RICH)
    assert (launch.nodes, launch.place, launch.script) == (("trainer",), "us-central1-a", None)
    assert (launch.machine, launch.accelerators) == ("n1-standard-8", ("nvidia-tesla-t4",))
    assert (launch.spot, launch.gang) == (True, False)


def test_what_only_compute_engine_says_is_left_out(run):
    """Ids, times, fingerprints and addresses belong to the instance that was."""
    body = again(run, *RICH).request.body
    said = {"id", "status", "creationTimestamp", "fingerprint", "selfLink", "zone", "cpuPlatform", "kind"}
    assert not said & body.keys()
    (card,) = body["networkInterfaces"]
    assert not {"networkIP", "name", "fingerprint"} & card.keys()
    assert "natIP" not in card["accessConfigs"][0]
    assert "source" not in body["disks"][0]


def test_the_host_that_gave_the_resource_does_not_matter(run):
    """A request may be sent to another port, or years later to another version."""
    instances, disks = run(*RICH)
    assert "http://" in only(instances)["zone"]
    assert "http://" not in str(launch_of_resources(instances, disks).request.body)


def test_our_own_stamps_are_left_to_the_next_attempt(run):
    """Whatever else begins with our name is kept: it may ask to be spared."""
    body = again(
        run,
        "create",
        "trainer",
        "--metadata=spotwarden-attempt=3,spotwarden-job=trainer,mine=1",
        "--labels=spotwarden-attempt=3,spotwarden-job=trainer,spotwarden-keep=yes",
    ).request.body
    assert body["metadata"] == {"items": [{"key": "mine", "value": "1"}]}
    assert body["labels"] == {"spotwarden-keep": "yes"}


@pytest.mark.parametrize("words", [RICH, GANG])
def test_it_moves_as_a_script_does(words, run, cloud):
    """Types are found in the new zone, and the request is accepted there."""
    launch = with_choices(again(run, *words), ["us-central1-c"])
    there = launch.choices[1].request
    assert there.path.startswith("/compute/v1/projects/project/zones/us-central1-c/")
    assert cloud.accepts(there)
    zones = {one["zone"].rsplit("/", 1)[1] for one in cloud.instances().values()}
    assert "us-central1-c" in zones


def _run_again(request: Request) -> str:
    """Run a request, what it made, and what that made; "" where both say the same or it was never run."""
    first, second = Cloud(), Cloud()
    try:
        if not first.accepts(request):
            return ""
        launch = launch_of_resources(first.instances(), first.disks())
        if isinstance(launch, NoLaunch):
            return f"{request.path} {launch.reason}"
        if not second.accepts(launch.request):
            return f"{request.path} is refused"
        same = launch_of_resources(second.instances(), second.disks()) == launch
        return "same" if same else f"{request.path} {request.body} is not the same"
    finally:
        first.close()
        second.close()


def test_what_any_script_made_can_be_made_again_and_is_the_same_then():
    """Held for every script of the corpus that the local cloud runs."""
    told = [told for request in scripts() if (told := _run_again(request))]
    assert [one for one in told if one != "same"] == []
    assert len(told) >= 15


def test_a_vm_of_another_name_is_made_again_under_that_of_its_node(run):
    """It stood beside the VM that it took over from."""
    instances, disks = run(*RICH)
    body = launch_of_resources({"node": only(instances)}, disks).request.body
    assert body["name"] == "node"
