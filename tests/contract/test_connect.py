"""How the cloud is opened: where to, and not before it is needed."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from google.api_core.exceptions import NotFound
from google.cloud.monitoring_v3 import ListTimeSeriesResponse

from spotwarden.gcp import rest_only
from spotwarden.gcp.connect import connect
from spotwarden.gcp.endpoint import GOOGLE, checked_endpoint
from tests.contract.scripted import Scripted
from tests.contract.scripted_rpc import ScriptedRpc
from tests.contract.served import PROJECT, Served

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
WATCHED = (
    "google.auth",
    "google.api_core",
    "google.cloud.storage",
    "google.pubsub_v1",
    "google.cloud.pubsub_v1",
    "google.cloud.compute_v1",
    "google.cloud.monitoring_v3",
    "spotwarden.gcp.compute",
    "spotwarden.gcp.monitoring",
    "spotwarden.gcp.pubsub",
)
SCRIPT = """
import json, sys
from spotwarden.gcp.connect import connect
cloud = connect(project="demo", bucket="b", topic="t", compute_endpoint="http://127.0.0.1:9")
{use}
print(json.dumps([name for name in {watched!r} if name in sys.modules]))
"""


def imported(use: str) -> list[str]:
    """Which of the watched packages a fresh process has imported after that."""
    script = SCRIPT.format(use=use, watched=WATCHED)
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    found: list[str] = json.loads(done.stdout)
    return found


def test_opening_the_cloud_imports_nothing_of_googles():
    """A function that answers "nothing to do" pays for nothing."""
    assert imported("") == []


def test_the_bucket_alone_imports_no_client():
    """A marker is looked at without any of Google's: what a sweep asks is asked over their transport."""
    assert imported("cloud.store.entries") == ["google.auth", "google.api_core"]


def test_compute_engine_imports_no_client_of_its_own():
    """google.cloud.compute_v1 takes longer to import than all the rest together."""
    assert imported("cloud.compute.instances") == ["google.auth", "google.api_core", "spotwarden.gcp.compute"]


def test_the_metrics_import_nothing_else():
    """Nor the rest of the cloud."""
    assert imported("cloud.metrics.gpus") == [
        "google.auth",
        "google.api_core",
        "google.cloud.monitoring_v3",
        "spotwarden.gcp.monitoring",
    ]


def test_the_topic_imports_no_bucket():
    """What only tells people needs only Pub/Sub, and no thread that publishes later."""
    assert imported("cloud.notices.publish") == [
        "google.auth",
        "google.api_core",
        "google.pubsub_v1",
        "spotwarden.gcp.pubsub",
    ]


def test_without_grpc_the_bucket_and_compute_engine_are_there():
    """And nothing of gRPC's clients is imported, whatever is asked of them."""
    use = "from spotwarden.gcp.rest_only import connect as only\n"
    use += "cloud = only(project='demo', bucket='b', topic='t', compute_endpoint='http://127.0.0.1:9')\n"
    use += "cloud.store.entries; cloud.compute.instances"
    assert imported(use) == [
        "google.auth",
        "google.api_core",
        "spotwarden.gcp.compute",
    ]


def test_without_grpc_there_is_no_topic_and_no_metric():
    """Who asks for one is told how the cloud is to be opened, and no endpoint is less checked."""
    cloud = rest_only.connect(project="demo", bucket="b", topic="t", monitoring_endpoint="")
    with pytest.raises(RuntimeError, match=r"publishes nothing: open the cloud by spotwarden\.gcp\.connect"):
        cloud.notices.publish(b"x", {})
    with pytest.raises(RuntimeError, match="reads no metrics"):
        cloud.metrics.cpus(NOW, NOW)
    with pytest.raises(ValueError, match="leave it empty for Google"):
        rest_only.connect(project="demo", bucket="b", compute_endpoint="http://10.0.0.1")


def test_an_opened_cloud_is_the_one_that_the_settings_name(served: Served):
    """Through Google's own variables and the endpoint: bucket, Compute Engine and topic answer."""
    served.run(lambda: served.storage.ensure_bucket("connect"))
    cloud = connect(
        project=PROJECT,
        bucket="connect",
        topic="t",
        compute_endpoint=served.url,
        pubsub_endpoint=f"http://{served.grpc}",
    )
    with pytest.raises(NotFound, match="resource=t"):
        cloud.notices.publish(b"x", {})
    generation = cloud.store.write("x", b"1", generation=0)
    found = cloud.store.read("x")
    assert found is not None
    assert found.generation == generation


def test_the_local_cloud_is_reached_past_a_proxy(
    google: Scripted, rpc: ScriptedRpc, monkeypatch: pytest.MonkeyPatch
):
    """A laptop in an office has `http_proxy` set; loopback is not the proxy's business."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    google.say({})
    rpc.say(ListTimeSeriesResponse())
    cloud = connect(
        project=PROJECT, bucket="b", topic="t", compute_endpoint=google.url, monitoring_endpoint=rpc.url
    )
    assert cloud.compute.instances().items == ()
    assert cloud.metrics.cpus(NOW, NOW) == {}


@pytest.mark.parametrize(
    ("endpoint", "used"),
    [
        ("", GOOGLE),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("https://compute-psc.p.example.com", "https://compute-psc.p.example.com"),
    ],
)
def test_an_endpoint_is_google_or_this_machine_or_encrypted(endpoint: str, used: str):
    """The three that make sense."""
    assert checked_endpoint(endpoint) == used


@pytest.mark.parametrize(
    "endpoint", ["http://10.0.0.1:8080", "http://example.com", "127.0.0.1:8080", "ftp://x"]
)
def test_a_token_never_crosses_the_net_in_the_clear(endpoint: str):
    """Plain http to another machine is refused with what to write instead."""
    with pytest.raises(ValueError, match="leave it empty for Google"):
        connect(project="demo", bucket="b", topic="t", compute_endpoint=endpoint)
    with pytest.raises(ValueError, match="leave it empty for Google"):
        connect(project="demo", bucket="b", topic="t", monitoring_endpoint=endpoint)
    with pytest.raises(ValueError, match="leave it empty for Google"):
        connect(project="demo", bucket="b", topic="t", pubsub_endpoint=endpoint)
