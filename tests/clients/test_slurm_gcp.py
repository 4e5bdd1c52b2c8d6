"""slurm-gcp's resume and suspend scripts, by which Slurm gets and gives back VMs.

They are in no registry: `SPOTWARDEN_SLURM_GCP` names a folder that holds GoogleCloudPlatform/slurm-gcp at the
commit that the table says.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.clients.googleapis import google_apis
from tests.clients.installing import venv
from tests.clients.lane import asked, play
from tests.clients.outcomes import differences, expected, of_lines
from tests.clients.programs import OPERATION

CHECKOUT = os.environ.get("SPOTWARDEN_SLURM_GCP", "")
pytestmark = [
    asked,
    pytest.mark.skipif(not CHECKOUT, reason="SPOTWARDEN_SLURM_GCP names no checkout of slurm-gcp"),
]

PROGRAM = f"""{OPERATION}
import os, pathlib, subprocess, sys, urllib.request
import google.auth, yaml
from googleapiclient import discovery

REGION, ZONE, PROJECT = "us-central1", "us-central1-a", "demo-project"
TEMPLATE = f"projects/{{PROJECT}}/global/instanceTemplates/node"
compute = discovery.build("compute", "v1", cache_discovery=False)
here = pathlib.Path.cwd()

# A stand-in for Slurm itself: of its lists of nodes only the plain form `a-[0-3],b-1` is wanted here.
scontrol = here / "bin" / "scontrol"
scontrol.parent.mkdir()
scontrol.write_text(r'''#!/usr/bin/env python3
import pathlib, re, sys
if sys.argv[1:3] == ["show", "hostnames"]:
    for part in re.findall(r"[^,\\[]+(?:\\[[^]]*\\])?", sys.argv[3]):
        match = re.fullmatch(r"(.*)\\[(\\d+)-(\\d+)\\]", part)
        numbers = range(int(match[2]), int(match[3]) + 1) if match else ()
        print(*([match[1] + str(number) for number in numbers] or [part]), sep="\\n")
elif sys.argv[1:3] == ["show", "hostlist"]:
    print(",".join(pathlib.Path(sys.argv[3]).read_text().split()))
else:
    with open("told", "a") as file:
        print(*sys.argv[1:], file=file)
''')
scontrol.chmod(0o755)
region = compute.regions().get(project=PROJECT, region=REGION).execute()
others = [zone.rpartition("/")[2] for zone in region["zones"] if not zone.endswith("/" + ZONE)]
config = dict(
    slurm_cluster_name="demo", project=PROJECT, slurm_bin_dir=str(scontrol.parent), slurm_log_dir=str(here),
    slurm_scripts_dir=str(here / "scripts"), enable_slurm_gcp_plugins=False,
    partitions=dict(gpu=dict(partition_name="gpu", partition_nodeset=["l4"], enable_job_exclusive=True)),
    nodeset=dict(l4=dict(
        nodeset_name="l4", node_count_static=0, node_count_dynamic_max=8, instance_template=TEMPLATE,
        zone_policy_allow=[ZONE], zone_policy_deny=others, enable_placement=False,
        subnetwork=f"projects/{{PROJECT}}/regions/{{REGION}}/subnetworks/default",
    )),
    nodeset_dyn=dict(), nodeset_tpu=dict(), network_storage=[], login_network_storage=[],
)
(here / "config.yaml").write_text(yaml.safe_dump(config))

def script(name, nodes):
    given = {{**os.environ, "SLURM_CONFIG_YAML": str(here / "config.yaml")}}
    command = [sys.executable, str(here / "scripts" / name), nodes, "--debug"]
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and "Traceback" not in done.stdout, done.stdout + done.stderr
    return done.stdout

def instances():
    found = compute.instances().list(project=PROJECT, zone=ZONE).execute().get("items", [])
    return {{item["name"]: item for item in found}}

def told():
    file = here / "told"
    text = file.read_text() if file.exists() else ""
    file.unlink(missing_ok=True)
    return text

def knob(path, verb="POST", **body):
    url = os.environ["SPOTWARDEN_LOCAL_URL"] + "/local/" + path
    headers = {{"content-type": "application/json"}}
    asked = urllib.request.Request(url, json.dumps(body).encode(), headers, method=verb)
    urllib.request.urlopen(asked).read()

disk = dict(boot=True, autoDelete=True, initializeParams=dict(
    diskSizeGb="50", diskType="pd-balanced", labels=dict(),
    sourceImage="projects/debian-cloud/global/images/family/debian-12",
))
properties = dict(
    machineType="g2-standard-4", disks=[disk], labels=dict(team="eyes"),
    metadata=dict(items=[dict(key="slurm_bucket_path", value="gs://none/none")]),
    networkInterfaces=[dict(subnetwork=f"regions/{{REGION}}/subnetworks/default")],
    scheduling=dict(provisioningModel="SPOT", instanceTerminationAction="STOP", automaticRestart=False),
)
template = dict(name="node", properties=properties)
made = compute.instanceTemplates().insert(project=PROJECT, body=template).execute()
compute.globalOperations().wait(project=PROJECT, operation=made["name"]).execute()

@operation
def resume_makes_spot_vms_in_bulk():
    out = script("resume.py", "demo-l4-[0-2]")
    assert "created 3 instances: nodes=demo-l4-[0-2]" in out, out
    node = instances()["demo-l4-1"]
    assert node["labels"] == dict(team="eyes", slurm_cluster_name="demo", slurm_instance_role="compute")
    assert node["scheduling"]["provisioningModel"] == "SPOT" and told() == ""

@operation
def resume_of_what_is_there_is_no_error():
    script("resume.py", "demo-l4-0")
    assert "state=down" not in told()

@operation
def a_stockout_takes_the_nodes_down():
    knob("stockout", zone=ZONE)
    script("resume.py", "demo-l4-[3-4]")
    knob("stockout", "DELETE", zone=ZONE)
    said = told()
    assert "state=down" in said and "ZONE_RESOURCE_POOL_EXHAUSTED" in said, said
    assert sorted(instances()) == ["demo-l4-0", "demo-l4-1", "demo-l4-2"]

@operation
def suspend_deletes_in_one_batch():
    knob("preempt", node="demo-l4-0")
    out = script("suspend.py", "demo-l4-[0-1]")
    assert "deleted 2 instances demo-l4-[0-1]" in out, out
    assert sorted(instances()) == ["demo-l4-2"]

@operation
def suspend_of_what_is_gone_is_no_error():
    script("suspend.py", "demo-l4-[0-2]")
    assert instances() == {{}}
"""


def test_slurm_gcp_does_what_is_expected(cloud, home):
    """Unmodified, but for Slurm: a stand-in for scontrol reads lists of nodes and notes what it is told."""
    wanted = expected("slurm_gcp")
    python = venv("slurm-gcp", wanted.install) / "python"
    shutil.copytree(Path(CHECKOUT) / "scripts", home / "scripts")
    with google_apis(cloud["SPOTWARDEN_LOCAL_URL"], home) as apis:
        done = play([python, "-c", PROGRAM], cloud, home, more=apis.environment())
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
    assert apis.undone() == []
