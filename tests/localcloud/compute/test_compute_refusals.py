"""What cannot be created is refused at once, with the field and the reason."""

import pytest

from localcloud.compute import schema
from tests.localcloud.compute.world import IMAGE, ZONE, World, request, spot

INSTANCES = f"zones/{ZONE}/instances"


def refusal(world: World, **fields) -> tuple[int, str, str]:
    """How a request with these fields is refused; nothing may be left of it."""
    answer = world.refused("POST", INSTANCES, request(**fields))
    assert world.get("/local/instances")["count"] == 0
    assert "items" not in world.get(f"zones/{ZONE}/disks")
    return answer


@pytest.mark.parametrize(
    ("scheduling", "message"),
    [
        (spot(automaticRestart=True), "cannot be restarted automatically"),
        (spot(onHostMaintenance="MIGRATE"), "do not support live migration"),
        (spot(preemptible=False), "Spot VMs are preemptible"),
        ({"instanceTerminationAction": "DELETE"}, "must use the Spot provisioning model"),
        ({"preemptible": True, "maxRunDuration": {"seconds": "60"}}, "use the Spot provisioning model"),
        ({"preemptionNoticeDuration": {"seconds": "120"}}, "Only Spot VMs have a preemption notice"),
        ({"maxRunDuration": {"seconds": "29"}}, "from 30 seconds to 120 days"),
        ({"maxRunDuration": {"seconds": str(120 * 86400 + 1)}}, "from 30 seconds to 120 days"),
        ({"terminationTime": "2026-11-21T07:59:59Z"}, "within the next 120 days"),
        ({"terminationTime": "tomorrow"}, "RFC 3339"),
        (
            {"maxRunDuration": {"seconds": "60"}, "terminationTime": "2026-11-22T08:00:00Z"},
            "Only one of maxRunDuration and terminationTime",
        ),
    ],
)
def test_scheduling_options_that_exclude_each_other_are_refused(world: World, scheduling, message):
    """Each with the field that is to blame."""
    status, reason, text = refusal(world, scheduling=scheduling)
    assert (status, reason) == (400, "invalid")
    assert text.startswith("Invalid value for field 'resource.scheduling.")
    assert message in text


def test_a_notice_of_another_length_is_refused(world: World):
    """There is one of 120 s, or none."""
    status, reason, text = refusal(world, scheduling=spot(preemptionNoticeDuration={"seconds": "60"}))
    assert (status, reason) == (400, "invalid")
    assert "preemptionNoticeDuration" in text


@pytest.mark.parametrize(
    ("how", "reason", "named"), [("field", "invalid", True), ("machine", "unsupportedOperation", False)]
)
def test_a_machine_type_may_refuse_the_notice_and_nothing_else(world: World, how, reason, named):
    """By the name of the field, or not; without the notice it is created, and later with it."""
    machine = request()["machineType"].rpartition("/")[2]
    noticed = spot(preemptionNoticeDuration={"seconds": "120"})
    world.post("/local/preemption-notice", {"machine": machine, "refused": how})
    status, word, text = refusal(world, scheduling=noticed)
    assert (status, word, "preemptionNoticeDuration" in text) == (400, reason, named)
    assert world.create(name="plain", scheduling=spot())["status"] == "RUNNING"
    world.post("/local/preemption-notice", {"machine": machine, "refused": None})
    assert world.create(name="told", scheduling=noticed)["status"] == "RUNNING"


def test_an_unknown_machine_type_refuses_nothing(world: World):
    """It is a slip of the test's."""
    answer = world.refused("POST", "/local/preemption-notice", {"machine": "e2-nothing"})
    assert "e2-nothing" in answer[2]


@pytest.mark.parametrize("seconds", ["30", str(120 * 86400)])
def test_the_limits_of_the_run_time_are_allowed(world: World, seconds):
    """Both ends of the range."""
    limit = {"maxRunDuration": {"seconds": seconds}, "instanceTerminationAction": "STOP"}
    assert world.create(scheduling=limit)["status"] == "RUNNING"


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"name": "VM"}, 400, "Invalid value for field 'resource.name': 'VM'. Must be a match of regex"),
        ({"name": "a" * 64}, 400, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'"),
        ({"name": "vm-"}, 400, "Must be a match of regex"),
        ({"machineType": None}, 400, "A machine type is required."),
        (
            {"machineType": f"zones/{ZONE}/machineTypes/n1-standard-3"},
            400,
            f"Machine type with name 'n1-standard-3' does not exist in zone '{ZONE}'.",
        ),
        (
            {"machineType": "zones/us-east1-b/machineTypes/n1-standard-1"},
            400,
            f"It is not in the zone of the instance, '{ZONE}'.",
        ),
        ({"machineType": "zones/a/b/c/d"}, 400, "The URL is malformed."),
        ({"disks": []}, 400, "No disks are specified."),
        ({"disks": [{"initializeParams": {"sourceImage": IMAGE}}]}, 400, "Boot disk must be the first disk"),
        (
            {
                "disks": [
                    {
                        "boot": True,
                        "initializeParams": {"sourceImage": IMAGE.replace("debian-12", "debain-12")},
                    }
                ]
            },
            400,
            "The referenced image resource cannot be found.",
        ),
        (
            {
                "disks": [
                    {"boot": True, "initializeParams": {"sourceImage": "projects/nobody/global/images/i"}}
                ]
            },
            400,
            "The referenced image resource cannot be found.",
        ),
        (
            {"disks": [{"boot": True, "initializeParams": {"sourceImage": "debian"}}]},
            400,
            "The URL is malformed.",
        ),
        ({"disks": [{"boot": True, "initializeParams": {}}]}, 400, "A boot disk needs a sourceImage"),
        ({"disks": [{"boot": True}]}, 400, "One of source or initializeParams is required."),
        (
            {"disks": [{"boot": True, "initializeParams": {"sourceImage": IMAGE, "diskSizeGb": "5"}}]},
            400,
            "Requested disk size cannot be smaller than the image size (10 GB)",
        ),
        (
            {"disks": [{"boot": True, "initializeParams": {"sourceImage": IMAGE, "diskType": "pd-fast"}}]},
            404,
            f"The resource 'projects/project/zones/{ZONE}/diskTypes/pd-fast' was not found",
        ),
        (
            {"disks": [{"boot": True, "source": f"zones/{ZONE}/disks/none"}]},
            404,
            f"The resource 'projects/project/zones/{ZONE}/disks/none' was not found",
        ),
        ({"networkInterfaces": []}, 400, "At least one network interface is required."),
        (
            {"networkInterfaces": [{"network": "global/networks/none"}]},
            400,
            "The referenced network resource cannot be found.",
        ),
        (
            {"networkInterfaces": [{"subnetwork": "regions/us-central1/subnetworks/none"}]},
            400,
            "The referenced subnetwork resource cannot be found.",
        ),
        (
            {"networkInterfaces": [{"subnetwork": "regions/us-east1/subnetworks/default"}]},
            400,
            "The subnetwork is not in region 'us-central1'",
        ),
        (
            {"networkInterfaces": [{"accessConfigs": [{"natIP": "192.0.2.7"}]}]},
            400,
            "The specified external IP address '192.0.2.7' was not found in region 'us-central1'.",
        ),
        ({"labels": {"Job": "a"}}, 400, "Label keys must start with a lowercase letter"),
        ({"labels": {"job": "a" * 64}}, 400, "at most 63"),
        ({"tags": {"items": ["Train"]}}, 400, "Invalid value for field 'resource.tags.items[0]': 'Train'"),
        (
            {"metadata": {"items": [{"key": "a b", "value": ""}]}},
            400,
            "'resource.metadata.items[0].key': 'a b'",
        ),
        (
            {"metadata": {"items": [{"key": "a", "value": ""}, {"key": "a", "value": ""}]}},
            400,
            "Metadata has duplicate key.",
        ),
        ({"metadata": {"items": [{"key": "a", "value": "x" * 262_145}]}}, 413, "is too large"),
        ({"serviceAccounts": [{"email": "a@b"}, {"email": "c@d"}]}, 400, "At most one service account"),
    ],
)
def test_what_cannot_be_is_refused_at_once(world: World, fields, status, message):
    """Before anything exists, with the field and the reason."""
    got = refusal(world, **fields)
    assert got[0] == status
    assert message in got[2]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"machinetype": "x"}, 'Unknown name "machinetype": Cannot find field.'),
        ({"scheduling": {"spot": True}}, "Unknown name \"spot\" at 'scheduling': Cannot find field."),
        (
            {"disks": [{"boot": True, "size": 1}]},
            "Unknown name \"size\" at 'disks[0]': Cannot find field.",
        ),
        ({"x": 1, "labels": {}, "y": 2}, 'Unknown name "y": Cannot find field.'),
        ({"canIpForward": "yes"}, "Invalid value at 'can_ip_forward' (TYPE_BOOL), \"yes\""),
        ({"labels": {"a": 1}}, "Invalid value at 'labels[a]' (TYPE_STRING), 1"),
        ({"disks": {}}, "Invalid value at 'disks' (a list), {}"),
        ({"scheduling": []}, "Invalid value at 'scheduling' (an object), []"),
        (
            {"scheduling": {"provisioningModel": "CHEAP"}},
            "Invalid value at 'scheduling.provisioning_model' (TYPE_ENUM), \"CHEAP\"",
        ),
        (
            {"scheduling": {"provisioningModel": 1}},
            "Invalid value at 'scheduling.provisioning_model' (TYPE_ENUM), 1",
        ),
        (
            {"scheduling": {"maxRunDuration": {"seconds": "60s"}}},
            "Invalid value at 'scheduling.max_run_duration.seconds' (TYPE_INT64), \"60s\"",
        ),
    ],
)
def test_a_body_of_another_shape_is_refused(world: World, fields, message):
    """Unknown names and wrong types, worded as Google's front end words them."""
    status, reason, text = refusal(world, **fields)
    assert (status, reason) == (400, "badRequest")
    assert message in text


def test_a_fingerprint_is_taken_in_either_alphabet_and_without_padding():
    """As protobuf reads bytes; answers have the alphabet that is safe in URLs."""
    assert schema.read("Tags", {"fingerprint": "-_-_"}) == {"fingerprint": "-_-_"}
    assert schema.read("Tags", {"fingerprint": "+/+/"}) == {"fingerprint": "-_-_"}
    assert schema.read("Tags", {"fingerprint": "AAA"}) == {"fingerprint": "AAA="}


def test_a_body_that_is_no_json_is_refused(world: World):
    """With what is wrong with it."""
    answer = world.finish(world._http.post(f"/compute/v1/projects/project/{INSTANCES}", content=b"{"))
    assert answer.status_code == 400
    assert "not JSON" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("machine", "kind", "count", "status", "message"),
    [
        ("n1-standard-1", "nvidia-tesla-k80", 1, 404, "acceleratorTypes/nvidia-tesla-k80' was not found"),
        ("n1-standard-1", "nvidia-tesla-t4", 3, 400, "It must be a power of two, at most 4"),
        ("n1-standard-1", "nvidia-l4", 1, 400, "does not take nvidia-l4"),
        ("e2-standard-2", "nvidia-tesla-t4", 1, 400, "only N1 machines take accelerators"),
        ("g2-standard-4", "nvidia-tesla-t4", 1, 400, "comes with 1 x nvidia-l4 and takes no others"),
    ],
)
def test_accelerators_that_do_not_fit_are_refused(world: World, machine, kind, count, status, message):
    """What the zone or the machine does not take."""
    gpus = [{"acceleratorType": kind, "acceleratorCount": count}]
    got = refusal(world, machineType=machine, guestAccelerators=gpus, scheduling=spot())
    assert got[0] == status
    assert message in got[2]


def test_accelerators_do_not_migrate(world: World):
    """The default of scheduling does not fit them, and the API says so."""
    assert refusal(world, machineType="g2-standard-4") == (
        400,
        "badRequest",
        "Instances with guest accelerators do not support live migration.",
    )


def test_a_name_in_use_is_refused_as_the_api_words_it(world: World):
    """Also while the instance is only just being created; another zone has its own names."""
    world.post(INSTANCES, request())
    assert world.refused("POST", INSTANCES, request()) == (
        409,
        "alreadyExists",
        f"The resource 'projects/project/{INSTANCES}/vm' already exists",
    )
    world.post("zones/us-east1-b/instances", request(zone="us-east1-b"))


def test_a_refused_instance_gives_its_addresses_back(world: World):
    """The second interface is refused, so the first one's address is free for the next."""
    cards = [{"accessConfigs": [{}]}, {"network": "global/networks/none"}]
    refusal(world, networkInterfaces=cards)
    pool = world.service._site.pools.of("10.128.0.0/20")
    assert pool._used == set()
    assert world.service._site.pools.external._used == set()


def test_other_projects_zones_and_versions_are_refused(world: World):
    """A typing error in a path is not taken for an empty project."""
    assert world.refused("GET", "/compute/v1/projects/other/zones")[0] == 404
    assert world.refused("GET", "zones/us-central1-z/instances") == (
        400,
        "invalid",
        "Invalid value for field 'zone': 'us-central1-z'. Unknown zone.",
    )
    assert world.refused("GET", "regions/mars1/operations")[2].endswith("Unknown region.")
    assert "use v1" in world.refused("GET", "/compute/v7/projects/project/zones")[2]
