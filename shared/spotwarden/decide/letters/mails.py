"""A mail about one notice or many."""

from collections.abc import Sequence
from datetime import datetime
from html import escape

from spotwarden.model.letter import Links, Mail
from spotwarden.model.post import Pending


def mail(pendings: Sequence[Pending], *, links: Links, message_id: str, at: datetime, again: bool) -> Mail:
    """Write the mail; its first line says what to do."""
    first = pendings[0].notice
    lines = ["This may be a second copy."] if again else []
    for one in pendings:
        lines += [one.notice.todo or one.notice.then, one.notice.what, one.notice.why]
        lines += [f"{way.value}: {url}" for way, url in links.offers.get(one.notice.id, ())]
    return Mail(
        to=pendings[0].recipient.address,
        subject=" ".join(first.what.split())[:200] if len(pendings) == 1 else f"{len(pendings)} notices",
        text="\n".join(lines),
        html="".join(f"<p>{escape(line)}</p>" for line in lines),
        message_id=message_id,
        at=at,
        unsubscribe=links.unsubscribe,
    )
