"""Cloud Custodian with plain settings, and policies as its documentation has them."""

from tests.clients.googleapis import google_apis
from tests.clients.installing import venv
from tests.clients.lane import asked, play
from tests.clients.outcomes import differences, expected, of_lines
from tests.clients.programs import OPERATION

pytestmark = asked

PROGRAM = f"""{OPERATION}
import os, pathlib, subprocess, sys, urllib.request
from googleapiclient import discovery

REGION, ZONE, PROJECT = "us-central1", "us-central1-a", "demo-project"
compute = discovery.build("compute", "v1", cache_discovery=False)
storage = discovery.build("storage", "v1", cache_discovery=False)
pubsub = discovery.build("pubsub", "v1", cache_discovery=False)
custodian = pathlib.Path(sys.executable).with_name("custodian")

def run(resource, filters=(), actions=()):
    policy = dict(name="try", resource=resource, filters=list(filters), actions=list(actions))
    pathlib.Path("policy.json").write_text(json.dumps(dict(policies=[policy])))
    command = [custodian, "run", "--cache-period", "0", "--output-dir", "out", "policy.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    [found] = pathlib.Path("out").glob("*/resources.json")
    return [item.get("name", item.get("id")) for item in json.loads(found.read_text())]

def done(asked):
    operation = asked.execute()
    place = dict(project=PROJECT, operation=operation["name"], zone=ZONE)
    return compute.zoneOperations().wait(**place).execute()

def create(name, **labels):
    disk = dict(boot=True, autoDelete=True, initializeParams=dict(
        sourceImage="projects/debian-cloud/global/images/family/debian-12",
    ))
    body = dict(
        name=name, machineType=f"zones/{{ZONE}}/machineTypes/e2-small", labels=labels, disks=[disk],
        networkInterfaces=[dict(network="global/networks/default")],
    )
    done(compute.instances().insert(project=PROJECT, zone=ZONE, body=body))

def instance(name):
    return compute.instances().get(project=PROJECT, zone=ZONE, instance=name).execute()

def until(wanted):
    while not wanted():
        pass

create("idle", team="eyes", env="test")
create("busy", team="eyes", env="prod")
create("other")
for name in ("left", "kept"):
    done(compute.disks().insert(project=PROJECT, zone=ZONE, body=dict(name=name, sizeGb="10")))

@operation
def instances_by_label_and_status():
    assert sorted(run("gcp.instance", [{{"tag:team": "eyes"}}, dict(status="RUNNING")])) == ["busy", "idle"]
    assert run("gcp.instance", [{{"tag:team": "absent"}}]) == ["other"]

@operation
def instances_by_metric():
    metric = dict(
        type="metrics", name="compute.googleapis.com/instance/cpu/utilization", aligner="ALIGN_MEAN", days=1,
        value=0.5, op="gt", **{{"metric-key": "metric.labels.instance_name"}},
    )
    point = dict(
        metric="compute.googleapis.com/instance/cpu/utilization", value=0.9, age_seconds=120,
        metric_labels=dict(instance_name="busy"),
        resource_labels=dict(instance_id=instance("busy")["id"], zone=ZONE),
    )
    asked = urllib.request.Request(
        os.environ["SPOTWARDEN_LOCAL_URL"] + "/local/points", json.dumps(point).encode(),
        {{"content-type": "application/json"}},
    )
    urllib.request.urlopen(asked).read()
    assert run("gcp.instance", [metric]) == ["busy"]

@operation
def set_labels_of_an_instance():
    action = {{"type": "set-labels", "labels": {{"seen": "yes"}}}}
    assert run("gcp.instance", [dict(name="idle")], [action]) == ["idle"]
    assert instance("idle")["labels"] == dict(team="eyes", env="test", seen="yes")

@operation
def mark_for_op():
    action = {{"type": "mark-for-op", "op": "stop", "days": 1}}
    assert run("gcp.instance", [dict(name="idle")], [action]) == ["idle"]
    assert "custodian_status" in instance("idle")["labels"]

@operation
def effective_firewalls_of_an_instance():
    rule = dict(key="firewalls[*].name", op="contains", value="default-allow-ssh")
    assert sorted(run("gcp.instance", [dict(type="effective-firewall", **rule)])) == ["busy", "idle", "other"]

@operation
def stop():
    assert run("gcp.instance", [{{"tag:env": "test"}}, dict(status="RUNNING")], ["stop"]) == ["idle"]
    until(lambda: instance("idle")["status"] == "TERMINATED")
    assert instance("busy")["status"] == "RUNNING"

@operation
def start():
    assert run("gcp.instance", [dict(status="TERMINATED")], ["start"]) == ["idle"]
    until(lambda: instance("idle")["status"] == "RUNNING")

@operation
def delete():
    assert run("gcp.instance", [dict(name="other")], ["delete"]) == ["other"]
    until(lambda: sorted(run("gcp.instance")) == ["busy", "idle"])

@operation
def disks_that_nobody_uses():
    unused = dict(type="value", key="users", value="absent")
    assert sorted(run("gcp.disk", [unused])) == ["kept", "left"]

@operation
def set_labels_of_a_disk():
    run("gcp.disk", [dict(name="kept")], [{{"type": "set-labels", "labels": {{"keep": "yes"}}}}])
    until(lambda: sorted(run("gcp.disk", [{{"tag:keep": "yes"}}])) == ["kept"])

@operation
def snapshot_of_a_disk():
    run("gcp.disk", [dict(name="kept")], [{{"type": "snapshot", "name_format": "{{disk[name]}}-{{now:%Y}}"}}])
    until(lambda: compute.snapshots().list(project=PROJECT).execute().get("items"))

@operation
def delete_a_disk():
    assert run("gcp.disk", [dict(name="left")], ["delete"]) == ["left"]
    until(lambda: run("gcp.disk", [dict(name="left")]) == [])

@operation
def buckets():
    for name in ("free-demo", "held-demo"):
        storage.buckets().insert(project=PROJECT, body=dict(name=name)).execute()
    uniform = dict(type="value", key="iamConfiguration.uniformBucketLevelAccess.enabled", value=True)
    assert sorted(run("gcp.bucket", [uniform])) + sorted(run("gcp.bucket", [{{"not": [uniform]}}])) == [
        "free-demo", "held-demo",
    ]
    run("gcp.bucket", [dict(name="free-demo")], [{{"type": "set-uniform-access", "state": True}}])

@operation
def labels_of_a_bucket():
    run("gcp.bucket", [dict(name="held-demo")], [{{"type": "set-labels", "labels": {{"team": "eyes"}}}}])
    assert run("gcp.bucket", [{{"tag:team": "eyes"}}]) == ["held-demo"]

@operation
def topics():
    for name in ("news", "old"):
        pubsub.projects().topics().create(name=f"projects/{{PROJECT}}/topics/{{name}}", body=dict()).execute()
    assert len(run("gcp.pubsub-topic")) == 2
    run("gcp.pubsub-topic", [dict(type="value", key="name", op="glob", value="*/old")], ["delete"])
    assert run("gcp.pubsub-topic") == [f"projects/{{PROJECT}}/topics/news"]
"""


def test_custodian_does_what_is_expected(cloud, home):
    """Unmodified: its calls to Google are answered by a proxy that its HTTP library is told of."""
    wanted = expected("custodian")
    python = venv("custodian", wanted.install) / "python"
    with google_apis(cloud["SPOTWARDEN_LOCAL_URL"], home) as apis:
        done = play([python, "-c", PROGRAM], cloud, home, more=apis.environment())
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
