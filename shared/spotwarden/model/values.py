"""What a single value of a policy may be."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, time, timedelta
from difflib import get_close_matches
from enum import Enum
from math import isfinite
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from spotwarden import typed
from spotwarden.model.governance import Limits, Remedy

DURATION = "a time such as 90s, 5m, 1h30m or 2d"


SHARES = ("coverage", "blast_share", "warn")
PERCENTS = ("threshold", "cpu_at_rest")
COUNTS = ("looks", "failures", "short_lives", "treadmill_lives", "blast_count")
"""Numbers below 1 of these make no sense; every other number only must not be negative."""
POSITIVE = ("after", "act", "outage", "half_life", "threshold", "longest_keep", "approval_lasts", "patience")
"""Nor can these be zero: who takes a limit of nothing for none at all would find every VM beyond it."""
LONGEST = timedelta(days=36_500)
"""A hundred years: who means *never* may say so, and a moment so far from now is still one."""
MOST = 1e15
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_UNITS = (86_400, 3_600, 60, 1)


def kinds_of(limits: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The type of every value of these limits, by name."""
    if limits not in _KINDS:
        hints = get_type_hints(limits)
        _KINDS[limits] = {name: hints[name] for name in limits.__struct_fields__}
    return _KINDS[limits]


_KINDS: dict[type[msgspec.Struct], Mapping[str, Any]] = {}


def read_value(name: str, kind: Any, said: object) -> Any:  # noqa: ANN401 — as many types as there are values
    """The value that a document says; `ValueError` says what is wrong with it and what is allowed."""
    read = said
    if timedelta in (kind, *get_args(kind)):
        read = [_time(part) for part in said] if isinstance(said, list | tuple) else _time(said)
    try:
        value = typed.convert(read, kind)
    except msgspec.ValidationError as error:
        raise ValueError(_expected(kind, said)) from error
    if isinstance(value, Mapping):
        _all_finite(value)
        return value
    for item in value if isinstance(value, tuple) else (value,):
        _in_bounds(name, item)
    return value


def read_limit(limits: type[Limits], name: str, said: object) -> Any:  # noqa: ANN401 — as above
    """The same for a rule's value by its name, which may be unknown."""
    kinds = kinds_of(limits)
    if name not in kinds:
        raise ValueError(f"unknown value; {meant(name, kinds)}")
    value = read_value(name, kinds[name], said)
    if isinstance(value, Remedy) and (wrong := no_remedy(limits, value)):
        raise ValueError(wrong)
    return value


def no_remedy(limits: type[Limits], remedy: Remedy) -> str:
    """Why a rule cannot do this in the end; "" where it can."""
    if remedy in limits.REMEDIES:
        return ""
    listed = " or ".join(f'"{allowed.value}"' for allowed in limits.REMEDIES)
    return f"it is {remedy.value!r}; for this rule it must be {listed}"


def written(value: object) -> str:
    """A value as a policy writes it."""
    if isinstance(value, timedelta):
        return _written_time(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return ", ".join(written(part) for part in value) or "any"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {written(item)}" for name, item in value.items()) or "none"
    if isinstance(value, float):
        return f"{value:g}"
    return _WORDS.get(value, str(value)) if value is None or isinstance(value, bool) else str(value)


_WORDS: Mapping[object, str] = {None: "no bound", True: "true", False: "false"}


def _written_time(span: timedelta) -> str:
    """All its units, the largest first: `1d2h`, `1h30m`, `0s`."""
    left, parts = int(span.total_seconds()), []
    for unit, suffix in zip(_UNITS, "dhms", strict=True):
        count, left = divmod(left, unit)
        parts += [f"{count}{suffix}"] if count else []
    return "".join(parts) or "0s"


def meant(name: str, known: Iterable[str]) -> str:
    """What may have been meant by an unknown name."""
    known = sorted(known)
    near = get_close_matches(name, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)}"


def iso_duration(said: str) -> str:
    """`90s`, `5m`, `1h30m` or `2d` as ISO 8601 writes it, which msgspec reads; any other text as it is."""
    match = _DURATION.fullmatch(said) if said else None
    if not match:
        return said
    return f"PT{sum(int(count or 0) * unit for count, unit in zip(match.groups(), _UNITS, strict=True))}S"


def _time(said: object) -> object:
    """Nobody can see whether a bare number means seconds, hours or days."""
    if isinstance(said, int | float):
        raise ValueError(f"it is the bare number {said}; write {DURATION}, with its unit")  # noqa: TRY004 - as all
    return iso_duration(said) if isinstance(said, str) else said


def _all_finite(bounds: Mapping[str, object]) -> None:
    for metric, bound in bounds.items():
        if isinstance(bound, float) and not isfinite(bound):
            raise ValueError(f"{metric} is {bound:g}; no value can be compared with that")


def _in_bounds(name: str, value: object) -> None:
    """Refuse what cannot be meant."""
    if isinstance(value, timedelta):
        if value < timedelta(0):
            raise ValueError(f"it is {value.total_seconds():g} s; it must be 0 or more")
        if value > LONGEST:
            raise ValueError(f"it is {written(value)}; it must be {written(LONGEST)} or less")
    elif isinstance(value, int | float):
        least = 1 if name in COUNTS else 0
        most = 1 if name in SHARES else 100 if name in PERCENTS else MOST
        if not value >= least:
            raise ValueError(f"it is {value:g}; it must be {least} or more")
        if value > most:
            raise ValueError(f"it is {value:g}; it must be {most:g} or less")
    if name in POSITIVE and not value:
        raise ValueError("it is 0; it must be more than 0")


def _expected(kind: Any, said: object) -> str:  # noqa: ANN401 — as above
    """What is allowed, in words."""
    if get_origin(kind) is Mapping:
        texts = get_args(kind)[1] is str
        like = (
            'texts such as { "ada@example.com" = "Asia/Tokyo" }'
            if texts
            else "numbers such as { loss = 10.0 }"
        )
        return f"it is {_shown(said)}; it must be a table of {like}"
    inner = next(get_arg for get_arg in (get_args(kind) or (kind,)) if get_arg not in (type(None), ...))
    words = {timedelta: DURATION, str: "a text in quotes", int: "a whole number", float: "a number"}
    words |= {bool: "true or false", date: "a day such as 2026-12-31"}
    if isinstance(inner, type) and issubclass(inner, Enum):
        allowed = " or ".join(f'"{item.value}"' for item in inner)
    else:
        allowed = words.get(inner, str(inner))
    listed = "a list, each of them " if str(kind).startswith("tuple") else ""
    return f"it is {_shown(said)}; it must be {listed}{allowed}"


def _shown(said: object) -> str:
    """A value much as TOML has it: a day or a time in its own digits."""
    if isinstance(said, list):
        return f"[{', '.join(map(_shown, said))}]"
    return str(said) if isinstance(said, date | time) else repr(said)
