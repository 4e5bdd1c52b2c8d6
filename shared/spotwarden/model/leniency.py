"""How far a value of a rule goes in the direction that spares VMs."""

from datetime import timedelta
from enum import Enum

from spotwarden.model.governance import Lenient, Remedy
from spotwarden.model.rule_limits import Proof

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
