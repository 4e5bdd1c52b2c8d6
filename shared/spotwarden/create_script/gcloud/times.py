"""Readers of durations and of points in time, by gcloud's rules (`gcloud topic datetimes`)."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

from spotwarden.create_script.gcloud.values import Misfit, Raw, Reader, text

_DAYS_IN_YEAR = 365.2422
_UNITS = {"W": "days", "D": "days", "H": "hours", "S": "seconds", "Y": "years"}
_FRACTIONS = {"MS": 1e3, "US": 1e6, "NS": 1e9}
_LONGEST = 100
# The small units stand at the end only.
_AMOUNT = re.compile(r"(?P<amount>[\d.,T]*)(?P<unit>[MUN]S$|[^\d.,T]?)")
_MOMENT = re.compile(
    r"""(?P<year>\d{4}) (?: (?P<dash>[-/]) (?P<month>\d\d?) (?P=dash) (?P<day>\d\d?) | (?P<md>\d{4}) )
    (?: (?:[Tt]|[ ]+) (?: (?P<hour>\d\d?) (?: : (?P<minute>\d\d)
            (?: : (?P<second>\d\d) (?:[.,](?P<fraction>\d{1,9}))? )? )? | (?P<hms>\d{4}(?:\d\d)?) )
        [ ]* (?P<zone> [zZ] | UTC | GMT | (?P<sign>[-+]) (?P<zh>\d\d) (?: :? (?P<zm>\d\d) )? )? )?""",
    re.VERBOSE | re.ASCII,
)


def duration(*, unit: str = "s", low: int = 0, high: int | None = None) -> Reader:
    """Read whole seconds from a text such as 90m, 1d12h or PT1H; a bare number is in `unit`."""

    def read(value: Raw) -> int:
        number = _seconds(_with_unit(text(value), unit))
        if number != int(number):
            raise Misfit(f"{value!r} is not a whole number of seconds; write one, such as 90s")
        if number < low or (high is not None and number > high):
            raise Misfit(f"{value!r} must lie between {low} s and {high or 'any number of'} s")
        return int(number)

    return read


def _with_unit(value: str, unit: str) -> str:
    try:
        return f"{int(value)}{unit}"
    except ValueError:
        return value


def _seconds(value: str) -> float:
    if len(value) > _LONGEST:
        raise Misfit(f"is longer than {_LONGEST} characters; write it shorter, such as 36h")
    parts = dict.fromkeys(("years", "months", "days", "hours", "minutes", "seconds"), 0.0)
    body = value.upper()
    sign = -1 if body.startswith("-") else 1
    body = body[1:] if body[:1] in {"-", "+"} else body
    if body == "P0":
        return 0
    for amount, unit in _amounts(body.removeprefix("P"), by_time=not body.startswith("P")):
        scale = 7 if unit == "weeks" else 1
        parts["days" if unit == "weeks" else unit] += sign * amount * scale
    return round(_total(parts), 4)


def _amounts(body: str, *, by_time: bool) -> Iterator[tuple[float, str]]:
    """Yield each amount with its unit; `by_time` says that M means minutes from the start."""
    for match in _AMOUNT.finditer(body):
        amount, unit = match["amount"], match["unit"]
        by_time = by_time or "T" in amount
        digits = amount.replace("T", "").replace(",", ".")
        if not digits and not unit:
            return
        if not digits or not unit:
            raise Misfit("needs a unit for each number, and a number for each unit, such as 1h30m")
        if unit in _FRACTIONS:
            yield _number(digits) / _FRACTIONS[unit], "seconds"
            continue
        yield _number(digits), _unit(unit, by_time=by_time)
        by_time = by_time or unit not in "YWD"


def _number(digits: str) -> float:
    try:
        return float(digits)
    except ValueError:
        raise Misfit(f"{digits!r} is not a valid number; write a duration such as 1h30m") from None


def _unit(letter: str, *, by_time: bool) -> str:
    if letter == "M":
        return "minutes" if by_time else "months"
    if letter == "W":
        return "weeks"
    if letter not in _UNITS:
        raise Misfit(f"has the unknown unit {letter!r}; use w, d, h, m or s")
    return _UNITS[letter]


def _total(parts: dict[str, float]) -> float:
    """Add up as gcloud does: a fraction of one unit becomes an amount of the next."""
    years, fraction = _whole(parts["years"])
    days = parts["days"] + _DAYS_IN_YEAR * fraction
    months, fraction = _whole(parts["months"])
    days, fraction = _whole(days + int(_DAYS_IN_YEAR * fraction / 12))
    hours, fraction = _whole(parts["hours"] + 24 * fraction)
    minutes, fraction = _whole(parts["minutes"] + 60 * fraction)
    seconds, fraction = _whole(parts["seconds"] + 60 * fraction)
    clock = hours * 3600 + minutes * 60 + seconds + fraction
    if not (days or months or years):
        return clock
    # From 366 days on gcloud counts in mean years of 365.2422 days, and rounds.
    days, clock = days + int(clock / 86400), clock - int(clock / 86400) * 86400
    if days > _DAYS_IN_YEAR:
        more = int((days - 366) / _DAYS_IN_YEAR)
        days, years = days - 366 - int(more * _DAYS_IN_YEAR), years + 1 + more
    calendar = days * 86400 + (months / 12 + years) * _DAYS_IN_YEAR * 86400
    return round(calendar + clock - fraction) + fraction


def _whole(number: float) -> tuple[int, float]:
    return int(number), round(round(number, 4) - int(number), 4)


def moment(value: Raw) -> str | None:
    """Read a point in time; give it as the API takes it, with milliseconds. Empty text is None.

    Only full dates are taken: what counts from now, or fills in today's date, would mean another
    moment each time the script is re-run. Without a zone the time is in UTC.
    """
    if not text(value):
        return None
    match = _MOMENT.fullmatch(value)
    if not match:
        raise Misfit(f"{value!r} is not a full date and time; write it as 2031-03-01T18:00:00Z")
    try:
        return _rfc3339(match)
    except (ValueError, OverflowError) as error:
        raise Misfit(f"{value!r} is not a valid date and time: {error}") from None


def _rfc3339(match: re.Match[str]) -> str:
    month, day = (match["md"][:2], match["md"][2:]) if match["md"] else (match["month"], match["day"])
    joined = match["hms"] or ""
    clock = [match["hour"] or joined[:2], match["minute"] or joined[2:4], match["second"] or joined[4:]]
    numbers = [int(part or 0) for part in (match["year"], month, day, *clock)]
    moment = datetime(*numbers, tzinfo=_zone(match))  # type: ignore[arg-type, misc]  # six numbers, by the pattern
    milliseconds = int((match["fraction"] or "").ljust(3, "0")[:3])
    offset = moment.strftime("%z")
    zone = "Z" if offset == "+0000" else f"{offset[:3]}:{offset[3:]}"
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds:03d}{zone}"


def _zone(match: re.Match[str]) -> timezone:
    if not match["sign"]:
        return UTC
    minutes = int(match["zh"]) * 60 + int(match["zm"] or 0)
    return timezone(timedelta(minutes=minutes if match["sign"] == "+" else -minutes))
