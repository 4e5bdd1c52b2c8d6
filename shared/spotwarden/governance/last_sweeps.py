"""When the other functions have last swept, as their turns in the bucket say."""

from collections.abc import Mapping
from datetime import datetime

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.turn import read_turn
from spotwarden.layout import Layout, NotInLayoutError, SweepTurn
from spotwarden.ports import Store

_SWEPT: GenerationCache[datetime] = GenerationCache()
"""When a function was last seen to have swept, by the name of its turn: that stays so."""


def last_sweeps(
    store: Store, layout: Layout, *, besides: str, enough: datetime | None = None
) -> Mapping[str, datetime]:
    """When each other function has begun its last whole sweep. A turn that cannot be read says nothing.

    Of one that is known to have swept since `enough` that is said, and its turn is not read.
    """
    found = {}
    for entry in store.entries(layout.turns()):
        try:
            object_name = layout.parse(entry.name)
        except NotInLayoutError:
            continue
        if isinstance(object_name, SweepTurn) and object_name.function != besides:
            known = _SWEPT.get(entry.name, 0)
            if known is None or enough is None or known < enough:
                known = read_turn(store, entry.name, entry)[0].swept
            if known is not None:
                found[object_name.function] = _SWEPT.keep(entry.name, 0, known)
    return found
