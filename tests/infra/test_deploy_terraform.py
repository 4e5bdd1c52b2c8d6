"""deploy.sh with the real Terraform, over a cloud that is made up: the two understand each other."""

import json
import os
import shutil

import pytest

from tests.infra.deploying.machine import ALL, PROJECT, ROOT, Machine, deployed, project
from tests.infra.terraform_schema.provider import google

pytestmark = pytest.mark.skipif(not shutil.which("terraform"), reason="there is no terraform here")
VM = "jobs@my-project.iam.gserviceaccount.com"
ACCOUNTS = ("--job-vm", VM, "--act-as", VM)


@pytest.fixture(scope="module")
def provider():
    """The made-up provider, for as long as this module runs."""
    with google() as environment:
        yield {**environment, "TF_CLI_CONFIG_FILE": os.devnull, "CHECKPOINT_DISABLE": "1"}


@pytest.fixture
def machine(tmp_path):
    """A machine with the real Terraform."""
    machine = Machine(tmp_path)
    machine.really("terraform")
    return machine


def state(machine):
    """What Terraform knows to be there, by address."""
    file = machine.root / "infra/terraform/terraform.tfstate"
    resources = json.loads(file.read_text())["resources"] if file.exists() else []
    return {f"{one['type']}.{one['name']}" for one in resources if one["mode"] == "managed"}


def kept(machine):
    """What was kept beside the state."""
    return machine.settings()


def test_a_plan_makes_nothing(machine, provider):
    """Not even a state; and all that it would make is shown."""
    done = machine.deploy(*ALL, *ACCOUNTS, "--plan", **provider)
    assert done.returncode == 0, done.stderr
    assert "google_secret_manager_secret.secret" in done.stderr
    assert state(machine) == set()


@pytest.mark.skipif(
    os.environ.get("SPOTWARDEN_TERRAFORM") != "all",
    reason="takes 90 s of both cores; SPOTWARDEN_TERRAFORM=all runs it",
)
def test_it_is_deployed_again_without_harm_and_removed(machine, provider):
    """First all of it, observing; then nothing; then the mode alone; and at the end nothing is left."""
    done = machine.deploy(*ALL, *ACCOUNTS, "--yes", answers=project(), **provider)
    assert done.returncode == 0, done.stderr
    assert {"google_pubsub_subscription.function", "google_secret_manager_secret.secret"} <= state(machine)
    assert machine.settings()["mode"] == "observe"

    again = machine.deploy("--project", PROJECT, "--yes", answers=deployed(kept(machine)), **provider)
    assert again.returncode == 0, again.stderr
    told = {**kept(machine), "secret_versions": {"SPOTWARDEN_SIGNING_KEYS": "3"}}
    same = machine.deploy("--project", PROJECT, answers=deployed(told), **provider)
    assert same.returncode == 0, same.stderr
    assert "Everything is up to date" in same.stderr

    acts = machine.deploy("--project", PROJECT, "--enforce", "--yes", answers=deployed(told), **provider)
    assert acts.returncode == 0, acts.stderr
    functions = len(list((ROOT / "functions").glob("*/main.py")))
    assert f"Plan: 0 to add, {functions} to change, 0 to destroy" in acts.stderr

    gone = machine.deploy("--project", PROJECT, "--destroy", "--yes", answers=deployed(told), **provider)
    assert gone.returncode == 0, gone.stderr
    assert state(machine) == set()
