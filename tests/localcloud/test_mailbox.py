"""The mailbox of the local cloud: real SMTP in, a page out."""

import asyncio
import base64
import json
import smtplib

import httpx

from localcloud.clock import Clock
from localcloud.http import Listener, build_app
from localcloud.mailbox import NOTICES, Mailbox

MAIL = "From: ops@example.com\nTo: ada@example.com\nSubject: test-vm <is> back\n\nAttempt 2 runs.\n"


def visit(*steps):
    """Open a mailbox, take the steps with its SMTP port and URL, give its page and its messages."""

    async def work():
        mailbox = await Mailbox(clock=Clock()).start()
        async with Listener(build_app(mailbox.routes())) as listener:
            for step in steps:
                await asyncio.to_thread(step, mailbox.port, listener.url)
            async with httpx.AsyncClient(base_url=listener.url, trust_env=False) as client:
                page, messages = await client.get("/local/mailbox"), await client.get("/local/mailbox.json")
        await mailbox.stop()
        return page.text, messages.json()

    return asyncio.run(work())


def send(port, _url):
    """Send a mail as a function would."""
    with smtplib.SMTP("127.0.0.1", port) as smtp:
        smtp.sendmail("ops@example.com", ["ada@example.com", "bob@example.com"], MAIL)


def push(notice):
    """Bring a notice as a push subscription would."""

    def step(_port, url):
        data = base64.b64encode(json.dumps(notice).encode()).decode()
        body = {"message": {"data": data, "messageId": "1"}}
        assert httpx.post(url + NOTICES, json=body, trust_env=False).status_code == 204

    return step


def test_a_mail_is_kept_and_delivered_to_nobody():
    """Every recipient, the subject and the text are there."""
    _, (message,) = visit(send)
    assert message["to"] == "ada@example.com, bob@example.com"
    assert message["subject"] == "test-vm <is> back"
    assert message["text"].strip() == "Attempt 2 runs."


def test_the_newest_stands_first():
    """A person looks at the top."""
    notice = {"what": "second", "why": "because", "owner": "ada@example.com"}
    _, messages = visit(send, push(notice))
    assert [message["subject"] for message in messages] == ["second", "test-vm <is> back"]


def test_what_people_write_cannot_become_markup():
    """A subject with brackets is shown as it was written."""
    page, _ = visit(send, push({"what": "<script>alert(1)</script>"}))
    assert "<script>" not in page
    assert "test-vm &lt;is&gt; back" in page


def test_a_notice_without_an_owner_goes_to_ops():
    """Somebody is always named."""
    _, (message,) = visit(push({"what": "x"}))
    assert message["to"] == "ops"


def test_a_push_that_is_no_notice_is_refused():
    """It comes again and shows in the topic's backlog, rather than being taken for one."""

    def step(_port, url):
        data = base64.b64encode(b"[1]").decode()
        answer = httpx.post(url + NOTICES, json={"message": {"data": data}}, trust_env=False)
        assert answer.status_code == 400

    assert visit(step)[1] == []


def test_an_empty_mailbox_says_so():
    """Not a blank page."""
    assert "Nothing yet" in visit()[0]


def test_a_notice_says_what_will_happen():
    """Why first, then what follows if nobody does anything, then what to do."""
    notice = {"what": "nap has idle GPUs", "why": "idle", "then": "it will be stopped", "todo": "keep it"}
    _, (message,) = visit(push(notice))
    assert message["text"].splitlines() == ["idle", "it will be stopped", "keep it"]
