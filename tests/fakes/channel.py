"""A mailer in memory."""

from collections.abc import Sequence
from datetime import datetime

from spotwarden.model.message import HookPost, Mail, Message
from spotwarden.ports import InTime
from tests.fakes.clock import VirtualClock
from tests.fakes.trouble import Trouble


class MemoryMailer:
    """`Mailer`. What arrived stands in `arrived`; failures are ordered from `trouble` under the call `send`.

    Their subject is `<address or hook> <id>`. `rejected("refused")` and `rejected("unsent")` deliver nothing;
    `unanswered` delivers or not, as `after_work` says.
    """

    def __init__(self, clock: VirtualClock | None = None) -> None:
        self._clock = clock or VirtualClock()
        self.trouble = Trouble()
        self.arrived: list[Message] = []

    def send(self, message: Message, *, before: datetime | None = None) -> str:
        """As `Mailer.send`."""
        subject = f"{addressee(message)} {_id(message)}"
        return self.trouble.around("send", subject, self._take, message, before)

    def _take(self, message: Message, before: datetime | None) -> str:
        InTime(before, self._clock.now)()
        self.arrived.append(message)
        return f"250 kept as {len(self.arrived)}"

    def mails(self, to: str = "") -> Sequence[Mail]:
        """The mails that arrived, or those to one address."""
        return [one for one in self.arrived if isinstance(one, Mail) and to in {"", one.to}]

    def posts(self, hook: str = "") -> Sequence[HookPost]:
        """The posts to web hooks that arrived, or those to one hook."""
        return [one for one in self.arrived if isinstance(one, HookPost) and hook in {"", one.hook}]


def addressee(message: Message) -> str:
    """The mail address, or the hook's name."""
    return message.to if isinstance(message, Mail) else message.hook


def _id(message: Message) -> str:
    return message.message_id if isinstance(message, Mail) else message.id
