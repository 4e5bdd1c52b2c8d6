"""What a single value of a policy may be, and in which direction it is lenient."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from difflib import get_close_matches
from enum import Enum
from typing import Any, get_args, get_type_hints

import msgspec

from spotwarden.model.governance import Limits, Remedy

DURATION = "a time such as 90s, 5m, 1h30m or 2d"


class Lenient(Enum):
    """Which way a value spares VMs. A `FIXED` one is no matter of a single job's."""

    HIGHER = "higher"
    LOWER = "lower"
    FIXED = "fixed"


_EVERY = {"mode": Lenient.FIXED, "looks": Lenient.FIXED, "remedy": Lenient.HIGHER, "grace": Lenient.HIGHER}
_AFTER = {**_EVERY, "after": Lenient.HIGHER}
_USE = dict.fromkeys(
    (
        "gpu_hours_day",
        "gpu_hours_week",
        "gpu_hours_month",
        "money_day",
        "money_week",
        "money_month",
        "concurrent_gpus",
    ),
    Lenient.HIGHER,
)
LENIENT: Mapping[str, Mapping[str, Lenient]] = {
    "orphan": _AFTER,
    "leftover": _AFTER,
    "stall": {**_AFTER, "cpu_at_rest": Lenient.LOWER},
    "idle": {
        **_EVERY,
        "threshold": Lenient.LOWER,
        "act": Lenient.HIGHER,
        "warn": Lenient.FIXED,
        "lag": Lenient.FIXED,
        "coverage": Lenient.FIXED,
    },
    "job_cap": {
        **_EVERY,
        "max_runtime": Lenient.HIGHER,
        "budget": Lenient.HIGHER,
        "longest": Lenient.FIXED,
        "dearest": Lenient.FIXED,
        "warn": Lenient.FIXED,
    },
    "instance_cap": {**_EVERY, "max_uptime": Lenient.HIGHER, "warn": Lenient.FIXED},
    "owner_cap": {**_EVERY, **_USE, "warn": Lenient.FIXED},
    "compliance": {
        **_EVERY,
        "labels": Lenient.FIXED,
        "machine_types": Lenient.FIXED,
        "regions": Lenient.FIXED,
        "provisioning": Lenient.FIXED,
        "most_vms_per_job": Lenient.HIGHER,
        "most_gpus_per_job": Lenient.HIGHER,
    },
}
"""For every value of every rule, by its name."""

SHARES = ("coverage", "blast_share", "warn")
PERCENTS = ("threshold", "cpu_at_rest")
COUNTS = ("looks", "failures", "short_lives")
"""Numbers below 1 of these make no sense; every other number only must not be negative."""
POSITIVE = ("step", "outage", "half_life")
_REMEDIES = (Remedy.DELETE, Remedy.STOP, Remedy.NONE)


def leniency(side: Lenient, value: object) -> float:
    """How far a value spares VMs, to be compared with others of the same name; None bounds nothing."""
    if value is None:
        rank = float("inf")
    elif isinstance(value, Remedy):
        rank = float(_REMEDIES.index(value))
    elif isinstance(value, timedelta):
        rank = value.total_seconds()
    else:
        rank = float(value)  # type: ignore[arg-type]  # only these have a direction
    return -rank if side is Lenient.LOWER else rank


def kinds_of(limits: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The type of every value of these limits, by name."""
    if limits not in _KINDS:
        hints = get_type_hints(limits)
        _KINDS[limits] = {name: hints[name] for name in limits.__struct_fields__}
    return _KINDS[limits]


_KINDS: dict[type[msgspec.Struct], Mapping[str, Any]] = {}


def read_value(name: str, kind: Any, said: object) -> Any:  # noqa: ANN401 — as many types as there are values
    """The value that a document says; `ValueError` says what is wrong with it and what is allowed."""
    _no_bare_time(kind, said)
    try:
        value = msgspec.convert(said, kind)
    except msgspec.ValidationError as error:
        raise ValueError(_expected(kind, said)) from error
    for one in value if isinstance(value, tuple) else (value,):
        _in_bounds(name, one)
    return value


def read_limit(limits: type[Limits], name: str, said: object) -> Any:  # noqa: ANN401 — as above
    """The same for a rule's value by its name, which may be unknown."""
    kinds = kinds_of(limits)
    if name not in kinds:
        raise ValueError(f"there is no such value; {meant(name, kinds)}")
    return read_value(name, kinds[name], said)


def meant(name: str, known: Iterable[str]) -> str:
    """What may have been meant by an unknown name."""
    known = sorted(known)
    near = get_close_matches(name, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)}"


def _no_bare_time(kind: Any, said: object) -> None:  # noqa: ANN401 — as above
    """A bare number is no time: nobody can see whether it means seconds, hours or days."""
    if timedelta not in (kind, *get_args(kind)):
        return
    for one in said if isinstance(said, list | tuple) else [said]:
        if isinstance(one, int | float):
            raise ValueError(  # noqa: TRY004 — what is wrong with a value is a ValueError here
                f"it is the bare number {one}; write {DURATION}, with the unit"
            )


def _in_bounds(name: str, value: object) -> None:
    """Refuse what cannot be meant."""
    if isinstance(value, timedelta):
        if value < timedelta(0) or (name in POSITIVE and not value):
            raise ValueError(f"it is not {'more than nothing' if name in POSITIVE else 'zero or more'}")
        return
    if not isinstance(value, int | float) or isinstance(value, bool):
        return
    least = 1 if name in COUNTS else 0
    most = 1 if name in SHARES else 100 if name in PERCENTS else None
    if not value >= least or (most is not None and value > most):
        allowed = f"from {least} to {most}" if most is not None else f"{least} or more"
        raise ValueError(f"it is {value}; it must be {allowed}")


def _expected(kind: Any, said: object) -> str:  # noqa: ANN401 — as above
    """What is allowed, in words."""
    inner = next(one for one in (get_args(kind) or (kind,)) if one not in (type(None), ...))
    words = {timedelta: DURATION, str: "a text in quotes", int: "a whole number", float: "a number"}
    words |= {bool: "true or false", date: "a day such as 2026-12-31"}
    if isinstance(inner, type) and issubclass(inner, Enum):
        allowed = " or ".join(f'"{one.value}"' for one in inner)
    else:
        allowed = words.get(inner, str(inner))
    listed = "a list, each of them " if str(kind).startswith("tuple") else ""
    return f"it is {said!r}; it must be {listed}{allowed}"
