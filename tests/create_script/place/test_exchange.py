"""A create request for another machine type, or the reasons why it can't be."""

import pytest
from msgspec.structs import replace

from spotwarden.create_script.request.exchange import NoExchange, exchange
from spotwarden.model.machine_families import FAMILIES, family_of, lacks, ssd_counts

GPU = ("--machine-type=g2-standard-8", "--boot-disk-type=pd-ssd", "--provisioning-model=SPOT")
CPU = "--machine-type=n2-standard-8"


def inner(request):
    """What the request says of each VM."""
    return request.body.get("instanceProperties", request.body)


def exchanged(request, machine):
    """The exchanged request; fail if it can't be."""
    found = exchange(request, machine)
    assert not isinstance(found, NoExchange), found
    return found


def reasons(request, machine):
    """The reasons why a request can't be for this machine type; fail if it can."""
    found = exchange(request, machine)
    assert isinstance(found, NoExchange), found
    return found.reasons


def types(request):
    """The types of its disks, by name; "" where none is named."""
    params = [disk.get("initializeParams", {}) for disk in inner(request)["disks"]]
    return [said.get("diskType", "").rpartition("/")[2] for said in params]


def test_only_the_machine_type_changes_where_all_else_fits(request_of):
    """And back again it is the same request."""
    own = request_of(*GPU)
    there = exchanged(own, "a2-highgpu-1g")
    assert inner(there)["machineType"] == inner(own)["machineType"].replace("g2-standard-8", "a2-highgpu-1g")
    assert {**inner(there), "machineType": inner(own)["machineType"]} == inner(own)
    assert exchanged(there, "g2-standard-8") == own


def test_a_bulk_request_has_bare_names(request_of):
    """Also where a disk's type is put in."""
    own = request_of("--machine-type=n1-standard-8", bulk="--zone=us-central1-a")
    there = exchanged(own, "c3-standard-8")
    assert inner(there)["machineType"] == "c3-standard-8"
    assert inner(there)["disks"][0]["initializeParams"]["diskType"] == "pd-balanced"
    assert there.path == own.path


def test_attached_gpus_stay_behind(request_of):
    """Those of the other machine type come with it."""
    own = request_of("--machine-type=n1-standard-8", "--accelerator=type=nvidia-tesla-t4,count=1")
    assert "guestAccelerators" in inner(own)
    assert "guestAccelerators" not in inner(exchanged(own, "g2-standard-8"))


@pytest.mark.parametrize(
    ("said", "machine", "becomes"),
    [
        ("pd-ssd", "n4-standard-8", "hyperdisk-balanced"),
        ("pd-balanced", "n4-standard-8", "hyperdisk-balanced"),
        ("pd-standard", "n4-standard-8", "hyperdisk-balanced"),
        ("pd-standard", "c3-standard-8", "pd-balanced"),
        ("pd-ssd", "c3-standard-8", "pd-ssd"),
        ("hyperdisk-balanced", "e2-standard-8", "pd-ssd"),
        ("hyperdisk-balanced", "c3-standard-8", "hyperdisk-balanced"),
    ],
)
def test_a_disk_is_of_a_type_that_the_machine_takes(request_of, said, machine, becomes):
    """The nearest one where its own is not taken; one that is, stays."""
    own = request_of(CPU, f"--boot-disk-type={said}", f"--create-disk=size=10,type={said}")
    assert types(exchanged(own, machine)) == [becomes, becomes]


def test_a_disk_without_a_type_gets_one_where_the_usual_one_is_not_taken(request_of):
    """Else it stays without."""
    own = request_of(CPU)
    assert types(exchanged(own, "n4-standard-8")) == ["hyperdisk-balanced"]
    assert types(exchanged(own, "e2-standard-8")) == types(own) == [""]


@pytest.mark.parametrize(
    ("flags", "machine", "why"),
    [
        (["--create-disk=size=500,type=pd-extreme"], "e2-standard-8", "doesn't take a pd-extreme disk"),
        (
            ["--create-disk=size=64,type=hyperdisk-balanced,provisioned-iops=5000"],
            "e2-standard-8",
            "the provisionedIops that it asks for belongs to that",
        ),
        (["--disk=name=data"], "n4-standard-8", "its disk data exists already"),
        (["--local-ssd=interface=nvme"], "e2-standard-8", "can't have 1 local SSDs"),
        (["--local-ssd=interface=nvme"], "n2-standard-128", "can't have 1 local SSDs"),
        (["--min-cpu-platform=Intel Ice Lake"], "n1-standard-8", "Intel Ice Lake or newer"),
        (["--min-cpu-platform=Intel Ice Lake"], "n2d-standard-8", "Intel Ice Lake or newer"),
        (["--threads-per-core=1"], "n4-standard-8", "it asks for CPU features"),
        (["--confidential-compute-type=SEV"], "n4-standard-8", "it asks for a Confidential VM"),
        (["--reservation-affinity=specific", "--reservation=mine"], "n4-standard-8", "its reservation"),
        (["--network-interface=nic-type=VIRTIO_NET"], "n4-standard-8", "interface of type VIRTIO_NET"),
        (["--network-interface="] * 3, "n4-standard-8", "its 3 network interfaces"),
        (["--node-group=mine"], "n4-standard-8", "its sole-tenant nodes"),
        ([], "c4a-standard-8", "needs an image for Arm"),
        ([], "g2-standard-8", "comes with GPUs, unlike"),
        ([], "ct6e-standard-4t", "has TPUs"),
        ([], "m1-ultramem-40", "what fits machine types like m1-ultramem-40"),
        ([], "c3-standard-192-metal", "what fits machine types like c3-standard-192-metal"),
        ([], "n2-standard-8", "is the machine type of the create script already"),
        ([], "big one", "is not a machine type"),
        (["--source-instance-template=mine"], "n4-standard-8", "from a template"),
    ],
)  # fmt: skip
def test_what_was_chosen_for_the_machine_is_a_reason(request_of, flags, machine, why):
    """One fact apart from a request that can be exchanged."""
    own = request_of(*([] if "template" in str(flags) else [CPU]), *flags)
    assert any(why in reason for reason in reasons(own, machine)), reasons(own, machine)


@pytest.mark.parametrize(
    ("flags", "machine"),
    [
        (["--local-ssd=interface=nvme"], "n1-standard-8"),
        (["--local-ssd=interface=nvme"] * 16, "n2-standard-128"),
        (["--network-interface=nic-type=GVNIC"], "n4-standard-8"),
        (["--network-interface=nic-type=VIRTIO_NET"], "e2-standard-8"),
        (["--network-interface=", "--network-interface=network=other"], "n4-standard-8"),
        (["--reservation-affinity=none"], "n4-standard-8"),
        (["--disk=name=data"], "n2-custom-8-32768"),
    ],
)
def test_what_both_machines_may_have_is_none(request_of, flags, machine):
    """And it stays as it is."""
    own = request_of(CPU, *flags)
    there = inner(exchanged(own, machine))
    assert there["networkInterfaces"] == inner(own)["networkInterfaces"]
    assert len(there["disks"]) == len(inner(own)["disks"])


def test_a_machine_without_gpus_takes_no_request_for_gpus(request_of):
    """A program for GPUs would find none, and its owner would pay for nothing."""
    assert any("comes without GPUs" in why for why in reasons(request_of(*GPU), "n2-standard-8"))


def test_bundled_local_ssds_take_the_place_of_those_asked_for(request_of):
    """Compute Engine attaches them by itself."""
    own = request_of("--machine-type=a2-highgpu-8g", *["--local-ssd=interface=nvme"] * 8)
    kinds = [disk.get("type") for disk in inner(exchanged(own, "a3-highgpu-8g"))["disks"]]
    assert "SCRATCH" in [disk.get("type") for disk in inner(own)["disks"]]
    assert "SCRATCH" not in kinds


def test_a_cpu_platform_that_every_such_machine_has_is_not_asked_for(request_of):
    """Compute Engine refuses to be asked for any but the series' own."""
    own = request_of("--machine-type=n1-standard-8", "--min-cpu-platform=Intel Skylake")
    assert "minCpuPlatform" not in inner(exchanged(own, "n2-standard-8"))
    ice = replace(own, body={**own.body, "minCpuPlatform": "Intel Ice Lake"})
    assert inner(exchanged(ice, "n2-standard-8"))["minCpuPlatform"] == "Intel Ice Lake"


def test_a_series_is_told_from_the_name():
    """The longer beginning goes first; what is on the bare metal is not in the table."""
    assert family_of("a2-ultragpu-1g") is FAMILIES["a2-ultragpu"]
    assert family_of("a2-highgpu-1g") is FAMILIES["a2"]
    assert family_of("custom-8-32768") is FAMILIES["n1"]
    assert family_of("c3-standard-8-lssd").bundled
    assert not family_of("c3-standard-8").bundled
    assert (family_of("a4-highgpu-8g").bundled, family_of("a4-highgpu-8g-nolssd").bundled) == (True, False)
    assert (family_of("c3-standard-192-metal"), family_of("x9-standard-8")) == (None, None)


def test_the_number_of_local_ssds_depends_on_the_size():
    """Both sides of a limit."""
    assert 1 in ssd_counts(FAMILIES["n2"], 11)
    assert 1 not in ssd_counts(FAMILIES["n2"], 12)
    assert [ssd_counts(FAMILIES["g4"], vcpus) for vcpus in (6, 12, 47, 48)] == [(), (1,), (2,), (4,)]


def test_a_platform_is_lacked_by_older_ones_and_by_other_kinds():
    """And by a series whose platforms nobody documents."""
    assert lacks(FAMILIES["n2"], "Intel Ice Lake")
    assert not lacks(FAMILIES["c3"], "Intel Ice Lake")
    assert lacks(FAMILIES["n2d"], "Intel Skylake")
    assert lacks(FAMILIES["e2"], "Intel Skylake")
