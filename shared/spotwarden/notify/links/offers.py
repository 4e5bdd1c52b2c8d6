"""What a message may let its reader do by one click."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from hashlib import sha256

import msgspec

from spotwarden.model.finding import Target
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.notice import Notice, Way
from spotwarden.model.offer import Offer

LONGEST = timedelta(days=31)
"""No link holds longer, however far off what it prevents: a message may lie about in an archive."""
MOST_BYTES = 1200
"""Of names that an offer may carry, so that its link fits into a URL; beyond, a message names the command."""

_HOUR = timedelta(hours=1)
_FITS: Mapping[Way, Callable[[Notice], bool]] = {
    Way.KEEP: lambda notice: notice.case is not None,
    Way.EXTEND: lambda notice: notice.case is not None,
    # A disk that is left over is named by its link: there is nothing to stop.
    Way.STOP: lambda notice: bool(notice.case and notice.instances) and all(map(_is_vm, notice.instances)),
    Way.RESTART: lambda notice: bool(notice.job),
    Way.APPROVE: lambda notice: notice.case is not None,
}


def offers(notice: Notice, to: str, limits: NotifyLimits, now: datetime) -> tuple[Offer, ...]:
    """What `to` may answer to this notice. Made again they are the same answers, by their ids.

    They hold for `limits.link_lasts`, and at least as long as what was announced can be prevented.
    """
    if _size(notice, to) > MOST_BYTES:
        return ()
    hours = {Way.KEEP: limits.keep / _HOUR, Way.EXTEND: limits.extend / _HOUR}
    return tuple(
        Offer(
            id=offer_id(notice.id, to, way),
            way=way,
            notice=notice.id,
            to=to,
            job=notice.job,
            at=notice.at,
            expires=_expires(notice, limits, now),
            case=None if way is Way.RESTART else notice.case,
            hours=hours.get(way, 0.0),
        )
        for way in dict.fromkeys(notice.ways)
        if _FITS[way](notice)
    )


def offer_id(notice: str, to: str, way: Way) -> str:
    """What names this answer of this person to this notice, in 32 hexadecimal digits."""
    return sha256(msgspec.json.encode((notice, to, way))).hexdigest()[:32]


def _is_vm(target: Target) -> bool:
    return target.id.isdecimal()


def _expires(notice: Notice, limits: NotifyLimits, now: datetime) -> datetime:
    due = notice.due or now
    return max(now + limits.link_lasts, min(due, now + LONGEST))


def _size(notice: Notice, to: str) -> int:
    case = f"{notice.case.rule}{notice.case.key}" if notice.case else ""
    return len(f"{notice.id}{to}{notice.job}{case}".encode(errors="surrogatepass"))
