"""Another user of the machine, at each way into a local cloud."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.localcloud.access.conftest import STILL_SECONDS, Served, vm
from tests.waiting import wait

STRANGER = Path(__file__).with_name("stranger.py")
NOBODY = "65534"
BUCKET = "/storage/v1/b/demo-jobs"
US = os.getuid()
REFUSED = f"This local cloud serves the user {US} alone, not the user {NOBODY}."

pytestmark = pytest.mark.skipif(US != 0, reason="only root can be another user")


def as_nobody(asked: dict[str, list[object]]) -> dict[str, str]:
    """What another user is told, way by way."""
    drop = ["setpriv", "--reuid", NOBODY, "--clear-groups"]
    done = subprocess.run(
        [*drop, sys.executable, "-I", str(STRANGER)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def metadata_of(served: Served, name: str) -> str:
    """Where a VM's metadata server is, as its own processes are told."""
    (folder,) = served.state.glob(f"vms/{name}-*")
    return (folder / "where").read_text().strip()


def test_no_way_in_is_open_to_another_user(served: Served):
    """HTTP, gRPC, the mailbox, SMTP, functions, a VM's metadata server: each says whom it serves."""
    script = "echo $GCE_METADATA_HOST > here && mv here where && sleep 1000"
    httpx.post(served.instances, json=vm("ours", script), trust_env=False).raise_for_status()
    wait(STILL_SECONDS, lambda: list(served.state.glob("vms/ours-*/where")), "its script says nothing")
    functions = {each["name"]: each["url"] for each in served.functions()}
    event = json.dumps({"message": {"data": "e30=", "messageId": "1"}, "subscription": "s"})
    publisher = "/google.pubsub.v1.Publisher/"
    ways: dict[str, list[object]] = {
        "insert": ["http", served.instances, json.dumps(vm("theirs"))],
        "list": ["http", served.instances],
        "storage": ["http", f"{served.http}{BUCKET}/o"],
        "upload": ["http", f"{served.http}/upload{BUCKET}/o?uploadType=media&name=theirs", "x"],
        "knobs": ["http", f"{served.http}/local/shell", json.dumps({"node": "ours", "command": "id"})],
        "mailbox": ["http", f"{served.http}/local/mailbox.json"],
        "pages": ["http", f"{served.http}/local/mailbox"],
        "push endpoint": ["http", f"{served.http}/local/mailbox/notices", event],
        "guest": ["http", f"http://{metadata_of(served, 'ours')}/computeMetadata/v1/instance/name"],
        **{f"function {name}": ["http", url, event] for name, url in functions.items()},
        "pubsub": ["grpc", served.grpc, f"{publisher}ListTopics"],
        "pull": ["grpc", served.grpc, "/google.pubsub.v1.Subscriber/StreamingPull"],
        "monitoring": ["grpc", served.grpc, "/google.monitoring.v3.MetricService/ListTimeSeries"],
    }
    told = as_nobody(ways | {"mail": ["smtp", served.smtp]})
    codes = {"http": "403", "grpc": "PERMISSION_DENIED"}
    wanted = {name: f"{codes[str(way[0])]} {REFUSED}" for name, way in ways.items()}
    assert told == wanted | {"mail": f"554 {f'5.7.1 {REFUSED}'.encode()!r}"}
    assert "theirs" not in served.names
    assert served.get(f"{BUCKET}/o?prefix=theirs").get("items", []) == []
    assert [mail for mail in served.get("/local/mailbox.json") if "forged" in mail["subject"]] == []


def test_the_owner_is_served_by_the_same_ways(served: Served):
    """One fact apart: who asks."""
    functions = {each["name"]: each["url"] for each in served.functions()}
    asked = {
        "list": ["http", served.instances],
        "page": ["http", functions["answer_notice"]],
        "pubsub": ["grpc", served.grpc, "/google.pubsub.v1.Publisher/ListTopics"],
        "mail": ["smtp", served.smtp],
    }
    argv = [sys.executable, "-I", str(STRANGER)]
    done = subprocess.run(argv, input=json.dumps(asked), capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["list"].startswith("200")
    assert REFUSED not in told["page"]
    assert told["pubsub"].startswith("INVALID_ARGUMENT")
    assert told["mail"] == "250"
