"""What the outbox works with: who hears of a notice, what waits, and who decides."""

from datetime import datetime

import msgspec

from spotwarden.model.delivery import Channel, Pace, Pending, Recipient, Round
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.moment import Moment
from spotwarden.model.notice import Notice


class Addressed(msgspec.Struct, frozen=True, kw_only=True):
    """Who hears of a notice. Where it is not whom it was for, `stands_in` is he and `because` why not he.

    With nobody at all `because` says why.
    """

    recipients: tuple[Recipient, ...] = ()
    stands_in: str = ""
    because: str = ""

    def pendings(self, notice: Notice, since: datetime) -> tuple[Pending, ...]:
        """The notice as it waits for each of them; where somebody is mailed, a hook gets a copy."""
        mailed = any(recipient.channel is Channel.EMAIL for recipient in self.recipients)
        return tuple(
            Pending(
                notice=notice,
                recipient=recipient,
                since=since,
                stands_in=self.stands_in,
                because=self.because,
                copy=mailed and recipient.channel is Channel.HOOK,
            )
            for recipient in self.recipients
        )


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A notice in the outbox: its key, its record's generation, and what the record says."""

    key: str
    generation: int
    pending: Pending


class DueQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """By what it is decided what goes out now: when the last message went, and the recipient's own wish."""

    last: Moment | None = None
    pace: Pace | None = None
    limits: NotifyLimits
    now: datetime


class Next(msgspec.Struct, frozen=True, kw_only=True):
    """What follows a try to send: how the round stands now, and what is given up for which reason.

    Unless `goes_on` nothing else is sent to this recipient in this sweep.
    """

    round: Round
    given_up: tuple[Waiting, ...] = ()
    reason: str = ""
    goes_on: bool = False
