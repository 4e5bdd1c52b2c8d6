"""The mailbox: every mail and every notice that people would get, kept for a look."""

from localcloud.mailbox.box import NOTICES, Mailbox

__all__ = ["NOTICES", "Mailbox"]
