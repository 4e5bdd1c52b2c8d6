"""Schedules in unix-cron form and their time zones ("Cron job format and time zone" of Cloud Scheduler)."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from croniter import CroniterError, croniter

from localcloud.rpc import RpcError

# croniter reads more than unix-cron: seconds, years, hashes, random values. The real service refuses those.
_FIELD = r"(?:[\d*]|[A-Za-z]{3})[\dA-Za-z*/,-]*"
_CRON = re.compile(rf"{_FIELD}(?:\s+{_FIELD}){{4}}", re.ASCII)

# A schedule is tried from here: one that never comes, such as 30 February, is refused.
_SOME_DAY = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Five cron fields and a time zone."""

    fields: str
    zone: ZoneInfo

    def after(self, moment: datetime) -> datetime:
        """The first moment later than this one that the schedule names, in UTC."""
        local = moment.astimezone(self.zone)
        found: datetime = croniter(self.fields, local).get_next(datetime)
        # Where clocks are put back croniter can name a moment that has passed.
        while found.astimezone(UTC) <= moment:
            found = croniter(self.fields, found).get_next(datetime)
        return found.astimezone(UTC)


def read_schedule(text: str, zone: str) -> Schedule:
    """Read a schedule.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    fields = " ".join(text.split())
    if not _CRON.fullmatch(fields):
        why = "five fields are needed: minute, hour, day of month, month, day of week"
        raise _invalid(text, zone, why)
    try:
        found = Schedule(fields=fields, zone=ZoneInfo("UTC" if zone.lower() in ("", "utc") else zone))
        found.after(_SOME_DAY)
    except (ZoneInfoNotFoundError, CroniterError, ValueError, OSError) as error:
        raise _invalid(text, zone, str(error)) from error
    return found


def _invalid(text: str, zone: str, why: str) -> RpcError:
    return RpcError("INVALID_ARGUMENT", f"Schedule or time zone is invalid. ({text!r} in {zone!r}: {why})")
