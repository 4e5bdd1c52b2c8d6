"""What the post room works with: who hears of a notice, what waits, and who decides."""

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from spotwarden.model.jobfile import JobFile
from spotwarden.model.letter import Letter
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.moment import Moment
from spotwarden.model.notice import Notice
from spotwarden.model.outcome import Outcome
from spotwarden.model.policy import Policy
from spotwarden.model.post import Batch, Channel, Pace, Pending, Recipient, Round, Undelivered


class Addressed(msgspec.Struct, frozen=True, kw_only=True):
    """Who hears of a notice. Where it is not whom it was for, `stands_in` is he and `because` why not he.

    With nobody at all `because` says why.
    """

    recipients: tuple[Recipient, ...] = ()
    stands_in: str = ""
    because: str = ""

    def pendings(self, notice: Notice, since: datetime) -> tuple[Pending, ...]:
        """The notice as it waits for each of them; where somebody is mailed, a hook gets a copy."""
        mailed = any(one.channel is Channel.EMAIL for one in self.recipients)
        return tuple(
            Pending(
                notice=notice,
                recipient=one,
                since=since,
                stands_in=self.stands_in,
                because=self.because,
                copy=mailed and one.channel is Channel.HOOK,
            )
            for one in self.recipients
        )


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A notice in the outbox: its key, its record's generation, and what the record says."""

    key: str
    generation: int
    pending: Pending


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """By what it is decided what goes out now: when the last letter went, and the recipient's own wish."""

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


class Posting(msgspec.Struct, frozen=True, kw_only=True):
    """The pure functions that decide.

    `as_of` is what a notice says where it is sent now, having arrived at somebody then or nowhere yet.
    `once_more` is a letter of which nobody knows whether it arrived as it goes out again, or why it does not.
    """

    read: Callable[[bytes], Notice]
    unreadable: Callable[[bytes, str, datetime], Undelivered]
    addressed: Callable[[Notice, JobFile, Policy], Addressed]
    stand_ins: Callable[[Pending, str, Policy, datetime], tuple[Pending, ...]]
    due: Callable[[Sequence[Waiting], Wanted], tuple[tuple[Waiting, ...], ...]]
    as_of: Callable[[Pending, datetime, datetime | None], Pending]
    asks_pace: Callable[[Sequence[Waiting]], bool]
    batch: Callable[[Sequence[Waiting], str, datetime], Batch]
    once_more: Callable[[Batch, datetime], Batch | str]
    after: Callable[[Round, Sequence[Waiting], Outcome, NotifyLimits, datetime], Next]


class Writing(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes letters: from what they tell, their message id, the moment, and whether once more.

    `domain` is what message ids end with; `now` tells the time.
    """

    letter: Callable[[Sequence[Pending], str, datetime, bool], Letter]
    domain: str
    now: Callable[[], datetime]
