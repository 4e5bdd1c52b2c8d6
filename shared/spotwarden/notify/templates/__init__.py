"""The words of a message: from what waits for one recipient to what goes out."""

from collections.abc import Sequence
from datetime import datetime

from spotwarden.model.delivery import Pending
from spotwarden.model.message import HookPost, Mail, MailLinks, Shape
from spotwarden.notify.templates import hooks, mails


def mail(
    pendings: Sequence[Pending], *, links: MailLinks, message_id: str, at: datetime, again: bool
) -> Mail:
    """Write one mail that tells all of these, which are for one address.

    `again` says that it may be a second copy: nobody knows whether the first one arrived.
    """
    return mails.mail(pendings, links=links, message_id=message_id, at=at, again=again)


def hook(  # noqa: PLR0913 — all that a post is made of
    pendings: Sequence[Pending],
    *,
    shape: Shape,
    links: MailLinks,
    id: str,  # noqa: A002 — the name of its field
    at: datetime,
    again: bool,
) -> HookPost:
    """Write one post that tells all of these, which are for one hook; `again` as in a mail.

    Many people read it: of the links, which are one reader's own, it carries none.
    """
    del links
    body = hooks.body(pendings, shape=shape, id=id, at=at, again=again)
    return HookPost(hook=pendings[0].recipient.address, body=body, id=id, at=at)
