"""The mailbox of the local cloud: real SMTP in, a page out."""

import asyncio
import base64
import json
import smtplib
from email.message import EmailMessage

import httpx
import pytest

from localcloud.clock import Clock
from localcloud.http import Listener, build_app
from localcloud.mailbox import NOTICES, Mailbox
from localcloud.story.governance.ward import Ward
from localcloud.story.stage import Stage
from localcloud.story.watch import Watcher

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


def raw_mail(text="See https://example.com/a?t=1.", html=""):
    """A mail as Spotwarden writes it, with a page of its own where there is one."""
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "nap has idle GPUs", "ops@example.com", "ada@example.com"
    mail["Message-ID"] = "<n-1@spotwarden>"
    mail["X-Spotwarden-Kind"], mail["X-Spotwarden-Job"] = "idle", "nap"
    mail.set_content(text)
    if html:
        mail.add_alternative(html, subtype="html")
    return mail


def post(mail):
    """Send this mail."""

    def step(port, _url):
        with smtplib.SMTP("127.0.0.1", port) as smtp:
            smtp.send_message(mail)

    return step


def trouble(**body):
    """Make the server suffer."""

    def step(_port, url):
        assert httpx.post(url + "/local/mail", json=body, trust_env=False).is_success

    return step


def refused(step, error):
    """The same step, which has to fail with this error."""

    def work(port, url):
        with pytest.raises(error):
            step(port, url)

    return work


def open_page(path, seen):
    """Look at a page, and put the answer into `seen`."""

    def step(_port, url):
        seen.append(httpx.get(url + path, trust_env=False))

    return step


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


@pytest.mark.parametrize("pushed", [b"[1]", b"[" * 100_000], ids=["a list", "deeper than Python goes"])
def test_a_push_that_is_no_notice_is_refused(pushed):
    """It comes again and shows in the topic's backlog, rather than being taken for one."""

    def step(_port, url):
        data = base64.b64encode(pushed).decode()
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


def test_a_mail_says_what_it_is_about():
    """Its kind and its job stand in its headers; its links have the words that a person reads."""
    page = '<p><a href="https://example.com/?t=1&amp;x=2">Keep <b>for 8 h</b></a> <a>no link</a></p>'
    _, (message,) = visit(post(raw_mail(html=page)))
    about = {key: message[key] for key in ("channel", "kind", "job", "id")}
    assert about == {"channel": "mail", "kind": "idle", "job": "nap", "id": "n-1@spotwarden"}
    assert message["links"] == [{"says": "Keep for 8 h", "url": "https://example.com/?t=1&x=2"}]


def test_the_links_of_a_mail_without_a_page_are_those_of_its_text():
    """Without the full stop behind them."""
    _, (message,) = visit(post(raw_mail()))
    assert [link["url"] for link in message["links"]] == ["https://example.com/a?t=1"]


def test_a_mail_opens_to_its_text_its_page_and_its_source():
    """The text with links that work; the page in a frame where no script runs; the source as it came."""
    seen = []
    html = "<html><head><title>x</title></head><body>page</body></html>"
    paths = ["/local/mailbox/mails/1", "/local/mailbox/mails/1/html", "/local/mailbox/mails/1/source"]
    visit(post(raw_mail(html=html)), *(open_page(path, seen) for path in paths))
    opened, page, source = seen
    assert '<a href="https://example.com/a?t=1" target=_blank rel=noreferrer>' in opened.text
    assert 'src="1/html"' in opened.text
    assert 'sandbox="allow-popups allow-popups-to-escape-sandbox"' in opened.text
    assert "default-src 'none'" in opened.headers["content-security-policy"]
    assert page.text.startswith('<html><head><base target="_blank"><title>x</title>')
    assert "sandbox allow-popups" in page.headers["content-security-policy"]
    assert "script" not in page.headers["content-security-policy"]
    assert "X-Spotwarden-Kind: idle" in source.text
    assert source.headers["content-type"].startswith("text/plain")


def test_a_mail_without_a_page_has_no_frame():
    """Nothing empty is shown."""
    seen = []
    visit(post(raw_mail()), open_page("/local/mailbox/mails/1", seen))
    assert "<iframe" not in seen[0].text


def test_a_mail_that_is_not_there_is_not_found():
    """With the place where all of them are."""
    seen = []
    visit(open_page("/local/mailbox/mails/7", seen))
    assert seen[0].status_code == 404
    assert "/local/mailbox lists them" in seen[0].text


def test_nothing_of_a_mail_becomes_markup_of_its_page():
    """Not its subject, not its headers, not its text, not a link with a quotation mark in it."""
    mail = raw_mail(text='<script>x</script> https://example.com/"onclick="x {title}')
    mail.replace_header("Subject", "</title><script>{body}</script>")
    mail.replace_header("To", '"<script>" <ada@example.com>')
    seen = []
    visit(post(mail), open_page("/local/mailbox/mails/1", seen))
    assert "<script>" not in seen[0].text
    assert 'href="https://example.com/" target' in seen[0].text
    assert "{body}" in seen[0].text
    assert "{title}" in seen[0].text


def test_mails_and_notices_stand_apart():
    """Mails first, each with a link to it; the topic's notices in a list of their own, with their text."""
    page, _ = visit(send, push({"what": "second", "why": "because", "kind": "idle"}))
    mails, _, notices = page.partition("Notices of the topic")
    assert "test-vm &lt;is&gt; back" in mails
    assert 'href="mailbox/mails/1"' in mails
    assert "because" in notices
    assert "because" not in mails


def test_a_server_that_is_down_takes_nothing_until_it_is_up():
    """At the same port as before."""
    down, up = trouble(down=True), trouble()
    _, messages = visit(down, refused(send, ConnectionRefusedError), down, up, send)
    assert len(messages) == 1


def test_a_server_refuses_whom_it_was_told_to():
    """Only them, and only until it is told otherwise."""
    _, messages = visit(trouble(refuses=["bob@example.com"]), send, trouble(), send)
    assert [message["to"] for message in messages] == ["ada@example.com, bob@example.com", "ada@example.com"]
    _, none = visit(
        trouble(refuses=["ada@example.com"]), refused(post(raw_mail()), smtplib.SMTPRecipientsRefused)
    )
    assert none == []


def test_a_late_server_keeps_a_mail_before_it_says_so():
    """Whoever gives up waiting for the word has sent it all the same."""

    def impatient(port, _url):
        with smtplib.SMTP("127.0.0.1", port, timeout=5) as smtp:
            smtp.ehlo()
            smtp.sock.settimeout(0.2)
            smtp.sendmail("ops@example.com", ["ada@example.com"], MAIL)

    _, messages = visit(trouble(late_seconds=600), refused(impatient, OSError))
    assert [message["to"] for message in messages] == ["ada@example.com"]


def test_a_mute_server_takes_a_mail_and_does_not_say_so():
    """So often as it was told to."""
    hung_up = refused(send, smtplib.SMTPServerDisconnected)
    _, messages = visit(trouble(mute=1), hung_up, send)
    assert len(messages) == 2


def test_trouble_that_is_unknown_is_refused():
    """Nothing is guessed."""
    seen = []

    def step(_port, url):
        seen.append(httpx.post(url + "/local/mail", json={"deaf": True}, trust_env=False))

    visit(step)
    assert seen[0].status_code == 400


def test_a_story_counts_a_notice_once_that_pubsub_delivered_twice():
    """At least once is the promise of its topic; another notice of the same words is counted."""
    told = {"owner": "ada@example.com", "what": "nap has idle GPUs"}
    heard = []

    def look(_port, url):
        async def work():
            watch = Watcher(base=url, project="demo", bucket="demo-jobs")
            stage = Stage(watch, environment=dict, tell=lambda *_: None)
            ward = Ward(stage, "nap", {"id": "1"}, "ada@example.com")
            heard.append([given["number"] for given in await ward.heard("nap has idle GPUs")])
            await watch.close()

        asyncio.run(work())

    first, second = push({**told, "id": "n-1"}), push({**told, "id": "n-2"})
    visit(first, first, second, first, look)
    assert heard == [[1, 3]]
