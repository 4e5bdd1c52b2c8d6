"""The launch of a TPU slice of several hosts."""

import pytest

from spotwarden.create_script.request.cache import on_machine
from spotwarden.create_script.request.stored import launch_of, with_choices
from spotwarden.model.launch import StoredScript
from tests.create_script.gcloud.test_managed_groups import POLICY, SLICE, TEMPLATE

LARGE = f"b={'x' * 140_000}\n"


def launch(text, project="p"):
    """What a stored script comes to."""
    return launch_of(StoredScript(name="create.sh", text=text.encode(), generation=7), project)


def test_its_nodes_are_numbered_behind_the_name_of_the_group():
    """By us: the group gives none of its own."""
    found = launch(POLICY + TEMPLATE + SLICE)
    assert found.nodes == ("train-1", "train-2", "train-3", "train-4")
    assert (found.job, found.gang, found.part) == ("train", True, False)


def test_numbers_have_as_many_digits_as_the_last():
    """As the names of a bulk request."""
    found = launch(POLICY.replace("4x4", "8x8") + TEMPLATE + SLICE.replace("=4 ", "=16 "))
    assert (found.nodes[0], found.nodes[-1]) == ("train-01", "train-16")
    assert found.job == "train"


def test_it_knows_its_parts_and_what_its_machines_are():
    """As gcloud would send them."""
    found = launch(POLICY + TEMPLATE + SLICE)
    assert found.slice.policy.body["workloadPolicy"]["acceleratorTopology"] == "4x4"
    assert found.slice.template.body["name"] == "t"
    assert found.slice.group == found.request
    assert (found.machine, found.spot, found.flexible) == ("ct6e-standard-4t", True, False)
    assert found.properties["scheduling"]["provisioningModel"] == "SPOT"
    assert found.script.generation == 7


def test_a_policy_that_the_script_does_not_create_stays_as_it_is():
    """The size of the group says how many nodes there are."""
    found = launch(TEMPLATE + SLICE)
    assert found.slice.policy is None
    assert len(found.nodes) == 4


def test_flex_start_vms_are_no_spot_vms():
    """They wait for room."""
    found = launch(POLICY + TEMPLATE.replace("=SPOT", "=FLEX_START") + SLICE)
    assert (found.spot, found.flexible) == (False, True)


def test_it_stays_in_its_zone_and_on_its_machine():
    """And says why."""
    found = launch(POLICY + TEMPLATE + SLICE)
    there = with_choices(found, ["us-east5-b", "us-central1-a"])
    assert [choice.place for choice in there.choices] == ["us-east5-a"]
    assert "stays in its zone" in there.fixed[0]
    assert "its own machine type" in on_machine(found, "ct6e-standard-8t").reasons[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            POLICY + TEMPLATE.replace(" t ", " projects/q/global/instanceTemplates/t ") + SLICE,
            "several projects",
        ),
        (POLICY + TEMPLATE + SLICE.replace("train", "t" * 46), "at most 45"),
        (
            LARGE + POLICY + TEMPLATE.replace("--machine", "--metadata=a=$b$b --machine") + SLICE,
            "takes 262144",
        ),
    ],
)
def test_what_compute_engine_would_not_make_is_told_before(text, says):
    """With the name of the script."""
    assert says in launch(text).reason
    assert launch(text).reason.startswith("create.sh: ")


def test_a_slice_of_another_project_is_no_job_here():
    """As any VM."""
    found = launch("gcloud config set project p\n" + POLICY + TEMPLATE + SLICE, "q")
    assert "it creates in project p" in found.reason
