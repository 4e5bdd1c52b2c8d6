"""What takes memory is kept small: log entries as JSON, and URLs that many resources have only once."""

import json
import tracemalloc

from localcloud.clock import Clock
from localcloud.compute.links import Links
from localcloud.logs.entries import Log

COUNT = 500


def _entry(number: int) -> dict[str, object]:
    """As long, and as deep, as one of the audit log."""
    return {
        "logName": "projects/p/logs/cloudaudit.googleapis.com%2Factivity",
        "resource": {"type": "gce_instance", "labels": {"instance_id": str(number), "zone": "us-east1-b"}},
        "protoPayload": {
            "request": {f"field{at}": {"name": f"{number}-{at}", "kept": True} for at in range(8)},
            "authenticationInfo": {"principalEmail": "ada@example.com"},
            "authorizationInfo": [{"permission": "compute.instances.create", "granted": True}],
        },
    }


def test_a_log_entry_takes_little_more_than_its_text():
    """Its key, its time and its id besides. It is read as it was written."""
    log = Log(project="p", clock=Clock(), most=COUNT)
    complete = [log.complete(_entry(number)) for number in range(COUNT)]
    text = sum(len(json.dumps(entry, separators=(",", ":"))) for entry in complete)
    tracemalloc.start()
    for number in range(COUNT):
        log.keep(log.complete(_entry(number)))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (taken - text) / COUNT < 700
    found = log.snapshot()[7].entry
    assert found["protoPayload"] == _entry(7)["protoPayload"]
    assert log.names() == ["projects/p/logs/cloudaudit.googleapis.com%2Factivity"]


def test_resources_share_the_urls_of_what_they_have_in_common():
    """A thousand VMs of a zone have its URL once; a new port of ours gives a new one."""
    at = ["http://127.0.0.1:1"]
    links = Links(base_url=lambda: at[0], project="p")
    first = links.link("zones/us-east1-b")
    assert links.link("zones/" + "us-east1-b") is first
    at[0] = "http://127.0.0.1:2"
    assert links.link("zones/us-east1-b") == "http://127.0.0.1:2/compute/v1/projects/p/zones/us-east1-b"
