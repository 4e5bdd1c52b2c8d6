"""Permissions that the owner lacks: who comes by the main entrance is refused, a function is not."""

import grpc
import httpx
import pytest
from google.api_core.exceptions import PermissionDenied
from google.cloud import pubsub_v1
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport

from localcloud.errors import ApiError
from localcloud.permissions.denials import Denials
from tests.localcloud.permissions.stage import NOTICES, PROJECT, ZONE, Stage

LIST = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances"


@pytest.fixture(scope="module")
def stage():
    """A local cloud with the door of `cap_runtime`."""
    with Stage("cap_runtime") as stage:
        yield stage


@pytest.fixture
def deny(stage):
    """Take a permission from the owner until the test ends."""
    yield lambda permission: stage.post("/local/denials", permission=permission)
    stage.local.denials.clear()


def test_the_owner_lacks_a_permission_until_it_is_given_back(stage, deny):
    """In Google's words, and only what needs it."""
    url = stage.local.endpoints.http
    assert deny("compute.instances.list") == {"denied": ["compute.instances.list"]}
    refused = httpx.get(url + LIST, trust_env=False)
    wording = f"Required 'compute.instances.list' permission for 'projects/{PROJECT}'"
    assert (refused.status_code, refused.json()["error"]["message"]) == (403, wording)
    assert httpx.get(f"{url}{LIST}/vm", trust_env=False).status_code == 404
    stage.local.denials.clear()
    assert httpx.get(url + LIST, trust_env=False).status_code == 200


def test_of_several_none_is_taken_where_one_is_unknown(stage):
    """Whoever typed them reads of an error, and would not look for what came of the others."""
    url = f"{stage.local.endpoints.http}/local/denials"
    both = {"permissions": ["compute.instances.list", "compute.instances.lits"]}
    refused = httpx.post(url, json=both, trust_env=False)
    assert refused.status_code == 400
    said = refused.json()["error"]["message"]
    assert said.endswith("Did you mean compute.instances.list? Nothing was denied.")
    assert httpx.get(url, trust_env=False).json() == {"denied": []}
    two = {"permissions": ["compute.instances.list", "compute.instances.get"]}
    assert httpx.post(url, json=two, trust_env=False).json() == {"denied": sorted(two["permissions"])}
    stage.local.denials.clear()


def test_a_function_keeps_what_its_row_grants(stage, deny):
    """It comes by a door of its own."""
    deny("compute.instances.list")
    assert httpx.get(stage.account.entrance + LIST, trust_env=False).status_code == 200


def test_what_creating_a_vm_needs_besides_can_be_missing(stage, deny):
    """A person may create VMs and not act as the account that they run as."""
    deny("iam.serviceAccounts.actAs")
    body = {"name": "vm", "serviceAccounts": [{"email": "jobs@demo.iam.gserviceaccount.com"}]}
    refused = httpx.post(stage.local.endpoints.http + LIST, json=body, trust_env=False)
    assert refused.status_code == 403
    assert "iam.serviceAccountUser" in refused.json()["error"]["message"]


def test_the_grpc_port_refuses_as_well(stage, deny):
    """Pub/Sub names no permission."""
    deny("pubsub.topics.publish")
    topic = f"projects/{PROJECT}/topics/{NOTICES}"
    channel = grpc.insecure_channel(stage.local.endpoints.grpc)
    client = pubsub_v1.PublisherClient(transport=PublisherGrpcTransport(channel=channel))
    with pytest.raises(PermissionDenied, match="not authorized"):
        client.publish(topic, b"x").result()
    stage.local.denials.clear()
    assert client.publish(topic, b"x").result()
    channel.close()


def test_a_missing_permission_is_missing_in_the_list_of_those_held(stage, deny):
    """`testIamPermissions` answers what a call would."""
    deny("compute.instances.stop")
    url = f"{stage.local.endpoints.http}/v1/projects/{PROJECT}:testIamPermissions"
    asked = {"permissions": ["compute.instances.stop", "compute.instances.get"]}
    assert httpx.post(url, json=asked, trust_env=False).json() == {"permissions": ["compute.instances.get"]}


@pytest.mark.parametrize("body", [b'{"permission":"\xff"}', b"", b"[]", b'{"permission":1}'])
def test_a_body_that_is_no_denial_is_refused(stage, body):
    """It is the caller's error."""
    url, said = f"{stage.local.endpoints.http}/local/denials", {"content-type": "application/json"}
    refused = httpx.post(url, content=body, headers=said, trust_env=False)
    assert (refused.status_code, stage.local.denials.missing) == (400, frozenset())


@pytest.mark.parametrize(
    ("permission", "meant"),
    [("compute.instances.creat", " Did you mean compute.instances.create?"), ("x", "")],
)
def test_a_permission_that_no_call_needs_is_refused(permission, meant):
    """With the one that was meant, where one is near."""
    with pytest.raises(ApiError) as refused:
        Denials().take(permission)
    assert refused.value.message == f"no call needs the permission {permission!r}.{meant}"
