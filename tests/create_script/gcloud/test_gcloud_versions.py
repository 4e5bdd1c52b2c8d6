"""What one version of gcloud takes and another does not."""

import pytest

from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.model.gcloud import NEWEST, OLDEST, VERSIONS

CREATE = ["compute", "instances", "create", "vm", "--zone=us-central1-a"]
BULK = ["compute", "instances", "bulk", "create", "--name-pattern=w-#", "--count=2"]


@pytest.mark.parametrize(
    "flag",
    [
        "--request-valid-for-duration=1h",
        "--skip-guest-os-shutdown",
        "--no-skip-guest-os-shutdown",
        "--provisioning-model=flex-start",
        "--create-disk=size=10GB,on-update-action=RECREATE_DISK",
        "--network-interface=vlan=2",
        "--network-interface=ipv6-network-tier=STANDARD",
    ],
)
def test_what_came_later_is_refused_with_the_version_that_has_it(send, flag):
    """A flag, a word to choose, a key: each with what to do."""
    with pytest.raises(ScriptRefused, match=r"gcloud 578 or newer has it.*set gcloud_version to 578"):
        send([*CREATE, flag], gcloud_version=OLDEST)
    assert send([*CREATE, flag])


@pytest.mark.parametrize("flag", ["--preemption-notice-duration=90s", "--graceful-shutdown"])
def test_a_flag_of_another_track_is_refused_with_the_track(send, flag):
    """The word beta before the command is enough."""
    with pytest.raises(ScriptRefused, match="write gcloud beta compute instances create"):
        send([*CREATE, flag])
    assert send(["beta", *CREATE, flag])


def test_a_field_of_compute_engine_without_a_flag_is_refused_as_too_new(send):
    """It stands in the discovery document, and no gcloud that is read can send it."""
    for read in VERSIONS:
        with pytest.raises(ScriptRefused) as refused:
            send([*CREATE, "--protection-tier=x"], gcloud_version=read)
        assert refused.value.reason == (
            "--protection-tier sets scheduling.protectionTier of Compute Engine: gcloud 579 or newer has it,"
            f" and gcloud {read} is read here; update Spotwarden, or put it into an instance template"
        )


@pytest.mark.parametrize("flag", ["--disks=x", "--vlan=2", "--skip-guest-os-shutdow"])
def test_a_misspelt_flag_is_no_new_one(send, flag):
    """Nor is one that is named after a field which has a flag, or is a key of one."""
    with pytest.raises(ScriptRefused, match="unknown flag"):
        send([*CREATE, flag])


def test_what_is_gone_is_refused(send):
    """The card of beta's bulk create lost a key; the other version still sends it."""
    argv = ["beta", *BULK, "--zone=us-central1-a", "--network-interface=igmp-query=igmp_query_v2"]
    with pytest.raises(ScriptRefused, match="igmp-query: only gcloud alpha has it"):
        send(argv)
    assert send(argv, gcloud_version=OLDEST)


@pytest.mark.parametrize(
    ("tag", "old", "new"),
    [
        ("tagKeys/1=tagValues/2", {"tagKeys/1": "tagValues/2"}, {"tagKeys/1": "tagValues/2"}),
        ("445566/env=prod", None, {"445566/env": "prod"}),
        ("k=445566/env/prod", None, {"445566/env": "prod"}),
        ("445566/env=tagValues/9", None, None),
    ],
)
def test_tags_go_by_number_and_by_name(send, tag, old, new):
    """None where only the Resource Manager knows the number."""
    for version, expected in ((OLDEST, old), (NEWEST, new)):
        argv = [*CREATE, f"--resource-manager-tags={tag}"]
        if expected is None:
            with pytest.raises(ScriptRefused, match="known to the API only"):
                send(argv, gcloud_version=version)
        else:
            (request,) = send(argv, gcloud_version=version)
            assert request.body["params"] == {"resourceManagerTags": expected}


def test_a_request_that_may_wait_shares_its_params_with_tags(send):
    """Both stand beside the instance, and not in it."""
    (request,) = send(
        [*CREATE, "--request-valid-for-duration=90m", "--resource-manager-tags=tagKeys/1=tagValues/2"]
    )
    assert request.body["params"] == {
        "requestValidForDuration": {"seconds": "5400"},
        "resourceManagerTags": {"tagKeys/1": "tagValues/2"},
    }


@pytest.mark.parametrize("disk", ["--disk=name=d,boot=yes", "--create-disk=image=i,boot=yes"])
def test_a_project_of_no_image_is_refused_beside_a_boot_disk_of_its_own(send, disk):
    """As without one."""
    with pytest.raises(ScriptRefused, match="needs --image or --image-family"):
        send([*CREATE, disk, "--image-project=p"])
    assert send([*CREATE, disk])


def test_flex_start_is_sent_as_it_is(send):
    """Nothing is added: neither preemptible nor what happens at maintenance."""
    (request,) = send([*CREATE, "--provisioning-model=flex_start"])
    assert request.body["scheduling"] == {"automaticRestart": True, "provisioningModel": "FLEX_START"}


SELECTION = "--instance-selection=name=a, machine-type = x,machine-type=y,rank=1"


def test_selections_of_machine_types_go_beside_the_properties(send):
    """Blanks around the parts are dropped."""
    (request,) = send([*BULK, "--region=us-central1", SELECTION])
    assert request.body["instanceFlexibilityPolicy"] == {
        "instanceSelections": {"a": {"machineTypes": ["x", "y"], "rank": "1"}}
    }


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--zone=us-central1-a", SELECTION], "goes with --region"),
        (["--region=us-central1", "--instance-selection=name=a"], "needs the key machine-type"),
        (["--region=us-central1", "--instance-selection=machine-type=a"], "needs the key name"),
        (["--region=us-central1", SELECTION, SELECTION], "two selections have the name 'a'"),
        (["--region=us-central1", "--instance-selection=name=a,machine-type=x,rank=z"], "whole number"),
        (["--region=us-central1", "--instance-selection=name=a=b,machine-type=x"], "form KEY=VALUE"),
    ],
)
def test_selections_that_gcloud_refuses_are_refused(send, flags, reason):
    """Each with what is wrong."""
    with pytest.raises(ScriptRefused, match=reason):
        send([*BULK, *flags])
