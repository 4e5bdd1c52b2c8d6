"""The metadata of an instance, as a tree and in the forms in which it is given out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcloud.machines.metadata import nodes
from localcloud.machines.metadata.nodes import Chosen, Computed, Lines, Tags
from localcloud.machines.metadata.tree import MetadataPlace, grow


@pytest.fixture
def tree(instance):
    """The tree of the example instance."""
    return grow(instance(metadata={"job-name": "test"}), {"training": {"step": "7"}})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("instance/id", "1234567890123456789"),
        ("instance/name", "test-vm"),
        ("instance/hostname", "test-vm.us-central1-a.c.demo.internal"),
        ("instance/zone", "projects/123456/zones/us-central1-a"),
        ("instance/machine-type", "projects/123456/machineTypes/n1-standard-4"),
        ("instance/attributes/job-name", "test"),
        ("instance/preempted", "FALSE"),
        ("instance/maintenance-event", "NONE"),
        ("instance/scheduling/preemptible", "TRUE"),
        ("instance/scheduling/automatic-restart", "FALSE"),
        ("instance/scheduling/on-host-maintenance", "TERMINATE"),
        ("instance/service-accounts/default/email", "123456-compute@developer.gserviceaccount.com"),
        ("instance/service-accounts/default/scopes", "https://www.googleapis.com/auth/cloud-platform"),
        ("instance/disks/0/device-name", "boot"),
        ("instance/network-interfaces/0/ip", "10.128.0.2"),
        ("instance/network-interfaces/0/mac", "42:01:0a:80:00:02"),
        ("instance/network-interfaces/0/access-configs/0/external-ip", "34.1.2.3"),
        ("instance/guest-attributes/training/step", "7"),
        ("project/project-id", "demo"),
        ("project/numeric-project-id", "123456"),
        ("universe/universe-domain", "googleapis.com"),
    ],
)
def test_the_tree_has_the_documented_keys(tree, path, value):
    """Each key under its documented name, with the value that the instance gives it."""
    assert nodes.as_text(nodes.find(tree, path.split("/"))) == value


def test_a_preempted_instance_says_so(instance):
    """Compute marks the resource, the guest reads TRUE."""
    assert grow({**instance(), "preempted": True}, {})["instance"]["preempted"] == "TRUE"


def test_an_own_hostname_wins(instance):
    """An instance created with `--hostname` has that name."""
    assert grow({**instance(), "hostname": "a.example.com"}, {})["instance"]["hostname"] == "a.example.com"


def test_an_instance_without_service_account_has_none_to_show(instance):
    """There is no `default` then, so no token either."""
    assert grow({**instance(), "serviceAccounts": []}, {})["instance"]["service-accounts"] == {}


def test_a_project_without_default_account_still_has_one_number(instance):
    """It is made up from the project's name, and always the same."""
    bare = {**instance(), "serviceAccounts": []}
    assert MetadataPlace.of(bare) == MetadataPlace.of(bare)
    assert MetadataPlace.of(bare).number > 10**11


def test_an_instance_without_place_is_refused(instance):
    """The error shows the URL that names no place."""
    with pytest.raises(ValueError, match="names no project and zone: 'nowhere'"):
        MetadataPlace.of({**instance(), "selfLink": "nowhere"})


@pytest.mark.parametrize(
    "path", ["instance/nope", "instance/disks/1", "instance/disks/x", "instance/id/0", "x"]
)
def test_what_is_not_there_is_not_found(tree, path):
    """Beyond a value, outside a list, under an unknown name: nothing."""
    with pytest.raises(KeyError):
        nodes.find(tree, path.split("/"))


def test_a_listing_marks_directories():
    """One name a line; a slash says that there is more below."""
    assert nodes.listing({"id": 1, "disks": [], "tags": Tags(["a"]), "token": Computed()}) == (
        "id\ndisks/\ntags\ntoken\n"
    )
    assert nodes.listing([{"a": 1}, "text"]) == "0/\n1\n"


def test_json_turns_dashes_into_camel_case_but_not_for_chosen_keys():
    """Fixed keys are renamed, keys that users choose are not."""
    node = {"machine-type": "m", "attributes": Chosen({"job-name": "j"}), "on-host-maintenance": "x"}
    assert json.loads(nodes.as_json(node)) == {
        "machineType": "m",
        "attributes": {"job-name": "j"},
        "onHostMaintenance": "x",
    }


def test_recursive_answers_leave_out_what_is_computed():
    """A token is listed but not handed out with all the rest."""
    node = {"email": "e", "token": Computed(), "scopes": Lines(["a", "b"])}
    assert nodes.as_json(node) == '{"email":"e","scopes":["a","b"]}'
    assert nodes.as_text(node) == "email e\nscopes a\nscopes b\n"


def test_text_of_a_directory_has_paths():
    """As `?recursive=true&alt=text` shows disks in the documentation."""
    assert nodes.as_text([{"device-name": "boot", "index": 0}]) == "0/device-name boot\n0/index 0\n"


def test_the_etag_changes_with_anything_below(instance):
    """And with nothing else."""
    before, same = grow(instance(), {}), grow(instance(), {})
    after = grow({**instance(), "preempted": True}, {})
    assert nodes.etag(before) == nodes.etag(same)
    assert nodes.etag(before["instance"]) != nodes.etag(after["instance"])
    assert nodes.etag(before["project"]) == nodes.etag(after["project"])


@given(st.dictionaries(st.text(min_size=1).filter(lambda key: "/" not in key), st.text()))
def test_any_attribute_is_given_out_as_it_was_set(values):
    """Whatever a user sets as metadata comes back unchanged, alone and in JSON."""
    node = Chosen(values)
    assert {key: nodes.as_text(nodes.find(node, [key])) for key in values} == values
    assert json.loads(nodes.as_json(node)) == values
