"""When the other functions have last swept, as their turns in the bucket say."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.turn import read_turn
from spotwarden.layout import Layout, NotInLayoutError, SweepTurn
from spotwarden.ports import Store


class SeenTurns(NamedTuple):
    """When the turns were last listed, and when each function had swept by then: that stays so."""

    listed: datetime
    swept: Mapping[str, datetime]


_SEEN: GenerationCache[SeenTurns] = GenerationCache()
"""By the prefix of all turns and the function that has listed them."""


def last_sweeps(
    store: Store, layout: Layout, *, besides: str, now: datetime, within: timedelta
) -> Mapping[str, datetime]:
    """When each other function has begun its last whole sweep. A turn that cannot be read says nothing.

    Of one that is known to have swept `within` this time that is said, and while all are nothing is asked;
    after that time the turns are listed again, for there may be new ones.
    """
    name = f"{layout.turns()}{besides}"
    seen = _SEEN.get(name, 0)
    lately = now - within
    if seen is None or any(at < lately for at in (seen.listed, *seen.swept.values())):
        before = seen.swept if seen is not None else {}
        fresh = {function: at for function, at in before.items() if at >= lately}
        swept = _listed(store, layout, besides, fresh)
        seen = _SEEN.keep(name, 0, SeenTurns(now, swept))
    return seen.swept


def _listed(
    store: Store, layout: Layout, besides: str, fresh: Mapping[str, datetime]
) -> Mapping[str, datetime]:
    found = {}
    for entry in store.entries(layout.turns()):
        try:
            object_name = layout.parse(entry.name)
        except NotInLayoutError:
            continue
        if isinstance(object_name, SweepTurn) and (function := object_name.function) != besides:
            at = fresh.get(function) or read_turn(store, entry.name, entry)[0].swept
            if at is not None:
                found[function] = at
    return found
