"""What a function that sends nothing pays for its channels."""

import json
import subprocess
import sys

import pytest

HEAVY = {"smtplib", "email", "ssl", "requests", "http.client", "socket", "hmac"}
SETTINGS = {
    "SPOTWARDEN_SMTP": "smtp+plain://127.0.0.1:1",
    "SPOTWARDEN_MAIL_FROM": "a@example.com",
    "SPOTWARDEN_HOOKS": json.dumps({"a": {"shape": "slack", "url": "http://127.0.0.1:1"}}),
}
OPEN = f"""
import sys
from spotwarden.notify.channels import ChannelSettings, open_mailer
from spotwarden.ports import RejectedError
from tests.notify.channels.messages import mail, post
door = open_mailer(ChannelSettings.read({SETTINGS!r}))
"""
SEND = """
try:
    door.send({message}())
except RejectedError:
    pass
"""
TELL = f"print(*sorted({HEAVY!r} & set(sys.modules)))"


def loaded(program: str) -> set[str]:
    """What a fresh process has imported after it."""
    done = subprocess.run([sys.executable, "-c", program + TELL], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_channels_that_are_only_opened_import_nothing():
    """Most ticks find nothing to send."""
    assert loaded(OPEN) == set()


@pytest.mark.parametrize(("message", "without"), [("mail", "requests"), ("post", "smtplib")])
def test_a_message_imports_what_its_own_channel_needs(message: str, without: str):
    """Its own, and not the other's."""
    found = loaded(OPEN + SEND.format(message=message))
    assert "ssl" in found
    assert without not in found
