"""When the other functions have last swept, as their turns in the bucket say."""

from collections.abc import Mapping
from datetime import datetime

from spotwarden.engine.turn import read_turn
from spotwarden.layout import Layout, NotInLayoutError, SweepTurn
from spotwarden.ports import Store


def last_sweeps(store: Store, layout: Layout, *, besides: str) -> Mapping[str, datetime]:
    """When each other function has begun its last whole sweep. A turn that cannot be read says nothing."""
    found = {}
    for entry in store.entries(layout.turns()):
        try:
            thing = layout.parse(entry.name)
        except NotInLayoutError:
            continue
        if isinstance(thing, SweepTurn) and thing.function != besides:
            turn, _generation = read_turn(store, entry.name)
            if turn.swept:
                found[thing.function] = turn.swept
    return found
