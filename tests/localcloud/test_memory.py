"""What takes memory is kept small: log entries packed, and what many resources have alike only once."""

import json
import tracemalloc
from datetime import UTC, datetime, timedelta
from random import Random
from unittest.mock import ANY

from localcloud.clock import Clock, pacific
from localcloud.compute.links import Links
from localcloud.logs.entries import Log
from localcloud.logs.packing import MOST_LEARNED, Packer
from tests.localcloud.compute.world import ZONE, World

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


def test_a_log_entry_takes_a_fraction_of_its_text():
    """A half, packed, with its key, its time and its id. It is read as it was written."""
    log = Log(project="p", clock=Clock(), most=COUNT)
    complete = [log.complete(_entry(number)) for number in range(COUNT)]
    text = sum(len(json.dumps(entry, separators=(",", ":"))) for entry in complete)
    tracemalloc.start()
    for number in range(COUNT):
        log.keep(log.complete(_entry(number)))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 0.5 * text
    found = log.snapshot()[7].entry
    assert found["protoPayload"] == _entry(7)["protoPayload"]
    assert log.names() == ["projects/p/logs/cloudaudit.googleapis.com%2Factivity"]


def test_what_entries_are_packed_with_stays_small():
    """However many kinds there are, and however badly they pack; each is read as it was written."""
    packer, dice = Packer(), Random(1)
    entries = [{f"{number}": dice.randbytes(600).hex()} for number in range(40)]
    packed = [packer.pack(entry) for entry in entries]
    assert [each.unpack() for each in packed] == entries
    assert len(packed[0].learned) == 0 < len(packed[-1].learned) <= MOST_LEARNED
    assert len({id(each.learned) for each in packed}) <= MOST_LEARNED // 1200 + 1


def test_an_entry_of_a_known_kind_packs_better():
    """The first of its kind is what the second is packed with."""
    packer = Packer()
    first, second = (packer.pack(_entry(number)) for number in (10_001, 10_002))
    assert len(second.data) < len(first.data) / 3


def test_moments_of_one_millisecond_share_their_text():
    """Those of an instance, its disk and its operation."""
    moment = datetime(2026, 11, 23, tzinfo=UTC)
    assert pacific(moment) is pacific(moment + timedelta(microseconds=999))
    assert pacific(moment) != pacific(moment + timedelta(milliseconds=1))


def test_resources_share_the_urls_of_what_they_have_in_common():
    """A thousand VMs of a zone have its URL once; a new port of ours gives a new one."""
    at = ["http://127.0.0.1:1"]
    links = Links(base_url=lambda: at[0], project="p")
    first = links.link("zones/us-east1-b")
    assert links.link("zones/" + "us-east1-b") is first
    at[0] = "http://127.0.0.1:2"
    assert links.link("zones/us-east1-b") == "http://127.0.0.1:2/compute/v1/projects/p/zones/us-east1-b"


def test_instances_share_what_they_have_alike():
    """Metadata with a long script, for one; what differs is each one's own."""
    world = World()
    script = {"items": [{"key": "startup-script", "value": "#!/bin/bash"}]}
    for name, labels in (("a", {"kind": "x"}), ("b", {"kind": "y"})):
        world.create(name, metadata=script, labels=labels)
    first, second = (world.service.knobs._site.registry.find(ZONE, name).resource for name in ("a", "b"))
    assert first["metadata"] == {**script, "kind": "compute#metadata", "fingerprint": ANY}
    assert first["metadata"] is second["metadata"]
    assert first["scheduling"] is second["scheduling"]
    assert (first["labels"], second["labels"]) == ({"kind": "x"}, {"kind": "y"})
    world.close()
