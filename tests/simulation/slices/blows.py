"""What befalls a slice in a history, and how often."""

from random import Random
from typing import Any

Blow = tuple[Any, ...]
"""The name of a blow, and what it is told."""

_BLOWS = {
    "preempt": 8,
    "host": 2,
    "delete_vm": 2,
    "delete_group": 2,
    "delete_policy": 2,
    "delete_template": 2,
    "forget": 2,
    "lag": 2,
    "stock_out": 3,
    "restock": 2,
    "pass": 4,
}
RULED = 0.15
"""How often a rule of ours deletes the slice at a limit."""
_ENDS = ("kill", "kill", "offline", "sweep", "sweep", "blow", "blow")
"""What befalls a sweep at one of its calls."""


def _blow(chance: Random) -> Blow:
    name = chance.choices([*_BLOWS], [*_BLOWS.values()])[0]
    match name:
        case "preempt" | "host" | "delete_vm":
            return (name, chance.randrange(2))
        case "stock_out":
            return (name, chance.choice((0, 0, 1)))
        case "lag":
            return (name, chance.choice((0, 60, 300, 600)))
        case "pass":
            return (name, chance.choice((1, 5, 20, 60, 200)))
    return (name,)


def _sweep(chance: Random) -> Blow:
    """A sweep that is left alone, or that something befalls at one of its calls."""
    if chance.random() < 0.4:
        return ("sweep", 0, False, "", ())
    what = chance.choice(_ENDS)
    struck = _blow(chance) if what == "blow" else ()
    return ("sweep", chance.randint(1, 45), chance.random() < 0.5, what, struck)


def draw(seed: str) -> tuple[str, list[Blow]]:
    """What VMs the slice has, and its history; the same for the same seed."""
    chance = Random(seed)
    model = chance.choice(("SPOT", "SPOT", "SPOT", "SPOT", "STOP", "STANDARD", "FLEX_START"))
    drawn: list[Blow] = []
    if chance.random() < 0.3:
        drawn.append(("stock_out", chance.choice((0, 1))))
    drawn += [_sweep(chance), ("pass", chance.choice((1, 5, 20, 60)))]
    if chance.random() < 0.6:
        drawn += [("settle",)]
    for _ in range(chance.randint(1, 5)):
        drawn.append(_blow(chance))
        drawn.append(("pass", chance.choice((0, 1, 5, 20, 40, 60))))
        for _ in range(chance.choice((1, 1, 2, 3))):
            drawn += [_sweep(chance), ("pass", chance.choice((0, 5, 20, 60, 200)))]
    # Drawn from a seed of its own: the other histories are what they were before there was any of it.
    if (apart := Random(f"{seed}/rule")).random() < RULED:
        drawn.insert(apart.randrange(2, len(drawn) + 1), ("rule",))
    return model, drawn
