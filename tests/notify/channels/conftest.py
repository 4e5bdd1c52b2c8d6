"""The mail channel of these tests, and the certificates that it trusts."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from spotwarden.notify.channels import ChannelSettings, open_mailer
from spotwarden.notify.channels.timeouts import ChannelTimeouts
from spotwarden.ports import Mailer
from tests.notify.channels.mail_server import authority_file

SHORT = ChannelTimeouts(to_send=timedelta(milliseconds=200), answer=timedelta(milliseconds=200))
"""Gives up soon."""
CURIOUS = ChannelTimeouts(answer=timedelta(milliseconds=200))
"""Takes its time to send, and gives up on the answer soon."""


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of the CA that signs the servers' certificates."""
    return authority_file(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def mailer_to(authority: str) -> Callable[..., Mailer]:
    """Opens the mail channel to a URL, trusting the CA of these tests."""

    def opener(url: str, *, timeouts: ChannelTimeouts = ChannelTimeouts(), **environ: str) -> Mailer:
        settings = {
            "SPOTWARDEN_SMTP": url,
            "SPOTWARDEN_MAIL_FROM": "Spotwarden <robot@example.com>",
            "SPOTWARDEN_SMTP_CA": authority,
            **environ,
        }
        return open_mailer(ChannelSettings.read(settings), timeouts)

    return opener
