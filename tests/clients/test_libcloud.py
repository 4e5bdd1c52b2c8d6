"""Apache Libcloud's driver of Compute Engine, which reads every field that it names."""

from tests.clients.googleapis import google_apis
from tests.clients.installing import venv
from tests.clients.lane import asked, play
from tests.clients.outcomes import differences, expected, of_lines
from tests.clients.programs import OPERATION

pytestmark = asked

PROGRAM = f"""{OPERATION}
from libcloud.compute.providers import get_driver
from libcloud.compute.types import NodeState, Provider

ZONE = "us-central1-a"
driver = get_driver(Provider.GCE)("", "", project="demo-project", auth_type="GCE", datacenter=ZONE)
kept = dict()
IMAGE = driver.ex_get_image_from_family("debian-12", ex_project_list=["debian-cloud"])

def node(name="one"):
    return driver.ex_get_node(name, ZONE)

@operation
def what_is_on_offer():
    assert "g2-standard-4" in [size.name for size in driver.list_sizes()]
    assert ZONE in [location.name for location in driver.list_locations()]
    assert driver.list_images("debian-cloud") and driver.ex_list_disktypes(ZONE)
    assert driver.ex_list_regions() and driver.ex_list_zones()
    assert driver.ex_get_project().name == "demo-project"

@operation
def create_a_spot_node():
    made = driver.create_node(
        "one", "e2-small", IMAGE, ex_preemptible=True, ex_metadata=dict(job="a"),
        ex_labels=dict(team="eyes"), ex_tags=["web"], ex_disk_size=20,
        ex_on_host_maintenance="TERMINATE", ex_automatic_restart=False,
    )
    assert made.state == NodeState.RUNNING and made.public_ips[0] and made.private_ips
    assert made.extra["labels"] == dict(team="eyes") and made.extra["scheduling"]["preemptible"]

@operation
def list_nodes():
    assert [found.name for found in driver.list_nodes()] == ["one"]
    assert [found.name for found in driver.list_nodes("all")] == ["one"]

@operation
def labels_tags_and_metadata():
    assert driver.ex_set_node_labels(node(), dict(team="ears"))
    assert driver.ex_set_node_tags(node(), ["mail"])
    assert driver.ex_set_node_metadata(node(), dict(items=[dict(key="job", value="b")]))
    extra = node().extra
    assert (extra["labels"], extra["tags"]) == (dict(team="ears"), ["mail"])
    assert extra["metadata"]["items"] == [dict(key="job", value="b")]

@operation
def reboot():
    assert driver.reboot_node(node())

@operation
def stop_and_start():
    assert driver.stop_node(node()) and node().state == NodeState.STOPPED
    assert driver.start_node(node()) and node().state == NodeState.RUNNING

@operation
def serial_output():
    assert isinstance(driver.ex_get_serial_output(node()), str)

@operation
def create_a_volume():
    kept["volume"] = driver.create_volume(10, "data", ZONE, ex_disk_type="pd-ssd")
    assert "data" in [volume.name for volume in driver.list_volumes()]

@operation
def attach_and_detach_the_volume():
    assert driver.attach_volume(node(), kept["volume"], device="data")
    assert [disk["deviceName"] for disk in node().extra["disks"]][1:] == ["data"]
    assert driver.detach_volume(driver.ex_get_volume("data"), node())

@operation
def grow_and_label_the_volume():
    assert driver.ex_resize_volume(kept["volume"], 20)
    driver.ex_set_volume_labels(driver.ex_get_volume("data"), dict(keep="yes"))
    volume = driver.ex_get_volume("data")
    assert (volume.size, volume.extra["labels"]) == ("20", dict(keep="yes"))

@operation
def snapshot_the_volume():
    snapshot = driver.create_volume_snapshot(driver.ex_get_volume("data"), "once")
    assert snapshot.status == "READY" and [found.name for found in driver.ex_list_snapshots()] == ["once"]
    assert snapshot.destroy()

@operation
def networks_and_firewalls():
    network = driver.ex_create_network("own", None, mode="custom")
    part = driver.ex_create_subnetwork("part", "10.9.0.0/24", network, "us-central1")
    rule = driver.ex_create_firewall(
        "ssh", [dict(IPProtocol="tcp", ports=["22"])], network="own", source_ranges=["10.0.0.0/8"],
    )
    assert driver.ex_get_firewall("ssh").source_ranges == ["10.0.0.0/8"]
    assert rule.destroy() and part.destroy() and network.destroy()

@operation
def an_address():
    address = driver.ex_create_address("fixed", "us-central1")
    assert [found.name for found in driver.ex_list_addresses("us-central1")] == ["fixed"]
    assert address.destroy()

@operation
def several_nodes_at_once():
    made = driver.ex_create_multiple_nodes("many", "e2-small", IMAGE, 2, location=ZONE)
    assert [found.name for found in made] == ["many-000", "many-001"]
    assert driver.ex_destroy_multiple_nodes(made) == [True, True]

@operation
def destroy():
    assert driver.destroy_node(node()) and driver.destroy_volume(kept["volume"])
    assert driver.list_nodes() == [] and driver.list_volumes() == []
"""


def test_libcloud_does_what_is_expected(cloud, home):
    """Unmodified: its calls to Google are answered by a proxy that its HTTP library is told of."""
    wanted = expected("libcloud")
    python = venv("libcloud", wanted.install) / "python"
    with google_apis(cloud["SPOTWARDEN_LOCAL_URL"], home) as apis:
        done = play([python, "-c", PROGRAM], cloud, home, more=apis.environment())
    assert differences(wanted, of_lines(done.stdout)) == [], done.stderr
    assert apis.undone() == []
