"""The words of a message: from what waits for one recipient to what goes out."""

from spotwarden.notify.templates.hooks import hook
from spotwarden.notify.templates.mails import mail

__all__ = ["hook", "mail"]
