"""Spans and moments as a person types them."""

import re
from datetime import UTC, datetime, timedelta

import click

from spotwarden import clock
from spotwarden.model.values import LONGEST

_SPAN = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class SpanParam(click.ParamType[timedelta]):
    """A span such as `90s`, `30m`, `8h`, `1h30m` or `2d`, longer than nothing."""

    name = "span"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Read it; a bare number is refused, for nobody can see its unit."""
        if isinstance(value, timedelta):
            return value
        match = _SPAN.fullmatch(str(value))
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups()) if match else (0, 0, 0, 0)
        try:
            span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        except OverflowError:
            span = timedelta()
        if not span or span > LONGEST:
            self.fail(f"{value!r} is not a valid duration; write 30m, 8h, 1h30m or 2d", param, ctx)
        return span


class MomentParam(click.ParamType[datetime]):
    """A day, to its end, or a moment as ISO 8601 writes it; UTC unless it says otherwise."""

    name = "moment"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read it as an aware moment in UTC."""
        if isinstance(value, datetime):
            return value
        text = str(value)
        try:
            moment = datetime.fromisoformat(text)
            if _DAY.fullmatch(text):
                moment += timedelta(days=1)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is not a valid date or time; write 2026-12-31 or 2026-12-31T18:00", param, ctx
            )


class Since(click.ParamType[datetime]):
    """A moment, or how long ago: `2h`, `2026-11-21`, `2026-11-21T08:00`; a day from its beginning, UTC."""

    name = "since"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read it as an aware moment in UTC."""
        if isinstance(value, datetime):
            return value
        text = str(value)
        try:
            moment = datetime.fromisoformat(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        try:
            return clock.now() - SpanParam().convert(text, param, ctx)
        except (click.BadParameter, OverflowError):
            self.fail(
                f"{value!r} is neither a time nor a duration; write 2h, 2026-11-21 or 2026-11-21T08:00",
                param,
                ctx,
            )
