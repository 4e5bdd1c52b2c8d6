"""dstack's backend of Google Cloud, which stands on google-cloud-compute and waits for its operations."""

from tests.clients.googleapis import google_apis
from tests.clients.installing import venv
from tests.clients.lane import asked, play
from tests.clients.outcomes import differences, expected, of_lines
from tests.clients.programs import OPERATION

pytestmark = asked

PROGRAM = f"""{OPERATION}
import os, urllib.request
from dstack._internal.core.backends.gcp.compute import GCPCompute
from dstack._internal.core.backends.gcp.models import GCPConfig, GCPDefaultCreds
from dstack._internal.core.errors import BackendAuthError, NoCapacityError, ProvisioningError
from dstack._internal.core.models.backends.base import BackendType
from dstack._internal.core.models import instances as models

REGION, ZONE, PROJECT = "us-central1", "us-central1-a", "demo-project"
VM = models.InstanceConfiguration(
    project_name="main", instance_name="trainer", user="me",
    ssh_keys=[models.SSHKey(public="ssh-rsa AAAA me")],
)
kept = dict()

def backend(**more):
    return GCPCompute(GCPConfig(project_id=PROJECT, regions=[REGION], creds=GCPDefaultCreds(), **more))

def offer(*, spot=True, gpus=("L4",), name="g2-standard-4"):
    resources = models.Resources(
        cpus=4, memory_mib=16384, spot=spot, gpus=[models.Gpu(name=gpu, memory_mib=24576) for gpu in gpus],
    )
    return models.InstanceOfferWithAvailability(
        backend=BackendType.GCP, region=REGION, price=0.3, availability="available",
        availability_zones=[ZONE],
        instance=models.InstanceType(name=name, resources=resources),
    )

def knob(path, verb="POST", **body):
    url = os.environ["SPOTWARDEN_LOCAL_URL"] + "/local/" + path
    headers = {{"content-type": "application/json"}}
    asked = urllib.request.Request(url, json.dumps(body).encode(), headers, method=verb)
    urllib.request.urlopen(asked).read()

def found(provisioned):
    return compute.instances_client.get(project=PROJECT, zone=ZONE, instance=provisioned.instance_id)

def refresh(provisioned):
    compute.update_provisioning_data(provisioned, "ssh-rsa AAAA me", "")

compute = backend()
for image in ("dstack-cuda-0-14", "dstack-0-14"):
    knob("images", name=image, project="dstack")

@operation
def another_project_is_refused():
    try:
        GCPCompute(GCPConfig(project_id="another", creds=GCPDefaultCreds()))
    except BackendAuthError:
        return
    raise AssertionError("it was let in")

@operation
def a_stockout_is_no_capacity():
    knob("stockout", zone=ZONE)
    try:
        compute.create_instance(offer(), VM, None)
    except NoCapacityError:
        return
    finally:
        knob("stockout", "DELETE", zone=ZONE)
    raise AssertionError("there was a VM")

@operation
def create_a_spot_instance():
    kept["spot"] = compute.create_instance(offer(), VM, None)
    instance = found(kept["spot"])
    assert instance.scheduling.provisioning_model == "SPOT"
    assert instance.labels["dstack_name"] == "trainer" and instance.guest_accelerators

@operation
def it_gets_an_address():
    while kept["spot"].hostname is None:
        refresh(kept["spot"])
    assert kept["spot"].hostname and kept["spot"].internal_ip

@operation
def see_a_preemption():
    knob("preempt", node=kept["spot"].instance_id)
    while found(kept["spot"]).status == "RUNNING":
        pass
    try:
        refresh(kept["spot"])
    except ProvisioningError as error:
        assert "Instance status: STOP" in str(error) or "TERMINATED" in str(error), error
    else:
        raise AssertionError("it runs on")

def terminated(provisioned):
    for _ in range(2):
        compute.terminate_instance(provisioned.instance_id, REGION, provisioned.backend_data)
    while True:
        try:
            refresh(provisioned)
        except ProvisioningError as error:
            if "not found" in str(error):
                return

@operation
def terminate_twice():
    terminated(kept["spot"])

@operation
def create_on_demand_without_an_address_of_its_own():
    private = backend(public_ips=False, vpc_name="default", tags=dict(team="eyes"))
    made = private.create_instance(offer(spot=False, gpus=(), name="e2-standard-4"), VM, None)
    instance = found(made)
    assert not instance.network_interfaces[0].access_configs and instance.labels["team"] == "eyes"
    terminated(made)

@operation
def offers_know_the_quotas_of_regions():
    regions = compute.regions_client.list(project=PROJECT)
    quotas = {{region.name: {{quota.metric for quota in region.quotas}} for region in regions}}
    assert quotas[REGION] >= {{"PREEMPTIBLE_NVIDIA_L4_GPUS", "NVIDIA_L4_GPUS"}}, quotas[REGION]
"""


def test_dstack_does_what_is_expected(cloud, home):
    """Unmodified: its calls to Google are answered by a proxy that its HTTP library is told of."""
    wanted = expected("dstack")
    python = venv("dstack", wanted.install) / "python"
    with google_apis(cloud["SPOTWARDEN_LOCAL_URL"], home) as apis:
        done = play([python, "-c", PROGRAM], cloud, home, more=apis.environment())
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
    assert apis.undone() == []
