"""Opens the post office. What mail and hooks need is imported when the first letter is sent."""

from functools import cached_property

from spotwarden.model.letter import Mail, Message
from spotwarden.notify.channels.settings import ChannelSettings
from spotwarden.notify.channels.timeouts import ChannelTimeouts
from spotwarden.ports import Post, RejectedError


def open_post(settings: ChannelSettings, patience: ChannelTimeouts = ChannelTimeouts()) -> Post:  # noqa: B008 - frozen
    """The channels that are set. A letter to one that is not is `unsent`, and the reason says what to set."""
    return _Door(settings, patience)


class _Door:
    def __init__(self, settings: ChannelSettings, patience: ChannelTimeouts) -> None:
        self._settings = settings
        self._patience = patience

    def send(self, letter: Message) -> str:
        """As `Post.send`. Safe to use from several threads."""
        if isinstance(letter, Mail):
            return self._mail.send(letter)
        return self._hooks.send(letter)

    @cached_property
    def _mail(self) -> Post:
        if self._settings.smtp is None:
            return _Unset("SPOTWARDEN_SMTP is not set, so there is no mail")
        from spotwarden.notify.channels.smtp import SmtpPost  # noqa: PLC0415 - first use

        return SmtpPost(self._settings.smtp, self._patience)

    @cached_property
    def _hooks(self) -> Post:
        if not self._settings.hooks:
            return _Unset("SPOTWARDEN_HOOKS is not set, so there are no web hooks")
        from spotwarden.notify.channels.hooks import HookPosts  # noqa: PLC0415 - first use

        return HookPosts(self._settings.hooks, self._patience)


class _Unset:
    def __init__(self, why: str) -> None:
        self._why = why

    def send(self, letter: Message) -> str:
        """Say what is not set."""
        del letter
        raise RejectedError("unsent", self._why)
