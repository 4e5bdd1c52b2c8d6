"""A notice on its way to a person: to whom, by which channel, and what became of it."""

from enum import Enum

import msgspec

from spotwarden.model.moment import Moment
from spotwarden.model.notice import Notice
from spotwarden.model.threads import Threads


class Channel(Enum):
    """How somebody is reached: by mail, or by a web hook that has a name in the settings."""

    EMAIL = "email"
    HOOK = "hook"


class Recipient(msgspec.Struct, frozen=True, kw_only=True):
    """Whom to tell, by which channel; `address` is a mail address or a hook's name."""

    channel: Channel
    address: str


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A notice that waits to be sent to one recipient, since it was taken in.

    `stands_in` is whom it could not be brought to, where it goes to somebody else in his place, and
    `because` why not. A `copy` goes to a hook besides the message to a person: it warns nobody by itself.
    """

    notice: Notice
    recipient: Recipient
    since: Moment
    stands_in: str = ""
    because: str = ""
    copy: bool = False


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """What goes out as one message: the keys of its notices, in the order in which they are told.

    `sent_at` is when it was last handed over; how that went is not known yet. `tries` counts how often it
    may have reached its recipient.
    """

    notices: tuple[str, ...]
    message_id: str
    sent_at: Moment
    tries: int = 1


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of one recipient between sweeps, and who writes to him now, until when at most.

    `sending` is a message of which nobody knows yet whether it arrived, `sent` one that did and is not yet
    written down notice by notice. `last` is when he last got one. After `failures` in a row, the first of
    them at `troubled`, nothing is tried before `retry`.
    """

    holder: str = ""
    until: Moment | None = None
    sending: Batch | None = None
    sent: Batch | None = None
    last: Moment | None = None
    failures: int = 0
    troubled: Moment | None = None
    retry: Moment | None = None
    error: str = ""


class Delivered(msgspec.Struct, frozen=True, kw_only=True):
    """That a notice arrived: the channel's own server has taken it. Kept as long as it may be redelivered."""

    notice: str
    recipient: Recipient
    at: Moment
    message_id: str
    answer: str = ""
    copy: bool = False


class Undelivered(msgspec.Struct, frozen=True, kw_only=True):
    """A notice that could not be brought to its recipient, with everything that is known of why."""

    pending: Pending
    at: Moment
    reason: str


class Pace(Enum):
    """How often a person wants to hear of what is not urgent."""

    NOW = "now"
    HOURLY = "hourly"
    DAILY = "daily"


class Preference(msgspec.Struct, frozen=True, kw_only=True):
    """What a person has asked for; `weekly` is whether the weekly report is to come.

    `timezone` is the IANA name of the zone in which times are told, `threads` which mails share a subject
    ("" and None: as the policy says).
    """

    pace: Pace
    at: Moment
    weekly: bool = True
    timezone: str = ""
    threads: Threads | None = None
