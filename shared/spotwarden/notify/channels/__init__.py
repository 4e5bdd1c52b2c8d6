"""How messages leave: mail by SMTP, web hooks by HTTPS. Nobody else opens a connection to a person."""

from spotwarden.notify.channels.door import open_mailer
from spotwarden.notify.channels.settings import ChannelSettings, ChannelSettingsError

__all__ = ["ChannelSettings", "ChannelSettingsError", "open_mailer"]
