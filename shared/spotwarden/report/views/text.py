"""Figures as a page says them. What is not known is said to be unknown, and is never 0."""

import math
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
from markupsafe import Markup, escape

from spotwarden.model.heartbeat import Measured, number
from spotwarden.model.spans import span
from spotwarden.report.model.experiments import Experiment, Money
from spotwarden.report.views.safe import finalize

UNKNOWN = Markup('<span class="unknown">unknown</span>')
NONE = Markup('<span class="quiet">none</span>')
_HOUR = timedelta(hours=1)
_REAL = {"nan": "NaN", "inf": "∞", "-inf": "-∞"}
_LARGE, _SMALL = 100_000, 0.001


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """Says figures and moments, these in one time zone."""

    zone: str = "UTC"

    def local(self, at: datetime) -> datetime:
        """The moment by the clocks of the zone; in UTC where it is at an end of the calendar."""
        try:
            return at.astimezone(ZoneInfo(self.zone))
        except OverflowError:
            return at

    def stamp(self, at: datetime | None) -> str:
        """To the minute: `2026-11-21 14:05`; "" for none."""
        return f"{self.local(at):%Y-%m-%d %H:%M}" if at is not None else ""

    def when(self, at: datetime | None, otherwise: str = "unknown") -> Markup:
        """A moment that programs can read, too; `otherwise` where there is none."""
        if at is None:
            return Markup('<span class="{}">{}</span>').format(_kind(otherwise), otherwise)
        exact = f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        return Markup('<time datetime="{}">{}</time>').format(exact, self.stamp(at))

    def hours(self, time: timedelta | None) -> Markup:
        """Hours with one decimal; a time that is too short for it is not 0."""
        if time is None:
            return UNKNOWN
        hours = time / _HOUR
        short = timedelta(0) < time and hours < 0.05  # noqa: PLR2004 — what one decimal rounds to 0
        return Markup("&lt;&#8239;0.1") if short else escape(f"{hours:,.1f}")

    def span(self, time: timedelta | None) -> Markup:
        """A time as people say it: `3 h 20 min`."""
        if time is None:
            return UNKNOWN
        return escape(span(time) if time >= timedelta(minutes=1) else f"{time.total_seconds():.0f} s")

    def usd(self, money: Money) -> Markup:
        """US dollars and cents; "at least" where some of the time has no known price."""
        if money.usd is None:
            return UNKNOWN
        least = Markup('<span aria-hidden="true">≥&#8239;</span><span class="unseen">at least </span>')
        return (least if money.partial else Markup("")) + f"{money.usd:,.2f}"

    def share(self, share: float | None) -> Markup:
        """Percent with one decimal."""
        return UNKNOWN if share is None else escape(f"{share * 100:.1f}\u202f%")

    def number(self, value: Measured | None) -> Markup:
        """A measured value to five digits, as short as it can be written."""
        return UNKNOWN if value is None else escape(plain(value))

    def text(self, text: str, otherwise: str = "unknown") -> Markup:
        """A text that others wrote, or what stands for none."""
        if not text:
            return Markup('<span class="{}">{}</span>').format(_kind(otherwise), otherwise)
        return Markup("<bdi>{}</bdi>").format(finalize(text))

    def cost(self, row: Experiment, money: Money) -> Markup:
        """What a job's VMs cost; unknown where nobody knows how long they were up."""
        return UNKNOWN if row.up_time is None else self.usd(money)


def plain(value: Measured) -> str:
    """A value to five digits: `0.12346`, `1.5e-07`, `NaN`."""
    if isinstance(value, str) or not math.isfinite(value):
        return _REAL.get(str(value), "NaN")
    size = abs(number(value))
    if size and not _SMALL <= size < _LARGE:
        return f"{value:.4e}".replace("e+0", "e+").replace("e-0", "e-")
    return f"{value:,.5g}" if value % 1 else f"{value:,.0f}"


def _kind(otherwise: str) -> str:
    return "unknown" if otherwise == "unknown" else "quiet"
