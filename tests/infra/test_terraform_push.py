"""A push of our own subscriptions, as functions-framework takes it: it carries no headers of CloudEvents.

The body is that of Google's "Push subscriptions" page; the path is what wakeups.tf puts behind the address.
"""

import base64
import textwrap

import pytest
from functions_framework import create_app

from spotwarden.engine.trigger import open_tick

PATH = "/projects/a-project/topics/spotwarden-recover-spot"


@pytest.fixture
def taken(tmp_path):
    """A function that notes its events, and the client that pushes to it."""
    source = tmp_path / "main.py"
    source.write_text(
        textwrap.dedent(
            """
            import functions_framework

            EVENTS = []


            @functions_framework.cloud_event
            def note(event):
                EVENTS.append(event)
            """
        )
    )
    app = create_app("note", str(source), "cloudevent")
    app.testing = True

    def push(message):
        body = {
            "message": {"messageId": "1", "publishTime": "2026-11-21T12:00:00Z", **message},
            "subscription": "s",
        }
        answer = app.test_client().post(PATH, json=body)
        import main  # noqa: PLC0415 — functions-framework names the module so, once it has loaded it

        return answer.status_code, main.EVENTS

    return push


def test_a_tick_arrives_as_a_tick(taken):
    """Its attribute says so; its data says nothing, and is there because a push without is refused."""
    status, events = taken({"attributes": {"spotwarden-tick": "recover_spot"}, "data": "dGljaw=="})
    assert status == 200
    assert open_tick("recover_spot", events[-1].data["message"]).patient


def test_a_push_without_data_is_refused(taken):
    """Which is why the Scheduler's message has some."""
    assert taken({"attributes": {"spotwarden-tick": "recover_spot"}})[0] in (400, 500)


def test_a_marker_arrives_with_its_name(taken):
    """A notification of the bucket: the object is named by an attribute."""
    attributes = {"objectId": "preempted-jobs/test-vm", "eventType": "OBJECT_FINALIZE"}
    status, events = taken({"attributes": attributes, "data": base64.b64encode(b"{}").decode()})
    assert status == 200
    assert open_tick("recover_spot", events[-1].data["message"]).about == "test-vm"


def test_the_event_names_the_topic(taken):
    """The framework takes it from the path."""
    _, events = taken({"attributes": {}, "data": "e30="})
    assert events[-1]["source"] == "//pubsub.googleapis.com/projects/a-project/topics/spotwarden-recover-spot"
