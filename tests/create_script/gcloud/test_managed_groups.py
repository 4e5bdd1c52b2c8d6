"""Managed instance groups: a script that makes nothing else is refused, with what to write instead."""

import pytest

from spotwarden.create_script import Defaults, read
from spotwarden.create_script.refusal import ScriptRefused

SLICE = """#!/bin/bash
gcloud compute resource-policies create workload-policy wp --type=high-throughput \\
  --accelerator-topology=4x4 --region=us-east5
gcloud compute instance-templates create t --machine-type=ct6e-standard-4t --provisioning-model=SPOT
gcloud {} --size=4 --zone=us-east5-a --template=t --workload-policy=wp
"""
VM = "gcloud compute instances create vm --zone=us-east5-a\n"
GROUP = "compute instance-groups managed"


@pytest.mark.parametrize(
    "command",
    [
        f"{GROUP} create slice",
        f"beta {GROUP} create slice",
        f"{GROUP} resize slice",
        f"{GROUP} resize-requests create slice",
        f"{GROUP} create-instance slice --instance=a",
    ],
)
def test_a_script_of_a_group_alone_is_refused_with_its_line(command):
    """It says what makes VMs that can be restarted, and that slices are not among them."""
    with pytest.raises(ScriptRefused) as refused:
        read(SLICE.format(command).encode(), defaults=Defaults(project="p"))
    assert refused.value.line == 5
    assert "write gcloud compute instances create" in refused.value.reason
    assert "TPU slices of several hosts" in refused.value.reason


@pytest.mark.parametrize("command", [f"{GROUP} describe slice", f"{GROUP} list", f"{GROUP} create --help"])
def test_a_command_that_makes_no_vm_is_only_noted(command):
    """As any other."""
    found = read(f"gcloud {command}\n".encode(), defaults=Defaults(project="p"))
    assert (found.requests, len(found.notes)) == ((), 1)


def test_beside_a_create_a_group_is_only_noted():
    """The create is the job; the group is somebody's serving, perhaps."""
    text = SLICE.format(f"{GROUP} create serving") + VM
    found = read(text.encode(), defaults=Defaults(project="p"))
    assert [request.body["name"] for request in found.requests] == ["vm"]
