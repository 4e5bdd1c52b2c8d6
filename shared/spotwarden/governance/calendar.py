"""When a remedy may be applied: on which days, at which hours, in which time zone."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from spotwarden.model.governance import Calendar
from spotwarden.model.opening import DAYS, hours_of, zone_of

HORIZON = 400
"""Days within which the next opening is looked for: more than a year of holidays is a policy of never."""
_DAY, _MINUTE = timedelta(days=1), timedelta(minutes=1)


def open_at(calendar: Calendar, moment: datetime) -> str:
    """Why nothing may be done now, and when it may next; "" where it may."""
    if _open(calendar, moment):
        return ""
    then = next_opening(calendar, moment)
    zone = zone_of(calendar.timezone)
    local = moment.astimezone(zone)
    why = f"{local.date()} is a holiday" if local.date() in calendar.holidays else f"it is {local:%a %H:%M}"
    when = (
        f"the next time is {then.astimezone(zone):%a %Y-%m-%d %H:%M %Z}"
        if then
        else "which is never within a year"
    )
    return f"{why}; remedies are applied {_words(calendar)}; {when}"


def next_opening(calendar: Calendar, moment: datetime) -> datetime | None:
    """The first moment from this one on at which something may be done, UTC; None for none within a year."""
    if _open(calendar, moment):
        return moment
    zone = zone_of(calendar.timezone)
    for days in range(-1, HORIZON):
        day = (moment.astimezone(zone) + days * _DAY).date()
        opened = datetime.combine(day, hours_of(calendar.hours).opens, tzinfo=zone)
        found = [instant for instant in _instants(opened) if instant > moment and _open(calendar, instant)]
        if found:
            return min(found)
    return None


def _open(calendar: Calendar, moment: datetime) -> bool:
    """Hours over midnight belong to the day on which they begin; a holiday is closed in any case."""
    local = moment.astimezone(zone_of(calendar.timezone))
    hours, today = hours_of(calendar.hours), local.date()
    clock = local.hour * 60 + local.minute
    if hours.overnight and clock < hours.end:
        began = today - _DAY
    elif clock >= hours.start and (hours.overnight or clock < hours.end):
        began = today
    else:
        return False
    return DAYS[began.weekday()] in calendar.days and not {began, today} & set(calendar.holidays)


def _instants(local: datetime) -> Iterator[datetime]:
    """When clocks there show this time: once, twice in autumn; in spring, from when they are past it."""
    early, late = sorted(local.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    yield early
    yield late
    if late.astimezone(local.tzinfo).replace(tzinfo=None) != local.replace(tzinfo=None):
        # The clocks leave this time out: they are past it as soon as they are put forward.
        before = early.astimezone(local.tzinfo).utcoffset()
        while early.astimezone(local.tzinfo).utcoffset() == before:
            early += _MINUTE
        yield early


def _words(calendar: Calendar) -> str:
    days = "every day" if set(calendar.days) == set(DAYS) else "on " + ", ".join(calendar.days)
    hours = "" if calendar.hours == "00-24" else f" at {calendar.hours}"
    return f"{days}{hours} ({calendar.timezone})"
