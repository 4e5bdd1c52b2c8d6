"""Events that nobody can read: logged, acknowledged, and never delivered again for ever."""

import json
from base64 import b64encode

import pytest
from functions_framework import create_app

from spotwarden import clock
from spotwarden.engine.trigger import message_in, open_tick
from spotwarden.gcp import connect as by_all
from spotwarden.gcp import rest_only
from tests.fakes.cloud import memory_cloud
from tests.fakes.world import ROOT

DEEP = "[" * 100_000
EVENT = {
    "ce-id": "1",
    "ce-source": "//pubsub.googleapis.com/projects/p/topics/t",
    "ce-type": "google.cloud.pubsub.topic.v1.messagePublished",
    "ce-specversion": "1.0",
    "content-type": "application/json",
}
FUNCTIONS = (
    "cap_runtime",
    "check_compliance",
    "flag_idle_gpus",
    "notify_developers",
    "reap_vms",
    "recover_spot",
)
BODIES = {
    "deep": DEEP,
    "a deep message": '{"message": ' + DEEP,
    "deep attributes": '{"message": {"attributes": ' + "[" * 50_000 + "]" * 50_000 + "}}",
    "no UTF-8": b'{"message": {"data": "\xff"}}',
    "no message": "{}",
    "a list": "[]",
    "a word": '"word"',
    "a message that is none": '{"message": 7}',
    "no number": '{"message": NaN}',
    "a message twice": '{"message": {}, "message": []}',
    "attributes that are none": '{"message": {"attributes": [1]}}',
    "data that is none": '{"message": {"data": 7}}',
    "data that is no base64": '{"message": {"data": "%%%"}}',
    "data that is deep": json.dumps({"message": {"data": b64encode(DEEP.encode()).decode()}}),
    "data that is no UTF-8": json.dumps(
        {"message": {"data": b64encode(b'{"id": "\xff", "protoPayload": {"resourceName": "\xff"}}').decode()}}
    ),
}


@pytest.fixture
def deployed(monkeypatch):
    """A function as functions-framework serves it, over a cloud in memory."""
    cloud = memory_cloud()
    for name in ("SPOTWARDEN_PROJECT", "SPOTWARDEN_BUCKET", "SPOTWARDEN_NOTICES"):
        monkeypatch.setenv(name, "made-up")
    monkeypatch.setenv("SPOTWARDEN_POLICY", str(ROOT / "infra/policy.toml"))
    monkeypatch.setattr(clock, "now", cloud.clock.now)
    for door in (by_all, rest_only):
        monkeypatch.setattr(door, "connect", lambda **_: cloud.ports())

    def open_function(name):
        return create_app(name, str(ROOT / "functions" / name / "main.py"), "cloudevent").test_client()

    return open_function


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_event_that_nobody_can_read_is_acknowledged(deployed, name, capsys):
    """Nothing of it would be better the next time; an envelope that nobody can read is told in the log."""
    function = deployed(name)
    for what, body in BODIES.items():
        assert function.post("/", data=body, headers=EVENT).status_code in (200, 204), what
    assert "an unreadable event was dropped" in capsys.readouterr().out


@pytest.mark.parametrize("event", [None, 7, [], {}, {"message": None}, {"message": [1]}], ids=str)
def test_an_event_without_a_message_means_a_look_at_everything(event):
    """As one whose message says nothing."""
    tick = open_tick("recover_spot", message_in(event))
    assert (tick.about, tick.patient) == ("", False)
