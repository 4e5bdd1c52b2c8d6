"""A mailer in memory."""

from collections.abc import Sequence

from spotwarden.model.message import HookPost, Mail, Message
from tests.fakes.trouble import Trouble


class MemoryMailer:
    """`Post`. What arrived stands in `arrived`; failures are ordered from `trouble` under the call `send`.

    Their subject is `<address or hook> <id>`. `rejected("refused")` and `rejected("unsent")` deliver nothing;
    `unanswered` delivers or not, as `after_work` says.
    """

    def __init__(self) -> None:
        self.trouble = Trouble()
        self.arrived: list[Message] = []

    def send(self, message: Message) -> str:
        """As `Post.send`."""
        return self.trouble.around(
            "send", f"{addressee(message)} {_id(message)}", lambda: self._take(message)
        )

    def _take(self, message: Message) -> str:
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
