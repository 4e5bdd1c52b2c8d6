"""What a link in a mail lets its reader do."""

from enum import Enum

import msgspec

from spotwarden.model.moment import Moment
from spotwarden.model.notice import CaseRef, Way


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One answer to one notice by one person, good for one time until `expires`.

    `id` names it: a message that is written twice makes the same offer. `at` is when its notice was written.
    `hours` is for how long (keep) or by how much (extend). `case` is None where the answer is to a job that
    is over (restart).
    """

    id: str
    way: Way
    notice: str
    to: str
    job: str
    at: Moment
    expires: Moment
    case: CaseRef | None = None
    hours: float = 0.0


class PreferenceOffer(msgspec.Struct, frozen=True, kw_only=True):
    """What a link to one's preferences carries: whose they are. It may be used again and again."""

    to: str
    expires: Moment


class Unfit(Enum):
    """Why a token is no good."""

    BROKEN = "broken"
    FOREIGN = "foreign"
    EXPIRED = "expired"


class UsedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The record of an answer that was given by a link: by whom, when, what, and what came of it."""

    offer: Offer
    at: Moment
    outcome: str = ""
    note: str = ""
