"""In which direction each value of each rule is lenient, and how far a value goes in it."""

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum

from spotwarden.model.governance import Proof, Remedy


class Lenient(Enum):
    """Which way a value spares VMs.

    A `FIXED` one is no matter of a single job's; an `OWN` one has no direction, and the job's word counts.
    """

    HIGHER = "higher"
    LOWER = "lower"
    FIXED = "fixed"
    OWN = "own"


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
    "orphan": {**_AFTER, "foreign": Lenient.FIXED},
    "leftover": _AFTER,
    "stall": {**_AFTER, "proof": Lenient.HIGHER, "cpu_at_rest": Lenient.LOWER},
    "early_stop": {
        **_EVERY,
        **dict.fromkeys(
            ("unreal", "over", "under", "metric", "goal", "patience", "min_delta", "warmup"), Lenient.OWN
        ),
    },
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

_RANKS: tuple[Enum, ...] = (
    *(Remedy.DELETE, Remedy.STOP, Remedy.NONE),
    *(Proof.ANY, Proof.OUTPUT, Proof.HEARTBEAT),
)
"""Words that have a direction, the strictest of each kind first."""


def leniency(side: Lenient, value: object) -> float:
    """How far a value spares VMs, to be compared with others of the same name; None bounds nothing."""
    if value is None:
        rank = float("inf")
    elif isinstance(value, Enum):
        rank = float(_RANKS.index(value))
    elif isinstance(value, timedelta):
        rank = value.total_seconds()
    else:
        rank = float(value)  # type: ignore[arg-type]  # only these have a direction
    return -rank if side is Lenient.LOWER else rank
