"""What a function says of itself: figures at its end, and one line for an error that ends it."""

import json
import re
from datetime import UTC, datetime, timedelta

import functions_framework
import pytest
import requests
from flask import Flask
from werkzeug.exceptions import InternalServerError, ServiceUnavailable

from spotwarden.engine import audit, health, log
from spotwarden.engine.fan_out import each, swept
from spotwarden.engine.health import reported
from spotwarden.engine.metrics import CURRENT, SweepMetrics, sweep_metrics
from spotwarden.engine.policy_file.reading import read_policy
from spotwarden.engine.settings import Settings
from spotwarden.engine.trigger import close_tick, open_tick
from spotwarden.gcp import tally
from spotwarden.gcp.session import settle
from spotwarden.layout import MarkerName, Quarantined
from spotwarden.model.action import (
    ClearMarker,
    DeleteInstance,
    LabelInstance,
    RemoveLeftover,
    StopInstance,
    Wait,
)
from spotwarden.model.outcome import Done, Observed, Rejected
from tests.fakes.trouble import rejected
from tests.fakes.world import ROOT, World, load
from tests.governance.caps.cap_world import CapWorld
from tests.infra.hcl import TERRAFORM
from tests.notify.outbox.outbox_world import OutboxWorld, notice

TICK = {"attributes": {"spotwarden-tick": "1"}}


@pytest.fixture
def beating():
    """A metrics that this test's own code finds."""
    token = CURRENT.set(SweepMetrics(datetime(2026, 11, 21, tzinfo=UTC)))
    yield sweep_metrics()
    CURRENT.reset(token)


def entry(body):
    """An entry point whose sweep is this."""

    @reported
    def recover_spot(_event):
        tick = open_tick("recover_spot", TICK)
        return body(tick)

    return recover_spot


def lines(capsys):
    """What was logged, each line as Cloud Logging reads it."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def act(tick, outcome):
    """An action, as the executor tells it."""
    action = ClearMarker(reason="it is over", node="test-vm", generation=1)
    audit.say(log.log, tick, action, outcome)


def test_a_sweep_ends_with_one_line_of_figures(capsys):
    """Numbers below `metrics`, and what they consist of."""

    def body(tick):
        for outcome in (Done(), Done(), Rejected(code="denied", message="no"), Observed()):
            act(tick, outcome)
        close_tick(tick, swept([Wait(reason="it is stopping")], ()))

    entry(body)(None)
    *others, last = lines(capsys)
    assert [line for line in others if line.get("event") == "sweep"] == []
    assert (last["event"], last["severity"], last["function"]) == ("sweep", "INFO", "recover_spot")
    metrics = last["metrics"]
    assert (metrics["actions"], metrics["failures"], metrics["waiting"]) == (2, 1, 1)
    assert metrics["seconds"] >= 0
    assert metrics["memory_mib"] > 1
    assert (last["actions"], last["failures"]) == ({"ClearMarker": 2}, {"ClearMarker": 1})
    assert last["others"] == {"Observed": 1}
    assert all(isinstance(value, int | float) for value in metrics.values())


def test_a_line_about_an_action_says_what_it_is_about(capsys):
    """By fields, so that one can search for a job, a node, an instance."""
    entry(lambda tick: act(tick, Done()))(None)
    first, _last = lines(capsys)
    assert first["action"] == "ClearMarker"
    assert first["outcome"] == "Done"
    assert (first["reason"], first["node"]) == ("it is over", "test-vm")
    assert first["sweep"]


@pytest.mark.parametrize(
    "removal",
    [
        DeleteInstance(reason="", job="j", attempt=1, node="n", zone="z", instance_id="1", request_id="r"),
        StopInstance(reason="", job="j", node="n", zone="z", instance_id="1", request_id="r"),
        RemoveLeftover(reason="", job="j", link="l", request_id="r"),
    ],
    ids=lambda removal: type(removal).__name__,
)
def test_that_nothing_was_left_to_remove_is_no_failure(capsys, removal):
    """Somebody was first: nothing to warn of. Anything else that is refused is a failure as ever."""

    def body(tick):
        for code in ("notFound", "forbidden"):
            audit.say(log.log, tick, removal, Rejected(code=code, message="no"))

    entry(body)(None)
    gone, refused, last = lines(capsys)
    assert (gone["severity"], gone["outcome"]) == ("INFO", "Gone")
    assert (refused["severity"], refused["outcome"]) == ("WARNING", "Rejected")
    assert (last["failures"], last["others"]) == ({type(removal).__name__: 1}, {"Gone": 1})


def test_a_change_of_what_is_gone_is_a_failure(capsys):
    """Such as a label: what it was to say has come nowhere."""
    label = LabelInstance(reason="", job="j", node="n", zone="z", instance_id="1", labels={})
    entry(lambda tick: audit.say(log.log, tick, label, Rejected(code="notFound", message="no")))(None)
    first, last = lines(capsys)
    assert (first["severity"], last["failures"]) == ("WARNING", {"LabelInstance": 1})


def test_an_error_that_ends_a_function_is_one_line(capsys):
    """What, where, each failure of a group, groups in it included; the caller only gets 500."""

    def body(_tick):
        inner = ExceptionGroup("cases", [ValueError("a bad\nline"), KeyError("gone")])
        raise ExceptionGroup("all", [inner, OSError("no disk")])

    with pytest.raises(InternalServerError) as answered:
        entry(body)(None)
    error, last = lines(capsys)
    assert (error["severity"], error["event"]) == ("ERROR", "failed")
    assert [one["what"] for one in error["problems"]] == ["ValueError", "KeyError", "OSError"]
    assert "ValueError: a bad\nline, and 2 more" in error["message"]
    assert "test_health.py" in error["stack_trace"]
    assert "no disk" not in str(answered.value)
    assert last["event"] == "sweep"
    assert last["metrics"]["failures"] == 3
    assert last["failures"] == {"KeyError": 1, "OSError": 1, "ValueError": 1}


def test_where_an_error_was_is_the_last_line_of_ours(capsys):
    """A line deep in a library helps nobody."""

    def body(_tick):
        read_policy(ROOT / "no-such-policy.toml")

    with pytest.raises(InternalServerError):
        entry(body)(None)
    error, _last = lines(capsys)
    assert re.fullmatch(r"policy_file/reading\.py:\d+ in read_policy", error["where"])


def test_an_error_before_the_sweep_began_is_told_as_well(capsys):
    """Settings that are not there: by the function's name, with no sweep and no figures of one."""

    @reported
    def reap_vms(_event):
        Settings.read({})

    with pytest.raises(InternalServerError):
        reap_vms(None)
    (error,) = lines(capsys)
    assert (error["function"], error["sweep"]) == ("reap_vms", "")
    assert "SPOTWARDEN_PROJECT" in error["reason"]


def test_the_framework_adds_nothing_to_that_line(capfd, monkeypatch):
    """It would print a traceback, line by line, of whatever came through to it."""
    for name in ("SPOTWARDEN_PROJECT", "SPOTWARDEN_BUCKET", "SPOTWARDEN_NOTICES"):
        monkeypatch.delenv(name, raising=False)
    source = str(ROOT / "functions/reap_vms/main.py")
    app = functions_framework.create_app(target="reap_vms", source=source, signature_type="cloudevent")
    push = {"message": {"data": "e30=", "messageId": "1", "publishTime": "2026-11-21T00:00:00Z"}}
    path = "/projects/p/topics/spotwarden-reap-vms"
    answer = app.test_client().post(path, json={**push, "subscription": "projects/p/subscriptions/s"})
    assert answer.status_code == 500
    assert "SPOTWARDEN_PROJECT" not in answer.text
    said = capfd.readouterr()
    (line,) = said.out.splitlines()
    assert json.loads(line)["event"] == "failed"
    assert said.err == ""


def test_to_be_asked_again_is_no_error(capsys):
    """503 tells Pub/Sub to come back; the figures are there all the same."""

    def body(_tick):
        raise ServiceUnavailable("look again")

    with pytest.raises(ServiceUnavailable):
        entry(body)(None)
    (last,) = lines(capsys)
    assert (last["event"], last["metrics"]["failures"]) == ("sweep", 0)


def test_very_many_failures_fit_into_one_entry(capsys):
    """Cloud Logging takes 256 KiB; all are counted, and the first of them told."""

    def body(_tick):
        raise ExceptionGroup("all", [ValueError("x" * 10_000) for _ in range(500)])

    with pytest.raises(InternalServerError):
        entry(body)(None)
    out = capsys.readouterr().out.splitlines()
    assert max(len(line.encode()) for line in out) < 256 * 1024
    assert len(json.loads(out[0])["problems"]) == health.MOST_FAILURES
    assert json.loads(out[1])["metrics"]["failures"] == 500


def test_a_line_hangs_below_its_request(capsys, monkeypatch):
    """By the trace that Cloud Run hands over, in the workers' threads too."""
    monkeypatch.setenv("SPOTWARDEN_PROJECT", "p")

    def body(tick):
        each(range(2), lambda _: act(tick, Done()), workers=2)

    with Flask("f").test_request_context(headers={"X-Cloud-Trace-Context": "0af7651916cd43dd/1;o=1"}):
        entry(body)(None)
    told = lines(capsys)
    assert len(told) == 3
    assert {line["logging.googleapis.com/trace"] for line in told} == {"projects/p/traces/0af7651916cd43dd"}
    assert told[-1]["metrics"]["actions"] == 2


def test_one_request_counts_nothing_of_another(capsys):
    """A thread serves many, one after another."""
    one = entry(lambda tick: act(tick, Done()))
    one(None)
    one(None)
    ends = [line for line in lines(capsys) if line.get("event") == "sweep"]
    assert [line["metrics"]["actions"] for line in ends] == [1, 1]
    assert CURRENT.get() is None


def test_calls_are_counted_from_the_sweeps_own_beginning():
    """The counters of a process only ever grow."""
    counts = {"compute": 7}
    counting = SweepMetrics(datetime.now(UTC))
    counting.watch(lambda: dict(counts))
    counts.update(compute=9, storage=1)
    assert counting.calls == {"compute": 2, "storage": 1}


@pytest.mark.parametrize(
    ("url", "service"),
    [
        ("https://compute.googleapis.com/compute/v1/projects/p", "compute"),
        ("https://storage.googleapis.com/upload/storage/v1/b/x", "storage"),
        ("https://pubsub.googleapis.com/v1/projects/p/topics/t:publish", "pubsub"),
        ("http://127.0.0.1:8000/compute/v1/projects/p", "compute"),
        ("http://127.0.0.1:8000/storage/v1/b/x/o", "storage"),
        ("http://127.0.0.1:8000/v3/projects/p/timeSeries", "monitoring"),
        ("http://127.0.0.1:8000/v1/projects/p/topics/t:publish", "pubsub"),
        ("http://127.0.0.1:8000/elsewhere", "other"),
    ],
)
def test_a_call_is_counted_for_its_service(url, service):
    """By its host, or, where one host is all services, by its path."""
    assert tally.service_of(url) == service


def test_a_call_counts_whatever_comes_of_it():
    """What nobody answers has been asked for, too."""
    session = requests.Session()
    settle(session, "http://127.0.0.1:9")
    before = tally.calls().get("storage", 0)
    with pytest.raises(requests.ConnectionError):
        session.get("http://127.0.0.1:9/storage/v1/b/x/o")
    assert tally.calls()["storage"] == before + 1


def test_governance_tells_how_much_it_has_seen(beating):
    """VMs and cases, of a look at everything."""
    world = CapWorld(load("cap_runtime"))
    world.job()
    world.sweep()
    assert beating.seen == {"vms": 1, "cases": 0}


def test_the_outbox_world_tells_how_long_the_oldest_notice_waits(beating):
    """Nothing waits at first; then one does."""
    room = OutboxWorld()
    room.tick()
    assert (beating.seen["notices"], beating.seen["oldest_notice_seconds"]) == (0, 0)
    room.cloud.mailer.trouble.order("send", rejected("unsent"))
    room.publish(notice())
    room.wait(minutes=7)
    room.tick()
    assert (beating.seen["notices"], beating.seen["oldest_notice_seconds"]) == (1, 420)


def test_recovery_tells_the_oldest_marker_and_the_quarantine(recover, beating):
    """Both are figures to be alerted by; a sweep that finds nothing says so."""
    world = World(recover)
    world.sweep()
    assert (beating.seen["oldest_marker_seconds"], beating.seen["quarantined"]) == (0, 0)
    world.store(MarkerName(node="nobodys-vm"), b"")
    world.store(Quarantined(key="x", generation=1), b"")
    world.wait(minutes=3)
    world.sweep()
    assert beating.seen["oldest_marker_seconds"] == timedelta(minutes=3).total_seconds()
    # The one that was there, and not yet the one that this sweep has put aside.
    assert beating.seen["quarantined"] == 1
    assert beating.seen["vms"] == 1


def test_of_a_full_quarantine_no_more_is_listed_than_an_alert_needs(recover, beating, monkeypatch):
    """Any job VM can fill it, a few hundred markers a minute, and each tick counts it."""
    monkeypatch.setattr("spotwarden.recovery.look.gather.COUNTED_AT_MOST", 3)
    world = World(recover)
    for number in range(5):
        world.store(Quarantined(key=f"x{number}", generation=1), b"")
    world.sweep()
    assert beating.seen["quarantined"] == 3


def test_terraform_names_only_fields_that_are_written(capsys):
    """Its metrics and alerts would be silent for ever."""

    def body(tick):
        act(tick, Done())
        sweep_metrics().saw(oldest_marker_seconds=0, quarantined=0, oldest_notice_seconds=0)
        close_tick(tick, swept((), ()))

    entry(body)(None)
    act_line, last = lines(capsys)
    written = {*act_line, *last, *(f"metrics.{name}" for name in last["metrics"]), "kind"}
    text = (TERRAFORM / "metrics.tf").read_text() + (TERRAFORM / "alerts.tf").read_text()
    text += (TERRAFORM / "dashboard.tf").read_text()
    fields = set(re.findall(r"jsonPayload\.([a-z_]+(?:\.[a-z_]+)?)", text))
    measured = set(re.findall(r'field = "([a-z_]+)"', text))
    assert measured
    assert {one.removesuffix(".") for one in fields} - {"metrics"} <= written
    assert {f"metrics.{name}" for name in measured} <= written
