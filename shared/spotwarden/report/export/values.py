"""Values as the JSON says them: units in numbers, null for whatever is unknown, text that UTF-8 can write."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

_HOUR = timedelta(hours=1)
_DIGITS = 6
"""Of hours: a hundredth of a second; of dollars: a millionth. Sums of rounded hours differ by no more."""


def said(text: str) -> str | None:
    """The text; null for none."""
    return sound(text) if text else None


def sound(text: str) -> str:
    """The same, where a half of a character stood a question mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def texts(some: Iterable[str]) -> tuple[str, ...]:
    """All of them."""
    return tuple(map(sound, some))


def pairs(some: Mapping[str, str]) -> Mapping[str, str]:
    """All of them."""
    return {sound(key): sound(value) for key, value in some.items()}


def seconds(time: timedelta | None) -> float | None:
    """In seconds."""
    return None if time is None else time.total_seconds()


def hours(time: timedelta | None) -> float | None:
    """In hours."""
    return None if time is None else round(time / _HOUR, _DIGITS)


def share(value: float | None) -> float | None:
    """A share, 0 to 1."""
    return None if value is None else round(value, _DIGITS)
