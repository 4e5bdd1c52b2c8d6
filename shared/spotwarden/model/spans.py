"""Moments and spans of time as people say them."""

from datetime import datetime, timedelta


def span(time: timedelta) -> str:
    """To the minute: `45 min`, `1 h 5 min`, `2 h`; in days and hours from two days on: `3 d 4 h`."""
    minutes = int(time / timedelta(minutes=1))
    if minutes < 48 * 60:
        parts = {"h": minutes // 60, "min": minutes % 60}
    else:
        parts = {"d": minutes // 1440, "h": minutes % 1440 // 60}
    return " ".join(f"{count} {unit}" for unit, count in parts.items() if count) or "0 min"


def moment(at: datetime | None) -> str:
    """To the minute, in UTC; "" for none."""
    return f"{at:%Y-%m-%d %H:%M} UTC" if at is not None else ""
