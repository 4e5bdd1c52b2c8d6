"""Opens the way to mail servers and web hooks; what they need is imported when the first message is sent."""

from datetime import datetime
from functools import cached_property

from spotwarden.model.message import Mail, Message
from spotwarden.notify.channels.settings import ChannelSettings
from spotwarden.notify.channels.timeouts import ChannelTimeouts
from spotwarden.ports import Mailer, RejectedError


def open_mailer(settings: ChannelSettings, timeouts: ChannelTimeouts = ChannelTimeouts()) -> Mailer:
    """The channels that are set. A message to another one is `unsent`, and the reason says what to set."""
    return _Door(settings, timeouts)


class _Door:
    def __init__(self, settings: ChannelSettings, timeouts: ChannelTimeouts) -> None:
        self._settings = settings
        self._timeouts = timeouts

    def send(self, message: Message, *, before: datetime | None = None) -> str:
        """As `Mailer.send`. Safe to use from several threads."""
        if isinstance(message, Mail):
            return self._mail.send(message, before=before)
        return self._hooks.send(message, before=before)

    @cached_property
    def _mail(self) -> Mailer:
        if self._settings.smtp is None:
            return _Unset("SPOTWARDEN_SMTP is not set, so there is no mail")
        from spotwarden.notify.channels.smtp import SmtpMailer

        return SmtpMailer(self._settings.smtp, self._timeouts)

    @cached_property
    def _hooks(self) -> Mailer:
        if not self._settings.hooks:
            return _Unset("SPOTWARDEN_HOOKS is not set, so there are no web hooks")
        from spotwarden.notify.channels.hooks import HookMailer

        return HookMailer(self._settings.hooks, self._timeouts)


class _Unset:
    def __init__(self, why: str) -> None:
        self._why = why

    def send(self, message: Message, *, before: datetime | None = None) -> str:
        """Say what is not set."""
        del message, before
        raise RejectedError("unsent", self._why)
