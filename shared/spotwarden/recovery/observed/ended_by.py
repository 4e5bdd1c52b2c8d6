"""Who ended a job, in words: of each of its VMs, what was done to it and by whom."""

from collections.abc import Mapping

from spotwarden.model.attempt import Removal
from spotwarden.recovery.observed.actors import Actor, actor

DONE = {"stop": "stopped", "delete": "deleted", "suspend": "suspended"}
"""What was done by an operation of this kind."""
_FROM_WITHIN = "compute.instances.guestTerminate"
NAMED = 3
"""How many VMs are named one by one."""


def who_ended(removed: Mapping[str, Removal]) -> str:
    """Each node with what removed it, such as `vm was deleted by ada@example.com`; "" where nothing did."""
    nodes: dict[str, list[str]] = {}
    for node, removal in removed.items():
        nodes.setdefault(_said(removal), []).append(node)
    return "; ".join(
        f"{_named(mine)} {'was' if len(mine) == 1 else 'were'} {how}" for how, mine in nodes.items()
    )


def _said(removal: Removal) -> str:
    """What was done, and by whom."""
    if removal.kind == _FROM_WITHIN:
        return "shut down from inside"
    did = DONE.get(removal.kind, removal.kind)
    if not removal.user:
        return did
    who = actor(removal.user)
    if who is Actor.GOOGLE:
        return f"{did} by Compute Engine, as at the end of its time limit (maxRunDuration)"
    return f"{did} by {f'Spotwarden ({removal.user})' if who is Actor.OURS else removal.user}"


def _named(nodes: list[str]) -> str:
    return ", ".join(nodes) if len(nodes) <= NAMED else f"{len(nodes)} VMs"
