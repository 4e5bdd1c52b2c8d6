"""What a mail server's replies mean for the mail."""

import re
from collections.abc import Set as AbstractSet

import msgspec

from spotwarden.notify.channels.text import plain
from spotwarden.ports import RejectedError, UnansweredError

ABOUT_MAIL = frozenset(range(550, 555))
"""The codes that speak of the mailbox or the mail (RFC 5321, 4.2.3). Others below 600 speak of how we ask."""

TOO_LARGE = 552
SECURITY = re.compile(rb"5\.7\.\d")
"""How an enhanced code begins that is about who may do what (RFC 3463, 3.8)."""


class SmtpStep(msgspec.Struct, frozen=True, kw_only=True):
    """A point of the conversation: the first digit of yes, what is for ever, whether `5.7.x` softens that."""

    yes: int
    lasting: AbstractSet[int]
    softened: bool = False
    after: str


SENDER = SmtpStep(yes=2, lasting=frozenset({TOO_LARGE}), after="the address of SPOTWARDEN_MAIL_FROM")
"""A sender that is not taken is a setting of ours: mended, all that waits goes out."""

RECIPIENT = SmtpStep(yes=2, lasting=ABOUT_MAIL, softened=True, after="the recipient")
"""`5.7.x` is how a relay says that it does not relay for *us*, whoever the recipient is."""

DATA = SmtpStep(yes=3, lasting=ABOUT_MAIL, softened=True, after="DATA")
MAIL = SmtpStep(yes=2, lasting=frozenset(range(500, 600)), after="the mail")


def judge(step: SmtpStep, reply: tuple[int, bytes]) -> str:
    """The server's yes; `RejectedError` for its no, `UnansweredError` for what is neither after the mail."""
    code, words = reply
    said = f"{code} {plain(words)}".rstrip()
    if code // 100 == step.yes:
        return said
    if code in step.lasting and not (step.softened and SECURITY.match(words)):
        raise RejectedError("refused", f"to {step.after} the mail server said {said}")
    if step is MAIL and code // 100 != 4:  # noqa: PLR2004 - RFC 5321: 4yz is a no for now
        raise UnansweredError(f"to {step.after} the mail server said {said}, which is not a valid reply")
    raise RejectedError("unsent", f"to {step.after} the mail server said {said}")
