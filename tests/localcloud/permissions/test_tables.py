"""What Google asks for each call: every method of the local cloud is in a table, and creates ask for more."""

from pathlib import Path

import pytest
from starlette.routing import Route

from localcloud.cloud import LocalCloud, Options
from localcloud.permissions import checked_routes
from localcloud.permissions.creation import ASKED, created
from localcloud.permissions.tables import METHODS, ROUTES

PLACE = "projects/p/zones/us-central1-a/instances"
WORDS = (
    *("compute.", "storage.", "pubsub.", "monitoring.", "logging.", "cloudscheduler."),
    *("resourcemanager.", "iam."),
    *("cloudfunctions.", "run."),
)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str]]:
    """Every verb and path that a local cloud answers."""
    import asyncio  # noqa: PLC0415 - a cloud is made in a loop

    async def make() -> set[tuple[str, str]]:
        options = Options(project="p", state=Path(tmp_path_factory.mktemp("state")), machines=False)
        cloud = LocalCloud(options)
        try:
            routes = [route for route in cloud.app.routes if isinstance(route, Route)]
            return {(verb, route.path) for route in routes for verb in route.methods or ()}
        finally:
            cloud.storage.close()
            await cloud.pubsub.close()

    return asyncio.run(make())


def test_every_row_is_a_route(paths: set[tuple[str, str]]):
    """The table says nothing of what is not there."""
    assert sorted(ROUTES.keys() - paths) == []


def test_a_route_that_is_in_no_table_cannot_be_served():
    """Nothing can be added without a thought of who may call it."""
    with pytest.raises(LookupError, match=r"POST /compute/v1/new is in no table of permissions"):
        list(checked_routes([Route("/compute/v1/new", lambda _request: None, methods=["POST"])]))


def test_permissions_are_spelt_as_permissions():
    """Service, collection, verb."""
    asked = [ask.permission for row in ROUTES.values() for ask in row]
    asked += [ask.permission for row in METHODS.values() for ask in row]
    assert [one for one in asked if one.count(".") != 2 or not one.startswith(WORDS)] == []


def names(body: dict[str, object], query: str = "", place: str = PLACE) -> list[str]:
    """What creating a VM asks for besides."""
    asked = [need.permission for need in created(place, body, query)]
    assert ASKED.issuperset(asked)
    return asked


BESIDES = [
    ({}, []),
    ({"metadata": {"items": [{"key": "a", "value": "b"}]}}, ["compute.instances.setMetadata"]),
    ({"metadata": {"items": []}}, []),
    ({"labels": {"a": "b"}}, ["compute.instances.setLabels"]),
    ({"labels": {}}, []),
    ({"tags": {"items": ["ssh"]}}, ["compute.instances.setTags"]),
    ({"deletionProtection": True}, ["compute.instances.setDeletionProtection"]),
    ({"deletionProtection": False}, []),
    (
        {"serviceAccounts": [{"email": "a@p"}]},
        ["compute.instances.setServiceAccount", "iam.serviceAccounts.actAs"],
    ),
    ({"serviceAccounts": []}, []),
    ({"resourcePolicies": ["near"]}, ["compute.resourcePolicies.use"]),
    ({"networkInterfaces": [{}]}, ["compute.subnetworks.use"]),
    (
        {"networkInterfaces": [{"accessConfigs": [{}]}]},
        ["compute.subnetworks.use", "compute.subnetworks.useExternalIp"],
    ),
    (
        {"networkInterfaces": [{"accessConfigs": [{"natIP": "34.1.2.3"}]}]},
        ["compute.subnetworks.use", "compute.subnetworks.useExternalIp", "compute.addresses.use"],
    ),
    ({"disks": [{"source": "zones/z/disks/d"}]}, ["compute.disks.use"]),
    ({"disks": [{"source": "zones/z/disks/d", "mode": "READ_ONLY"}]}, ["compute.disks.useReadOnly"]),
    ({"disks": [{"type": "SCRATCH"}]}, []),
    ({"disks": [{"initializeParams": {}}]}, ["compute.disks.create"]),
    (
        {"disks": [{"initializeParams": {"labels": {"a": "b"}}}]},
        ["compute.disks.create", "compute.disks.setLabels"],
    ),
    (
        {"disks": [{"initializeParams": {"sourceSnapshot": "global/snapshots/s"}}]},
        ["compute.disks.create", "compute.snapshots.useReadOnly"],
    ),
    (
        {"disks": [{"initializeParams": {"sourceImage": "projects/debian-cloud/global/images/d"}}]},
        ["compute.disks.create"],
    ),
    (
        {"disks": [{"initializeParams": {"sourceImage": "projects/p/global/images/ours"}}]},
        ["compute.disks.create", "compute.images.useReadOnly"],
    ),
    (
        {"disks": [{"initializeParams": {"sourceImage": "global/images/ours"}}]},
        ["compute.disks.create", "compute.images.useReadOnly"],
    ),
    ({"sourceMachineImage": "global/machineImages/m"}, ["compute.machineImages.useReadOnly"]),
]


@pytest.mark.parametrize(("body", "besides"), BESIDES)
def test_a_create_asks_for_what_the_vm_is_to_have(body: dict[str, object], besides: list[str]):
    """And for nothing else; a bulk request for the same."""
    assert names(body) == besides
    if "sourceMachineImage" not in body:
        assert names({"instanceProperties": body}, place=f"{PLACE}/bulkInsert") == besides


def test_a_template_is_used_by_parameter_and_by_field():
    """The one of an insert, the other of a bulk insert."""
    use = ["compute.instanceTemplates.useReadOnly"]
    assert names({}, "sourceInstanceTemplate=global%2FinstanceTemplates%2Ft") == use
    assert names({"sourceInstanceTemplate": "global/instanceTemplates/t"}) == use


def test_a_refusal_can_name_the_very_thing():
    """The VM for what is set on it, the disk, the subnetwork of the region."""
    body = {"name": "vm", "labels": {"a": "b"}, "disks": [{}], "networkInterfaces": [{}]}
    assert {need.permission: need.on for need in created(PLACE, body, "")} == {
        "compute.instances.setLabels": f"{PLACE}/vm",
        "compute.disks.create": "projects/p/zones/us-central1-a/disks/vm",
        "compute.subnetworks.use": "projects/p/regions/us-central1/subnetworks/default",
    }
