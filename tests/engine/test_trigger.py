"""What starts a sweep, how it ends, and what a deployment sets."""

from base64 import b64encode
from pathlib import Path

import msgspec
import pytest
from werkzeug.exceptions import ServiceUnavailable

from spotwarden.engine.fan_out import each, swept
from spotwarden.engine.settings import WORKERS, Settings, SettingsError
from spotwarden.engine.trigger import close_tick, open_tick
from spotwarden.layout import Layout
from spotwarden.model.action import Wait
from spotwarden.model.policy import Mode

NEEDED = {"SPOTWARDEN_PROJECT": "p", "SPOTWARDEN_BUCKET": "b", "SPOTWARDEN_NOTICES": "n"}


def message(**attributes):
    """A Pub/Sub message with these attributes."""
    return {"attributes": attributes}


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("preempted-jobs/test-vm", "test-vm"),
        ("preempted-jobs/Test_VM", ""),
        ("test-vm/metadata/status-code", ""),
        ("", ""),
    ],
)
def test_an_event_of_a_marker_says_which_node_it_is_about(name, node):
    """Every other one means a look at everything."""
    assert open_tick("recover_spot", message(objectId=name)).about == node


def test_a_marker_is_found_below_the_buckets_prefix():
    """The setting of a team that shares its bucket."""
    users = Layout(prefix="users/")
    assert open_tick("f", message(objectId="users/preempted-jobs/test-vm"), users).about == "test-vm"
    assert open_tick("f", message(objectId="preempted-jobs/test-vm"), users).about == ""


def entry(resource):
    """An entry of the audit log about this resource, as Pub/Sub carries it."""
    return b64encode(msgspec.json.encode({"protoPayload": {"resourceName": resource}})).decode()


@pytest.mark.parametrize(
    ("data", "node"),
    [
        (entry("projects/p/zones/us-central1-a/instances/test-vm"), "test-vm"),
        (entry("projects/p/zones/us-central1-a/disks/test-vm"), ""),
        (entry("projects/p/zones/us-central1-a/instances/Test_VM"), ""),
        (entry("test-vm"), ""),
        (b64encode(b"{}").decode(), ""),
        (b64encode(b"not json").decode(), ""),
        ("not base64", ""),
        (None, ""),
    ],
)
def test_an_entry_of_the_audit_log_says_which_instance_is_lost(data, node):
    """What cannot be read means a look at everything, as ever."""
    tick = open_tick("recover_spot", {"data": data, **message()})
    assert (tick.about, tick.lost) == (node, bool(node))


def test_a_tick_is_about_everything_whatever_it_carries():
    """Its attribute says what it is."""
    data = entry("projects/p/zones/z/instances/test-vm")
    tick = open_tick("recover_spot", {"data": data, **message(**{"spotwarden-tick": "1"})})
    assert (tick.about, tick.lost, tick.patient) == ("", False, True)


def test_a_tick_is_patient_and_an_event_is_not():
    """The next tick comes by itself; a message without attributes is somebody's event."""
    assert open_tick("f", message(**{"spotwarden-tick": "1"})).patient
    assert not open_tick("f", message()).patient
    assert not open_tick("f", {}).patient


def test_two_sweeps_never_share_a_name():
    """A lease is held by one of them."""
    assert open_tick("f", {}).sweep != open_tick("f", {}).sweep


SOON, LATER = Wait(reason="its VM is stopping"), Wait(reason="it backs off", soon=False)


@pytest.mark.parametrize(
    ("waits", "again"), [([], False), ([LATER], False), ([SOON], True), ([LATER, SOON], True)]
)
def test_an_event_is_asked_for_again_only_where_another_look_soon_sees_more(waits, again):
    """With 503, which Pub/Sub answers with a later delivery."""
    event = open_tick("f", message())
    if again:
        with pytest.raises(ServiceUnavailable, match="stopping"):
            close_tick(event, swept(waits, ()))
    else:
        close_tick(event, swept(waits, ()))


def test_a_tick_that_must_wait_ends_well():
    """It is not delivered twice; the next one comes by itself."""
    close_tick(open_tick("f", message(**{"spotwarden-tick": "1"})), swept([SOON], ()))


def test_all_failures_of_a_sweep_are_raised_together():
    """A tick's as well: somebody must hear of them."""
    tick = open_tick("f", message(**{"spotwarden-tick": "1"}))
    with pytest.raises(ExceptionGroup) as raised:
        close_tick(tick, swept([SOON], [ValueError("a"), KeyError("b")]))
    assert [type(one) for one in raised.value.exceptions] == [ValueError, KeyError]


def halve(number):
    """Half of an even number; for odd ones there is none, and 0 has nothing to say."""
    if number % 2:
        raise ValueError(number)
    return number // 2


@pytest.mark.parametrize("workers", [1, 4])
def test_one_bad_item_never_stops_the_others(workers):
    """Whether they are done one after the other or several at a time."""
    done = each(range(8), halve, workers)
    assert sorted(done.results) == [1, 2, 3]
    assert sorted(error.args for error in done.failures) == [(1,), (3,), (5,), (7,)]


def test_settings_are_read_from_the_environment():
    """What is not set has its default; a mode of the deployment wins over the policy's."""
    settings = Settings.read(NEEDED)
    assert (settings.layout.prefix, settings.mode, settings.workers) == ("", None, WORKERS)
    said = Settings.read({**NEEDED, "SPOTWARDEN_MODE": "enforce", "SPOTWARDEN_WORKERS": "1"})
    assert (said.mode, said.workers) == (Mode.ENFORCE, 1)
    assert settings.policy_file == Path("policy.toml")


@pytest.mark.parametrize("missing", NEEDED)
def test_a_setting_that_is_missing_is_named(missing):
    """With what it is for."""
    with pytest.raises(SettingsError, match=rf"not set: {missing} \("):
        Settings.read({key: value for key, value in NEEDED.items() if key != missing})


@pytest.mark.parametrize(
    ("said", "good"), [("1", True), ("64", True), ("0", False), ("65", False), ("many", False)]
)
def test_the_number_of_workers_has_bounds(said, good):
    """From 1 to 64; anything else is refused in words."""
    environ = {**NEEDED, "SPOTWARDEN_WORKERS": said}
    if good:
        assert Settings.read(environ).workers == int(said)
    else:
        with pytest.raises(SettingsError, match="a number from 1 to 64"):
            Settings.read(environ)


def test_an_unknown_mode_is_refused_with_those_there_are():
    """A typing error must not enforce."""
    with pytest.raises(SettingsError, match="observe, enforce"):
        Settings.read({**NEEDED, "SPOTWARDEN_MODE": "Enforce"})
