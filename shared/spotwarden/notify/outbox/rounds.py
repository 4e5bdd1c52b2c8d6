"""How a recipient's round goes on after a try to send: the states of a message.

A message is `sending` from before it is handed over until it is known what became of it. One of which nobody
knows is sent once more, and says so; after that it is given up. Certainly not sent is no try.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from spotwarden.model.delivery import Batch, Round
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.outcome import Done, Lost, Outcome, Rejected, Unanswered
from spotwarden.notify.outbox.model import Next, Waiting

MOST_TRIES = 2
"""How often a message may have reached its recipient at most."""
UNKNOWN_TWICE = "delivery couldn't be confirmed twice; it is not sent a third time"


def batch(some: Sequence[Waiting], domain: str, now: datetime) -> Batch:
    """What goes out as one message. The same notices to the same recipient have the same message id."""
    keys = tuple(item.key for item in some)
    said = msgspec.json.encode((some[0].pending.recipient, keys))
    name = f"{sha256(said).hexdigest()[:32]}@{domain}"
    return Batch(notices=keys, message_id=name, sent_at=now)


def once_more(unknown: Batch, now: datetime) -> Batch | str:
    """The message of which nobody knows whether it arrived, as it is sent again; or why it is given up."""
    if unknown.tries >= MOST_TRIES:
        return UNKNOWN_TWICE
    return replace(unknown, tries=unknown.tries + 1, sent_at=now)


def after(
    before: Round, some: Sequence[Waiting], outcome: Outcome, limits: NotifyLimits, now: datetime
) -> Next:
    """What follows the try that `before.sending` was, which told all of `some`."""
    match outcome:
        case Done():
            return Next(round=_arrived(before, now), goes_on=True)
        case Rejected(code="refused"):
            reason = f"it was refused: {outcome.message}"
            return Next(round=_over(before), given_up=tuple(some), reason=reason, goes_on=True)
        case Lost():
            return Next(round=_too_late(before))
        case Unanswered():
            return _unknown(before, some, outcome.detail, limits, now)
        case Rejected():
            return _unsent(before, some, outcome.message, limits, now)
        case _:
            return _unsent(before, some, type(outcome).__name__, limits, now)


def _arrived(before: Round, now: datetime) -> Round:
    return replace(_over(before), sent=before.sending, last=now)


def _over(before: Round) -> Round:
    """Nothing is under way, and the channel has answered."""
    return replace(before, sending=None, sent=None, failures=0, troubled=None, retry=None, error="")


def _unknown(before: Round, some: Sequence[Waiting], error: str, limits: NotifyLimits, now: datetime) -> Next:
    failed = _failed(before, error, limits, now)
    if before.sending is None or before.sending.tries >= MOST_TRIES:
        return Next(round=replace(failed, sending=None), given_up=tuple(some), reason=UNKNOWN_TWICE)
    return Next(round=failed)


def _too_late(before: Round) -> Round:
    """Nothing was sent, and nobody holds the round: the next sweep writes it anew, with its moments."""
    return replace(before, holder="", until=None, sending=_before(before.sending))


def _before(tried: Batch | None) -> Batch | None:
    """What is known of a message that has certainly not been sent this time: the first try may be unknown."""
    return replace(tried, tries=tried.tries - 1) if tried and tried.tries > 1 else None


def _unsent(before: Round, some: Sequence[Waiting], error: str, limits: NotifyLimits, now: datetime) -> Next:
    """Try again later. Of a message that was sent once more, the first try is still unknown."""
    failed = _failed(before, error, limits, now)
    again = _before(failed.sending)
    old = tuple(item for item in some if _too_old(item, failed, limits, now))
    left = again if len(old) < len(some) else None
    return Next(
        round=replace(failed, sending=left),
        given_up=old,
        reason=f"it could not be sent for {limits.give_up}: {error}" if old else "",
    )


def _too_old(pending: Waiting, failed: Round, limits: NotifyLimits, now: datetime) -> bool:
    """What waited for its hour has not failed meanwhile."""
    began = max(pending.pending.since, failed.troubled or now)
    return now - began >= limits.give_up


def _failed(before: Round, error: str, limits: NotifyLimits, now: datetime) -> Round:
    """Nothing is tried until the back-off is over, and nobody holds the round meanwhile."""
    failures = before.failures + 1
    return replace(
        before,
        holder="",
        until=None,
        failures=failures,
        troubled=before.troubled or now,
        retry=now + _back_off(failures, limits),
        error=error[:1000],
    )


def _back_off(failures: int, limits: NotifyLimits) -> timedelta:
    doublings = min(failures - 1, 20)
    return min(limits.first_backoff * (1 << doublings), limits.longest_backoff)
