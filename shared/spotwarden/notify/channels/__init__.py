"""How letters leave: mail by SMTP, web hooks by HTTPS. Nobody else opens a connection to a person."""

from spotwarden.notify.channels.door import open_post
from spotwarden.notify.channels.settings import ChannelSettings, ChannelSettingsError

__all__ = ["ChannelSettings", "ChannelSettingsError", "open_post"]
