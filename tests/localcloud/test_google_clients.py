"""Google's own clients in a process that has the environment of `spotwarden local env`, and nothing else."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from localcloud.access.peers import owner
from localcloud.cloud import LocalCloud, Options

Run = Callable[[str], Any]

INSERT = """
import os
from google.cloud import compute_v1
options = {"api_endpoint": os.environ["SPOTWARDEN_COMPUTE_ENDPOINT"]}
instances = compute_v1.InstancesClient(client_options=options)
image = "projects/debian-cloud/global/images/family/debian-12"
boot = compute_v1.AttachedDisk(boot=True, auto_delete=True, initialize_params={"source_image": image})
vm = compute_v1.Instance(
    name="vm",
    machine_type="zones/us-central1-a/machineTypes/e2-medium",
    disks=[boot],
    network_interfaces=[{"network": "global/networks/default"}],
)
place = {"project": "demo", "zone": "us-central1-a"}
"""


@pytest.fixture(params=["alone", "among others"])
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a program beside a local cloud; gives the value that it prints.

    `among others`: users cannot be told from each other, so that calls carry the token of the run.
    """
    if request.param == "among others":
        monkeypatch.setattr("localcloud.access.peers.best_table", lambda: None)
    owner.cache_clear()

    def run(program: str) -> Any:
        return asyncio.run(_beside(tmp_path, program))

    yield run
    owner.cache_clear()


async def _beside(state: Path, program: str) -> Any:
    async with LocalCloud(Options(project="demo", state=state, machines=False)) as cloud:
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", program],
            env=dict(cloud.client_environment()),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_default_credentials_are_those_of_the_metadata_server(run: Run):
    """`google.auth.default()` asks at `GCE_METADATA_IP` whether there is one, and finds the project."""
    program = """
import json, google.auth
from google.auth.transport.requests import Request
credentials, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
credentials.refresh(Request())
email = credentials.service_account_email
print(json.dumps([project, email, credentials.universe_domain, credentials.valid]))
"""
    assert run(program) == ["demo", "functions@demo.iam.gserviceaccount.com", "googleapis.com", True]


def test_an_identity_token_is_verified_by_the_certificates(run: Run):
    """`fetch_id_token` asks the metadata server, `verify_token` the URL of our certificates."""
    program = """
import json, os
from google.auth.transport.requests import Request
from google.oauth2 import id_token
request, audience = Request(), "https://me.example.com"
token = id_token.fetch_id_token(request, audience)
certificates = os.environ["SPOTWARDEN_LOCAL_URL"] + "/oauth2/v1/certs"
claims = id_token.verify_token(token, request, audience, certificates)
print(json.dumps([claims["email"], claims["aud"], claims["iss"]]))
"""
    account = "functions@demo.iam.gserviceaccount.com"
    assert run(program) == [account, "https://me.example.com", "https://accounts.google.com"]


def test_compute_takes_the_default_credentials(run: Run):
    """google-cloud-compute with an endpoint and no word of credentials: insert, wait, list."""
    program = f"""{INSERT}
import json
operation = instances.insert(instance_resource=vm, **place)
waiting = compute_v1.ZoneOperationsClient(client_options=options)
done = waiting.wait(operation=operation.name, **place)
print(json.dumps([done.status.name, [item.name for item in instances.list(**place)]]))
"""
    assert run(program) == ["DONE", ["vm"]]


def test_the_result_of_an_operation_is_asked_for_where_the_client_is_told_to(run: Run):
    """The client asks Google for it whatever its endpoint; once told otherwise, `result()` returns.

    The first value fails once the client keeps to its endpoint: docs/local-cloud.md need not tell of it then.
    """
    program = f"""{INSERT}
import json
operations = instances.transport._zone_operations_client.api_endpoint
mine = compute_v1.ZoneOperationsClient(client_options=options)
instances.transport._extended_operations_services["zone_operations"] = mine
operation = instances.insert(instance_resource=vm, **place)
operation.result(timeout=60)
running = instances.get(instance="vm", **place).status
instances.delete(instance="vm", **place).result(timeout=60)
print(json.dumps([operations, operation.done(), running, [item.name for item in instances.list(**place)]]))
"""
    assert run(program) == ["compute.googleapis.com", True, "RUNNING", []]


def test_storage_needs_no_settings(run: Run):
    """google-cloud-storage, as its own page begins: `storage.Client()`."""
    program = """
import json
from google.cloud import storage
client = storage.Client()
client.create_bucket("data-of-demo").blob("a/b").upload_from_string("x")
print(json.dumps([client.project, client.bucket("data-of-demo").blob("a/b").download_as_text()]))
"""
    assert run(program) == ["demo", "x"]


def test_monitoring_and_pubsub_go_by_grpc(run: Run):
    """google-cloud-pubsub by itself, google-cloud-monitoring by a channel: it knows no emulator."""
    program = """
import json, os, grpc
from google.cloud import monitoring_v3, pubsub_v1
from google.cloud.monitoring_v3.services.metric_service.transports import MetricServiceGrpcTransport
token = [("x-spotwarden-token", os.environ.get("SPOTWARDEN_LOCAL_TOKEN", ""))]
topic = pubsub_v1.PublisherClient().create_topic(name="projects/demo/topics/news", metadata=token)
channel = grpc.insecure_channel(os.environ["SPOTWARDEN_MONITORING_ENDPOINT"].removeprefix("http://"))
metrics = monitoring_v3.MetricServiceClient(transport=MetricServiceGrpcTransport(channel=channel))
shown = metrics.list_metric_descriptors(name="projects/demo", metadata=token)
cpu = "compute.googleapis.com/instance/cpu/utilization"
print(json.dumps([topic.name, cpu in [descriptor.type for descriptor in shown]]))
"""
    assert run(program) == ["projects/demo/topics/news", True]


def test_a_metadata_server_says_what_there_is_of_an_instance(tmp_path: Path):
    """Google's library for Node asks so whether there is one; a browser that was tricked is refused."""

    async def asked() -> list[httpx.Response]:
        options = Options(project="demo", state=tmp_path, machines=False)
        async with LocalCloud(options) as cloud, httpx.AsyncClient(base_url=cloud.endpoints.http) as client:
            path, flavor = "/computeMetadata/v1/instance", {"metadata-flavor": "Google"}
            return [await client.get(path, headers=headers) for headers in (flavor, {})]

    found, refused = asyncio.run(asked())
    assert (found.text, found.headers["metadata-flavor"]) == ("service-accounts/\n", "Google")
    assert refused.status_code == 403
