"""What people have in their mail boxes, and when it came."""

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from spotwarden.model.delivery import Pending
from spotwarden.model.message import Mail, Message
from spotwarden.model.notice import Notice
from spotwarden.notify.outbox.renderer import Renderer
from tests.fakes.channel import MemoryMailer

Write = Callable[[str, tuple[Notice, ...]], None]


class Arrived(msgspec.Struct, frozen=True, kw_only=True):
    """One notice as one mail told it to one person."""

    at: datetime
    to: str
    notice: Notice
    subject: str
    text: str
    alone: bool


class OpenMailer(Renderer, frozen=True, kw_only=True):
    """Writes mails as the product does, and notes which notices each tells."""

    written: Write

    def render(
        self,
        pendings: Sequence[Pending],
        message_id: str,
        at: datetime,
        again: bool,
    ) -> Message:
        """As `Renderer.message`."""
        made = Renderer.render(self, pendings, message_id, at, again)
        self.written(message_id, tuple(pending.notice for pending in pendings))
        return made


class Mailroom:
    """All mails that have arrived, each notice by itself, in order."""

    def __init__(self, mailer: MemoryMailer) -> None:
        self._mailer = mailer
        self._tells: dict[str, tuple[Notice, ...]] = {}
        self._read = 0
        self.arrived: list[Arrived] = []

    def write(self, message_id: str, notices: tuple[Notice, ...]) -> None:
        """Note which notices a mail tells; of one that is written twice the newer copy counts."""
        self._tells[message_id] = notices

    def collect(self, now: datetime) -> list[Arrived]:
        """What is new since the last time."""
        arrived = self._mailer.arrived
        if len(arrived) == self._read:
            return []
        mails = [mail for mail in arrived[self._read :] if isinstance(mail, Mail)]
        self._read = len(arrived)
        new = [
            Arrived(
                at=now,
                to=mail.to,
                notice=notice,
                subject=mail.subject,
                text=mail.text,
                alone=len(self._tells[mail.message_id]) == 1,
            )
            for mail in mails
            for notice in self._tells[mail.message_id]
        ]
        self.arrived += new
        return new
