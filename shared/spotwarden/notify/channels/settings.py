"""Which channels a deployment has: read once, from the environment."""

from collections.abc import Mapping

import msgspec

from spotwarden.model.message import Shape
from spotwarden.notify.channels.hook_settings import read_hooks
from spotwarden.notify.channels.model import ChannelSettingsError, Hook, Smtp
from spotwarden.notify.channels.smtp_settings import read_smtp

__all__ = ["ChannelSettings", "ChannelSettingsError"]


class ChannelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where messages go. Without `smtp` there is no mail."""

    smtp: Smtp | None = None
    hooks: Mapping[str, Hook] = {}

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> "ChannelSettings":
        """Read the environment.

        Raises:
            ChannelSettingsError: what is set cannot be, with the variable, what is wrong and what is right.
        """
        return cls(smtp=read_smtp(environ), hooks=read_hooks(environ.get("SPOTWARDEN_HOOKS", "")))

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """What each hook's receiver understands."""
        return {name: hook.shape for name, hook in self.hooks.items()}
