"""Changes of an instance: labels, metadata, tags, scheduling, machine type."""

import pytest

from tests.localcloud.compute.world import ZONE, World, spot

VM = f"zones/{ZONE}/instances/vm"


def test_labels_are_replaced_as_a_whole(world: World):
    """Under the fingerprint that was read; the fingerprint then is another."""
    before = world.create(labels={"job": "a", "owner": "ann"})
    operation = world.post(
        f"{VM}/setLabels", {"labelFingerprint": before["labelFingerprint"], "labels": {"job": "b"}}
    )
    after = world.instance()
    assert after["labels"] == {"job": "b"}
    assert after["labelFingerprint"] != before["labelFingerprint"]
    assert operation["operationType"] == "setLabels"
    world.advance(1)
    assert world.operation(operation)["status"] == "DONE"


def test_no_labels_are_no_field(world: World):
    """As the API shows it."""
    vm = world.create(labels={"job": "a"})
    world.post(f"{VM}/setLabels", {"labelFingerprint": vm["labelFingerprint"]})
    assert "labels" not in world.instance()


CHANGES = [
    (
        "setLabels",
        lambda vm: {"labelFingerprint": vm["labelFingerprint"], "labels": {"a": "b"}},
        "Labels fingerprint either invalid or resource labels have changed",
    ),
    (
        "setMetadata",
        lambda vm: {"fingerprint": vm["metadata"]["fingerprint"], "items": [{"key": "a", "value": "b"}]},
        "Supplied fingerprint does not match current metadata fingerprint.",
    ),
    (
        "setTags",
        lambda vm: {"fingerprint": vm["tags"]["fingerprint"], "items": ["a"]},
        "Supplied fingerprint does not match current tags fingerprint.",
    ),
]


@pytest.mark.parametrize(("method", "body", "message"), CHANGES)
def test_a_change_under_an_old_fingerprint_is_refused(world: World, method, body, message):
    """Of two who read the same, one changes it and the other is told to read again."""
    vm = world.create()
    world.post(f"{VM}/{method}", body(vm))
    after = world.instance()
    assert world.refused("POST", f"{VM}/{method}", body(vm)) == (412, "conditionNotMet", message)
    assert world.instance() == after
    world.post(f"{VM}/{method}", body(after))


@pytest.mark.parametrize(("method", "body", "message"), CHANGES)
def test_a_change_without_a_fingerprint_is_refused(world: World, method, body, message):
    """It could overwrite what nobody has seen."""
    vm = world.create()
    without = {key: value for key, value in body(vm).items() if "ingerprint" not in key}
    assert world.refused("POST", f"{VM}/{method}", without) == (412, "conditionNotMet", message)


def test_a_fingerprint_may_be_written_in_either_alphabet_of_base64(world: World):
    """Some clients decode and encode it on the way."""
    vm = world.create(labels={"a": "1"})
    standard = vm["labelFingerprint"].replace("-", "+").replace("_", "/")
    world.post(f"{VM}/setLabels", {"labelFingerprint": standard, "labels": {"a": "2"}})
    assert world.instance()["labels"] == {"a": "2"}


def test_the_machine_learns_of_new_metadata(world: World):
    """At once, so that a watcher in the guest sees it."""
    vm = world.create()
    items = [{"key": "attempt", "value": "2"}]
    world.post(f"{VM}/setMetadata", {"fingerprint": vm["metadata"]["fingerprint"], "items": items})
    assert world.machines.told[-1]["metadata"]["items"] == items


def test_a_stopped_machine_is_not_told(world: World):
    """There is none; it learns when it boots."""
    world.create()
    world.post(f"{VM}/stop")
    world.advance(1)
    vm = world.instance()
    world.post(f"{VM}/setMetadata", {"fingerprint": vm["metadata"]["fingerprint"], "items": []})
    assert world.machines.told == []


@pytest.mark.parametrize(
    ("method", "body", "message"),
    [
        (
            "setLabels",
            lambda vm: {"labelFingerprint": vm["labelFingerprint"], "labels": {"A": "b"}},
            "Label keys",
        ),
        ("setTags", lambda vm: {"fingerprint": vm["tags"]["fingerprint"], "items": ["A"]}, "Must be a match"),
        (
            "setMetadata",
            lambda vm: {"fingerprint": vm["metadata"]["fingerprint"], "items": [{"key": "a b", "value": ""}]},
            "letters, digits",
        ),
        ("setLabels", lambda _vm: {"labelFingerprint": "not base64!"}, "(TYPE_BYTES)"),
    ],
)
def test_what_an_insert_refuses_a_change_refuses_too(world: World, method, body, message):
    """The same rules for labels, tags and metadata."""
    vm = world.create()
    status, _, text = world.refused("POST", f"{VM}/{method}", body(vm))
    assert status == 400
    assert message in text
    assert world.instance() == vm


def test_a_fingerprint_may_lack_its_padding():
    """As JSON of protobuf says of base64; the one that libcloud makes up for a new instance has none."""
    world = World()
    vm = world.create(metadata={"fingerprint": "na", "items": [{"key": "a", "value": "b"}]})
    fingerprint = vm["metadata"]["fingerprint"].rstrip("=")
    world.post(f"{VM}/setMetadata", {"fingerprint": fingerprint, "items": []})
    assert "items" not in world.instance()["metadata"]
    world.close()


def test_a_body_that_no_method_reads_is_not_read():
    """As on Google Cloud, to which libcloud sends the word "ignored"; one that is read must be an object."""
    world = World()
    world.create()
    assert world.post(f"{VM}/reset", "ignored")["operationType"] == "reset"
    assert world.refused("POST", f"{VM}/setTags", "ignored")[1] == "parseError"
    world.close()


def test_scheduling_of_a_running_instance_can_be_changed_in_part(world: World):
    """Maintenance behaviour yes; what makes it a spot VM only while it is TERMINATED."""
    world.create()
    world.post(f"{VM}/setScheduling", {"onHostMaintenance": "TERMINATE", "automaticRestart": False})
    assert world.instance()["scheduling"]["onHostMaintenance"] == "TERMINATE"
    status, _, message = world.refused("POST", f"{VM}/setScheduling", spot())
    assert status == 400
    assert "can only be changed while the instance is TERMINATED" in message
    world.post(f"{VM}/stop")
    world.advance(1)
    world.post(f"{VM}/setScheduling", spot("STOP", preemptible=True))
    assert world.instance()["scheduling"]["provisioningModel"] == "SPOT"


def test_a_run_time_set_while_stopped_counts_from_the_next_start(world: World):
    """The cap of a job is put on its instance before it is started again."""
    world.create(scheduling=spot("STOP"))
    world.post(f"{VM}/stop")
    world.advance(1)
    world.post(f"{VM}/setScheduling", spot("STOP", maxRunDuration={"seconds": "60"}))
    world.post(f"{VM}/start")
    world.advance(59)
    assert world.status() == "RUNNING"
    world.advance(2)
    assert world.status() == "TERMINATED"


def test_a_machine_type_is_changed_while_stopped(world: World):
    """And refused while the instance runs."""
    world.create()
    body = {"machineType": f"zones/{ZONE}/machineTypes/e2-small"}
    assert "it must be stopped" in world.refused("POST", f"{VM}/setMachineType", body)[2]
    world.post(f"{VM}/stop")
    world.advance(1)
    world.post(f"{VM}/setMachineType", body)
    assert world.instance()["machineType"].endswith("/e2-small")


def test_a_disk_that_is_no_longer_deleted_with_its_instance_stays(world: World):
    """What `gcloud compute instances delete --keep-disks` asks for first."""
    vm = world.create()
    device = vm["disks"][0]["deviceName"]
    world.post(f"{VM}/setDiskAutoDelete", autoDelete="false", deviceName=device)
    world.delete(VM)
    world.advance(1)
    (disk,) = world.get(f"zones/{ZONE}/disks")["items"]
    assert (disk["name"], "users" in disk) == ("vm", False)
    got = world.refused("POST", f"{VM}/setDiskAutoDelete", autoDelete="false", deviceName="none")
    assert got[0] == 404


def test_the_console_is_read_from_where_one_left_off(world: World):
    """Bytes, not letters: `next` of one answer is `start` of the following."""
    vm = world.create()
    world.machines.consoles[vm["id"]] = "erste Zeile\nzweite Zeile ä\n"
    first = world.get(f"{VM}/serialPort")
    assert (first["contents"], first["start"]) == ("erste Zeile\nzweite Zeile ä\n", "0")
    world.machines.consoles[vm["id"]] += "dritte\n"
    rest = world.get(f"{VM}/serialPort", start=first["next"])
    assert (rest["contents"], rest["start"]) == ("dritte\n", first["next"])
    assert world.get(f"{VM}/serialPort", start="-7")["contents"] == "dritte\n"
    assert world.get(f"{VM}/serialPort", port="2")["contents"] == ""
    assert world.refused("GET", f"{VM}/serialPort", port="5")[2].endswith("Must be from 1 to 4.")
    assert world.refused("GET", f"{VM}/serialPort", start="x")[0] == 400


def test_a_long_console_gives_its_last_megabyte(world: World):
    """And says from which byte on."""
    vm = world.create()
    world.machines.consoles[vm["id"]] = "x" * 1_500_000
    answer = world.get(f"{VM}/serialPort")
    assert len(answer["contents"]) == 1024 * 1024
    assert (answer["start"], answer["next"]) == (str(1_500_000 - 1024 * 1024), "1500000")
