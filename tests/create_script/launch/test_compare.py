"""What a script says against what ran."""

import pytest
from msgspec.structs import replace

from spotwarden.create_script import requests
from spotwarden.create_script.request.compare import differences
from spotwarden.model.request import Request
from tests.create_script.launch.ran import CONFIGURED, Cloud, scripts
from tests.create_script.launch.saying import FLAGS, SCRIPT, request_of


@pytest.fixture
def said() -> Request:
    """What the script says."""
    return request_of(*SCRIPT, *FLAGS)


@pytest.fixture
def instance(run):
    """What ran, as the script says, with other fields."""
    instances, _ = run(*SCRIPT, *FLAGS)

    def instance(**fields):
        return {**instances["trainer"], **fields}

    return instance


def items(**values):
    """Metadata."""
    return {"items": [{"key": key.replace("_", "-"), "value": value} for key, value in values.items()]}


def test_what_ran_as_the_script_says_shows_no_difference(said, instance, cloud):
    """With the disks known, too."""
    assert differences(said, instance()) == ()
    assert differences(said, instance(), cloud.disks()) == ()


CHANGED = {
    "name": ({"name": "other"}, "the name: the script says trainer, the instance has other"),
    "machine": (
        {"machineType": "projects/p/zones/z/machineTypes/n1-standard-4"},
        "the machine type: the script says n1-standard-8, the instance has n1-standard-4",
    ),
    "accelerators": (
        {"guestAccelerators": []},
        "the accelerators: the script says 2 x nvidia-tesla-t4, the instance has none",
    ),
    "model": (
        {"scheduling": {"provisioningModel": "STANDARD", "instanceTerminationAction": "DELETE"}},
        "the provisioning model: the script says SPOT, the instance has STANDARD",
    ),
    "action": (
        {"scheduling": {"provisioningModel": "SPOT", "instanceTerminationAction": "STOP"}},
        "the termination action: the script says DELETE, the instance has STOP",
    ),
    "default action": (
        {"scheduling": {"provisioningModel": "SPOT"}},
        "the termination action: the script says DELETE, the instance has STOP",
    ),
    "metadata changed": ({"metadata": items(mode="a", secret="x")}, "the metadata secret: its value differs"),
    "metadata missing": (
        {"metadata": items(mode="a")},
        "the metadata secret: it is in the script, and not on the instance",
    ),
    "metadata more": (
        {"metadata": items(mode="a", secret="s3cret", more="m")},
        "the metadata more: it is on the instance, and not in the script",
    ),
    "account": (
        {"serviceAccounts": [{"email": "me@p.iam.gserviceaccount.com"}]},
        "the service account: the script says default, the instance has me@p.iam.gserviceaccount.com",
    ),
    "no account": (
        {"serviceAccounts": []},
        "the service account: the script says default, the instance has none",
    ),
    "label changed": (
        {"labels": {"team": "speech"}},
        "the label team: the script says vision, the instance has speech",
    ),
    "label more": (
        {"labels": {"team": "vision", "x": "y"}},
        "the label x: it is on the instance, and not in the script",
    ),
    "tags": (
        {"tags": {"items": ["a", "b"]}},
        "the network tags: the script says train, the instance has a, b",
    ),
    "disks": ({"disks": []}, "the number of disks: the script says 1, the instance has none"),
    "network": (
        {"networkInterfaces": [{"network": "projects/p/global/networks/lab"}]},
        "the network of interface 0: the script says default, the instance has lab",
    ),
    "cards": (
        {"networkInterfaces": [{}, {}]},
        "the number of network interfaces: the script says 1, the instance has 2",
    ),
    "place": (
        {"zone": "projects/p/zones/us-east1-b"},
        "the place: the script says us-central1-a, the instance has us-east1-b",
    ),
}


@pytest.mark.parametrize(("fields", "sentence"), CHANGED.values(), ids=CHANGED)
def test_each_thing_that_differs_is_told_in_a_sentence(fields, sentence, said, instance):
    """And nothing else is."""
    assert differences(said, instance(**fields)) == (sentence,)


@pytest.mark.parametrize(("image", "alike"), [("nginx", True), ("other", False)])
def test_a_container_is_compared_without_the_comment_of_its_gcloud(instance, image, alike):
    """A VM that gcloud 528 made is the one of a script that is read as 578 reads it."""
    words = "create-with-container trainer --zone=us-central1-a --image=i --image-project=cos-cloud"
    old, new = (
        requests(
            f"gcloud compute instances {words} --container-image={container}".encode(),
            defaults=replace(CONFIGURED, gcloud_version=version),
        )[0]
        for version, container in ((528, "nginx"), (578, image))
    )
    assert old.body["metadata"] != new.body["metadata"]
    found = differences(new, {**instance(), "metadata": old.body["metadata"]})
    assert alike == (not any("metadata" in difference for difference in found))


def test_values_of_metadata_are_never_told(said, instance):
    """They may be secrets."""
    told = " ".join(
        differences(said, instance(metadata=items(mode="hidden1", secret="hidden2", more="hidden3")))
    )
    assert told.count("metadata") == 3
    assert not any(word in told for word in ("s3cret", "hidden"))


@pytest.mark.parametrize(
    "fields",
    [
        {"labels": {"team": "vision", "spotwarden-job": "trainer", "goog-ec-src": "vm"}},
        {"metadata": items(mode="a", secret="s3cret", spotwarden_job="trainer", ssh_keys="me:ssh-rsa x")},
    ],
)
def test_what_others_put_on_a_machine_is_no_difference(fields, said, instance):
    """Ours, Google's, and the keys of whoever logs in."""
    assert differences(said, instance(**fields)) == ()


def test_what_the_script_says_itself_is_compared_whoever_uses_such_names():
    """A label of Google's that the script asks for is the script's."""
    request = request_of(*SCRIPT, "--labels=goog-ops-agent-policy=v2")
    cloud = Cloud()
    assert cloud.accepts(request)
    instance = {**cloud.instances()["trainer"], "labels": {"goog-ops-agent-policy": "v1"}}
    cloud.close()
    told = "the label goog-ops-agent-policy: the script says v2, the instance has v1"
    assert differences(request, instance) == (told,)


def test_where_and_how_our_own_attempts_run_is_our_doing(said, instance):
    """They go where there is room, and on demand if there is no other way."""
    stamped = items(mode="a", secret="s3cret", spotwarden_attempt="2")
    moved = {"zone": "projects/p/zones/us-east1-b", "scheduling": {"provisioningModel": "STANDARD"}}
    assert differences(said, instance(metadata=stamped, **moved)) == ()


def test_a_name_that_followed_a_move_is_no_difference(cloud):
    """The script says it with the zone at home."""
    value = "trainer.{}.c.project.internal"
    flag = f"--metadata=spotwarden-attempt=2,me={value}"
    said = request_of(*SCRIPT, flag.format("us-central1-a"))
    there = request_of("create", "trainer", "--zone=us-east1-b", flag.format("us-east1-b"))
    assert cloud.accepts(there)
    assert differences(said, cloud.instances()["trainer"]) == ()


def test_accelerators_that_come_with_a_machine_are_no_difference(run):
    """A g2 has its L4 without being asked."""
    words = (*SCRIPT, "--machine-type=g2-standard-8", "--maintenance-policy=TERMINATE")
    instances, _ = run(*words)
    assert instances["trainer"]["guestAccelerators"]
    assert differences(request_of(*words), instances["trainer"]) == ()


def test_accelerators_that_the_script_does_not_ask_for_are_one(instance):
    """An n1 has only those that were asked for."""
    plain = [flag for flag in FLAGS if not flag.startswith("--accelerator")]
    (told,) = differences(request_of(*SCRIPT, *plain), instance())
    assert told == "the accelerators: the script says none, the instance has 2 x nvidia-tesla-t4"


def test_accelerators_that_the_script_asks_for_are_compared_on_any_machine(run):
    """Even where they come with the machine."""
    words = (*SCRIPT, "--machine-type=g2-standard-8", "--maintenance-policy=TERMINATE")
    instances, _ = run(*words)
    (told,) = differences(request_of(*words, "--accelerator=type=nvidia-l4,count=2"), instances["trainer"])
    assert told == "the accelerators: the script says 2 x nvidia-l4, the instance has 1 x nvidia-l4"


def test_an_end_that_the_script_does_not_speak_of_is_not_compared(run):
    """Whoever limits how long a machine runs gives it an end, too."""
    instances, _ = run(*SCRIPT)
    limited = {"provisioningModel": "STANDARD", "instanceTerminationAction": "DELETE"}
    assert differences(request_of(*SCRIPT), {**instances["trainer"], "scheduling": limited}) == ()


def test_a_network_that_is_not_shown_is_not_compared(said, instance):
    """Of a subnetwork of another project only its own name is."""
    card = {"subnetwork": "projects/host/regions/us-central1/subnetworks/shared"}
    assert differences(said, instance(networkInterfaces=[card])) == ()


def test_the_old_word_for_spot_is_another_model(said, instance):
    """A preemptible machine lives for a day at most."""
    old = {"provisioningModel": "STANDARD", "preemptible": True, "instanceTerminationAction": "DELETE"}
    (told,) = differences(said, instance(scheduling=old))
    assert told == "the provisioning model: the script says SPOT, the instance has preemptible"


def test_what_a_template_says_is_not_compared(instance):
    """It is known to the API only."""
    assert differences(request_of(*SCRIPT, "--source-instance-template=t"), instance()) == ()


@pytest.mark.parametrize("place", ["--zone=us-central1-a", "--region=us-central1"])
def test_every_node_of_a_gang_is_what_the_script_says(place, run):
    """One that is none of the names is told."""
    words = ("bulk", "create", "--name-pattern=w-#", "--count=2", place, "--metadata=a=b")
    instances, disks = run(*words)
    assert len(instances) == 2
    for one in instances.values():
        assert differences(request_of(*words), one, disks) == ()
    stranger = {**instances["w-1"], "name": "w-3"}
    told = differences(request_of(*words), stranger)
    assert told == ("the name: the script says w-1 to w-2, the instance has w-3",)


def test_a_request_that_creates_nothing_is_compared_with_nothing(said, instance):
    """The one sentence says so."""
    other = replace(said, path="/compute/v1/projects/p/zones/z/operations/o")
    assert differences(other, instance()) == (f"{other.path} creates no instances",)


def test_what_any_script_made_shows_no_difference():
    """Held for every script of the corpus that the local cloud runs."""
    seen, told = 0, []
    for request in scripts():
        cloud = Cloud()
        if cloud.accepts(request):
            found = (differences(request, one, cloud.disks()) for one in cloud.instances().values())
            told += [f"{request.body}: {difference}" for difference in found if difference]
            seen += 1
        cloud.close()
    assert told == []
    assert seen >= 15
