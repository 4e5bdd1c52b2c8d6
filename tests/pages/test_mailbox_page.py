"""The mailbox of the local cloud, in a real browser."""

import smtplib
from email.message import EmailMessage

import pytest

from localcloud.access.services import SERVICES
from localcloud.clock import Clock
from localcloud.http import Listener, build_app
from localcloud.mailbox import Mailbox
from tests.localcloud.stand import Stand
from tests.pages.browser import PHONE

PAGE = """<!doctype html><html lang=en><head><title>nap</title><meta name=color-scheme content="light dark">
</head><body><main><h1>nap has idle GPUs</h1><p><a href="{link}">Keep for 8 h</a></p>
<script>document.body.dataset.ran = "yes"</script></main></body></html>"""
NOTICE = {
    "what": "nap has idle GPUs",
    "why": "no GPU of it was over 5% for an hour",
    "owner": "ada@example.com",
    "kind": "idle",
}


@pytest.fixture(scope="module")
def mailbox():
    """Where the mailbox of a local cloud answers: one mail, and one notice."""
    stand = Stand()
    try:
        box = stand.run(stand.call(Mailbox, clock=Clock()).start())
        listener = stand.run(Listener(build_app(box.routes()), rules=SERVICES).start())
        message = EmailMessage()
        message["Subject"], message["From"] = "nap: idle GPUs, stopped at 14:30 UTC", "ops@example.com"
        message["To"], message["Message-ID"] = "ada@example.com", f"<{'long' * 30}@example.com>"
        link = f"{listener.url}/local/mailbox?{'t' * 200}"
        message.set_content(f"To keep it:\n{link}\n")
        message.add_alternative(PAGE.format(link=link), subtype="html")
        with smtplib.SMTP("127.0.0.1", box.port) as smtp:
            smtp.send_message(message)
        stand.call(box.notice, NOTICE)
        yield f"{listener.url}/local/mailbox"
        stand.run(listener.stop())
        stand.run(box.stop())
    finally:
        stand.close()


@pytest.mark.parametrize("path", ["", "/mails/1"], ids=["the list", "a mail"])
def test_the_mailbox_is_fit_for_everybody(look, mailbox, path):
    """The list and a mail: on a phone and at a desktop, by day and by night."""
    for seen in look.everywhere(mailbox + path, name=f"mailbox{path.replace('/', '-')}"):
        assert seen.faults == []


def test_a_link_in_a_mail_opens_in_a_new_tab(look, mailbox):
    """From within the frame, where nothing else is allowed: no script runs there."""
    with look.page(PHONE) as (page, _):
        page.goto(f"{mailbox}/mails/1")
        frame = page.frame_locator("iframe")
        with page.expect_popup() as opened:
            frame.get_by_role("link", name="Keep for 8 h").click()
        opened.value.wait_for_load_state()
        assert opened.value.url.startswith(f"{mailbox}?ttt")
        assert frame.locator("body[data-ran]").count() == 0
