"""SkyPilot's provisioner of Google Cloud, from its bootstrap to the end of a cluster of spot VMs."""

from tests.clients.googleapis import google_apis
from tests.clients.installing import venv
from tests.clients.lane import asked, play
from tests.clients.outcomes import differences, expected, of_lines
from tests.clients.programs import OPERATION

pytestmark = asked

PROGRAM = f"""{OPERATION}
import copy, os, urllib.request
from googleapiclient import discovery
from sky.provision import common, gcp
from sky.provision.gcp import config as networks

REGION, ZONE, CLUSTER, PROJECT = "us-central1", "us-central1-a", "train-2ea4", "demo-project"
BASE = f"projects/{{PROJECT}}/zones/{{ZONE}}"
PROVIDER = dict(
    type="external", module="sky.provision.gcp", region=REGION, availability_zone=ZONE, project_id=PROJECT,
    cache_stopped_nodes=True, firewall_rule="sky-ports-train-2ea4", use_internal_ips=False,
    force_enable_external_ips=False, disable_launch_config_check=True, use_managed_instance_group=False,
)
DISK = dict(
    boot=True, autoDelete=True, type="PERSISTENT",
    initializeParams=dict(
        diskSizeGb=50, diskType=f"zones/{{ZONE}}/diskTypes/pd-balanced",
        sourceImage="projects/deeplearning-platform-release/global/images/family/common-cpu",
    ),
)
NODE = dict(
    labels={{"skypilot-user": "me", "use-managed-instance-group": "0"}},
    machineType="g2-standard-4", disks=[DISK],
    guestAccelerators=[dict(acceleratorType=f"{{BASE}}/acceleratorTypes/nvidia-l4", acceleratorCount=1)],
    metadata=dict(items=[
        dict(key="ssh-keys", value="me:ssh-ed25519 AAAA me"), dict(key="install-nvidia-driver", value="True"),
    ]),
    scheduling=dict(
        automaticRestart=False, onHostMaintenance="TERMINATE", provisioningModel="SPOT", preemptible=True,
        instanceTerminationAction="STOP",
    ),
)
kept = dict()

def ready():
    given = common.ProvisionConfig(
        provider_config=dict(PROVIDER), authentication_config=dict(ssh_user="me"), docker_config=dict(),
        node_config=copy.deepcopy(NODE), count=2, tags=dict(), resume_stopped_nodes=True,
        ports_to_open_on_launch=None,
    )
    return gcp.bootstrap_instances(REGION, CLUSTER, given)

def run():
    return gcp.run_instances(REGION, CLUSTER, CLUSTER, ready())

def statuses():
    found = gcp.query_instances(CLUSTER, CLUSTER, PROVIDER, non_terminated_only=False)
    return sorted(status.name for status, _ in found.values())

def knob(name, verb="POST", **body):
    url = os.environ["SPOTWARDEN_LOCAL_URL"] + "/local/" + name
    headers = {{"content-type": "application/json"}}
    asked = urllib.request.Request(url, json.dumps(body).encode(), headers, method=verb)
    urllib.request.urlopen(asked).read()

@operation
def bootstrap_finds_the_default_network_and_makes_an_account():
    node = ready().node_config
    assert node["serviceAccounts"][0]["email"] == f"skypilot-v1@{{PROJECT}}.iam.gserviceaccount.com"
    assert node["networkInterfaces"][0]["subnetwork"].endswith("/subnetworks/default")

@operation
def a_stockout_is_an_error_that_it_knows():
    knob("stockout", zone=ZONE)
    try:
        run()
    except common.ProvisionerError as error:
        assert [found["code"] for found in error.errors] == ["VM_MIN_COUNT_NOT_REACHED"], error.errors
    else:
        raise AssertionError("there were VMs")
    finally:
        knob("stockout", "DELETE", zone=ZONE)
    assert statuses() == []

@operation
def run_two_spot_nodes():
    kept["first"] = run()
    assert len(kept["first"].created_instance_ids) == 2
    assert statuses() == ["UP", "UP"]

@operation
def nodes_have_addresses_and_one_is_the_head():
    info = gcp.get_cluster_info(REGION, CLUSTER, PROVIDER)
    assert info.head_instance_id == kept["first"].head_instance_id
    for [node] in info.instances.values():
        assert node.internal_ip and node.external_ip

@operation
def open_ports():
    gcp.open_ports(CLUSTER, ["8000-8010"], PROVIDER)

@operation
def see_a_preemption():
    knob("preempt", node=kept["first"].head_instance_id)
    while (now := statuses()) == ["UP", "UP"]:
        pass
    assert now == ["STOPPED", "UP"], now

@operation
def run_again_resumes_what_was_preempted():
    assert run().resumed_instance_ids == [kept["first"].head_instance_id]
    assert statuses() == ["UP", "UP"]

@operation
def stop():
    gcp.stop_instances(CLUSTER, PROVIDER)
    assert statuses() == ["STOPPED", "STOPPED"]

@operation
def terminate():
    gcp.cleanup_ports(CLUSTER, ["8000-8010"], PROVIDER)
    gcp.terminate_instances(CLUSTER, PROVIDER)
    assert statuses() == []

@operation
def bootstrap_makes_a_network_where_none_lets_it_in():
    compute = discovery.build("compute", "v1", cache_discovery=False)
    for name in ("default-allow-ssh", "default-allow-internal"):
        gone = compute.firewalls().delete(project=PROJECT, firewall=name).execute()
        networks.wait_for_compute_global_operation(PROJECT, gone, compute)
    interface = ready().node_config["networkInterfaces"][0]
    assert interface["subnetwork"].endswith("/subnetworks/skypilot-vpc"), interface
"""


def test_skypilot_does_what_is_expected(cloud, home):
    """Unmodified: its calls to Google are answered by a proxy that its HTTP library is told of."""
    wanted = expected("skypilot")
    python = venv("skypilot", wanted.install) / "python"
    with google_apis(cloud["SPOTWARDEN_LOCAL_URL"], home) as apis:
        quiet = {**apis.environment(), "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"}
        done = play([python, "-c", PROGRAM], cloud, home, more=quiet)
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
    assert apis.undone() == []
