"""What a create script may have made: the requests are those that the scripts really come to."""

import pytest

from spotwarden.create_script.request.stored import launch_of
from spotwarden.model.launch import Launch, StoredScript
from spotwarden.model.limits import AdmissionLimits
from spotwarden.recovery.kinds.admission import inadmissible

CREATE = "gcloud compute instances create vm --zone=us-central1-a"
GANG = "gcloud compute instances bulk create --predefined-names=a-1,a-2,a-3 --zone=us-central1-a"
PLAIN = "--machine-type=g2-standard-4 --image-family=debian-12 --image-project=debian-cloud"


def launched(flags, command=CREATE):
    """What a script with these flags comes to in the project p."""
    text = f"#!/bin/bash\n{command} {flags}\n".encode()
    launch = launch_of(StoredScript(name="s.sh", text=text, generation=1), "p")
    assert isinstance(launch, Launch), launch
    return launch


def faults(flags=PLAIN, command=CREATE, **limits):
    """Why it is not allowed."""
    return list(inadmissible(launched(flags, command), AdmissionLimits(**limits), "p"))


@pytest.mark.parametrize("command", [CREATE, GANG])
@pytest.mark.parametrize(
    ("flags", "limits", "named"),
    [
        ("--machine-type=a3-megagpu-8g", {"machine_types": ("g2-*",)}, "machine type 'a3-megagpu-8g'"),
        (PLAIN, {"images": ("mine/*",)}, "image 'debian-cloud/family/debian-12'"),
        ("--image=own", {"images": ("debian-cloud/*",)}, "image 'p/own'"),
        ("--service-account=root@p.iam.gserviceaccount.com", {"service_accounts": ("job@*",)}, "'root@p.iam"),
        ("", {"service_accounts": ("job@*",)}, "service account 'default'"),
        ("", {"networks": ("jobs",)}, "network 'default'"),
        (
            "--subnet=projects/host/regions/us-central1/subnetworks/s",
            {"networks": ("s",)},
            "network 'host/s'",
        ),
        (
            "--subnet=projects/host/regions/us-central1/subnetworks/s",
            {"projects": ("friend",)},
            "project 'host'",
        ),
        ("--boot-disk-size=501GB", {"most_disk_gb": 500}, "501 GB"),
        ("", {"external_ip": False}, "external address"),
    ],
)
def test_what_is_not_allowed_is_named(command, flags, limits, named):
    """Whether one VM is made or a gang; the policy's word for the list stands beside it."""
    (fault,) = faults(flags, command, **limits)
    assert named in fault
    assert f"admission.{next(iter(limits))}" in fault


@pytest.mark.parametrize(
    ("flags", "limits"),
    [
        (PLAIN, {}),
        (PLAIN, {"machine_types": ("g2-*",), "images": ("debian-cloud/family/*",)}),
        (PLAIN, {"projects": ("friend",)}),
        ("--no-service-account --no-scopes", {"service_accounts": ("job@*",)}),
        ("--service-account=job@p.iam.gserviceaccount.com", {"service_accounts": ("job@*",)}),
        ("--network=jobs", {"networks": ("jobs",)}),
        (
            "--subnet=projects/host/regions/us-central1/subnetworks/s",
            {"networks": ("host/s",), "projects": ("host",)},
        ),
        ("--boot-disk-size=500GB", {"most_disk_gb": 500}),
        ("--no-address", {"external_ip": False}),
        ("--metadata=note=projects/other/secret", {"projects": ("friend",)}),
    ],
)
def test_what_is_allowed_passes(flags, limits):
    """The other side of each limit; an empty list allows everything."""
    assert faults(flags, **limits) == []


def test_a_gang_is_counted():
    """Each of its nodes is a VM."""
    assert faults(PLAIN, GANG, most_vms=3) == []
    assert faults(PLAIN, GANG, most_vms=2) == ["3 VMs are more than 2 (admission.most_vms)"]


@pytest.mark.parametrize("flags", ["--source-instance-template=t", "--source-machine-image=m"])
def test_what_hides_what_it_makes_is_refused_once_anything_is_limited(flags):
    """Nobody knows which machine comes of it; without limits it is nobody's matter."""
    (fault,) = faults(flags, most_vms=1)
    assert "hides what would be made" in fault
    assert faults(flags) == []


def test_every_reason_is_named_at_once():
    """Whoever mends the script need not come back three times."""
    found = faults(PLAIN, machine_types=("n2-*",), images=("mine/*",), networks=("jobs",), external_ip=False)
    assert len(found) == 4


def test_all_disks_of_a_vm_count_together():
    """A second disk costs as much as the first."""
    two = f"{PLAIN} --boot-disk-size=100GB --create-disk=size=401GB,name=more"
    assert faults(two, most_disk_gb=501) == []
    assert faults(two, most_disk_gb=500) == [
        "501 GB of disks a VM are more than 500 (admission.most_disk_gb)"
    ]


def test_a_snapshot_is_an_image_too():
    """A boot disk made from one holds whatever it holds."""
    flags = "--create-disk=boot=yes,source-snapshot=projects/other/global/snapshots/s"
    (fault,) = faults(flags, images=("debian-cloud/*",))
    assert "image 'other/snapshots/s'" in fault


@pytest.mark.parametrize(
    ("flags", "limits"),
    [
        ("--disk=name=own,boot=yes", {"images": ("p/disks/own",)}),
        ("--network-interface=subnet=jobs,no-address", {"networks": ("jobs",)}),
        (
            "--network-interface=network-attachment=projects/p/regions/us-central1/networkAttachments/a",
            {"networks": ("a",)},
        ),
        ("--accelerator=type=nvidia-tesla-t4,count=1", {"accelerators": ("nvidia-tesla-t4",)}),
        ("--stack-type=IPV4_IPV6 --no-address", {"external_ip": False}),
        ("--local-ssd=interface=NVME", {"most_disk_gb": 375}),
        (
            "--image=https://www.googleapis.com/compute/v1/projects/debian-cloud/global/images/x",
            {"images": ("debian-cloud/*",)},
        ),
        (
            "--image=https://compute.googleapis.com/v1/projects/debian-cloud/global/images/x",
            {"images": ("debian-cloud/*",)},
        ),
    ],
)
def test_what_is_said_in_another_way_passes_where_it_is_allowed(flags, limits):
    """The other side of what follows."""
    assert faults(flags, **limits) == []


@pytest.mark.parametrize(
    ("flags", "limits", "named"),
    [
        ("--disk=name=evil,boot=yes", {"images": ("debian-cloud/*",)}, "image 'p/disks/evil'"),
        (
            "--image=projects/debian-cloud/global/images/../../../evil/global/images/x",
            {"images": ("debian-cloud/*",)},
            "image 'https://",
        ),
        (
            "--image=x --image-project=debian-cloud/global/images/../../evil",
            {"images": ("debian-cloud/*",)},
            "image 'https://",
        ),
        (
            "--image=projects/debian-cloud/global/images/x/",
            {"images": ("debian-cloud/*",)},
            "image 'https://",
        ),
        ("--machine-type=a3-highgpu-8g?/g2-standard-4", {"machine_types": ("g2-*",)}, "machine type '"),
        (
            "--network-interface=network-attachment=projects/host/regions/us-central1/networkAttachments/a",
            {"networks": ("default",)},
            "network 'host/a'",
        ),
        (
            "--machine-type=n1-standard-1 --accelerator=type=nvidia-tesla-v100,count=8",
            {"accelerators": ("nvidia-tesla-t4",)},
            "accelerator 'nvidia-tesla-v100'",
        ),
        (
            "--stack-type=IPV4_IPV6 --ipv6-network-tier=PREMIUM --no-address",
            {"external_ip": False},
            "external address",
        ),
        ("--local-ssd=interface=NVME", {"most_disk_gb": 374}, "375 GB"),
    ],
)
def test_there_is_no_way_round_by_saying_it_otherwise(flags, limits, named):
    """Whatever form a script finds for a thing, it is held against the same list."""
    (fault,) = faults(flags, **limits)
    assert named in fault


SLICE = (
    "gcloud compute instance-groups managed create g --size=4 --zone=us-east5-b --template=t "
    "--workload-policy={}\n"
    "gcloud compute instance-templates create t --machine-type=ct6e-standard-4t"
)


@pytest.mark.parametrize(
    ("flags", "limits", "named"),
    [
        ("", {"machine_types": ("g2-*",)}, "machine type 'ct6e-standard-4t'"),
        ("--image=own", {"images": ("debian-cloud/*",)}, "image 'p/own'"),
        ("", {"service_accounts": ("job@*",)}, "service account 'default'"),
        ("", {"networks": ("jobs",)}, "network 'default'"),
        ("--boot-disk-size=501GB", {"most_disk_gb": 500}, "501 GB"),
        ("", {"external_ip": False}, "external address"),
        ("", {"most_vms": 3}, "4 VMs are more than 3"),
    ],
)
def test_a_slice_is_held_to_what_its_template_says(flags, limits, named):
    """Its group says nothing of its VMs; each of them counts."""
    (fault,) = faults(flags, SLICE.format("wp"), **limits)
    assert named in fault


def test_no_part_of_a_slice_names_a_foreign_project():
    """A workload policy of somebody else's, for one."""
    policy = "projects/host/regions/us-east5/resourcePolicies/wp"
    (fault,) = faults("", SLICE.format(policy), projects=("friend",))
    assert "project 'host'" in fault
    assert faults("", SLICE.format("wp"), projects=("friend",), machine_types=("ct6e-*",)) == []
