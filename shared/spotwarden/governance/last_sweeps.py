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
            object_name = layout.parse(entry.name)
        except NotInLayoutError:
            continue
        if isinstance(object_name, SweepTurn) and object_name.function != besides:
            turn, _generation = read_turn(store, entry.name)
            if turn.swept:
                found[object_name.function] = turn.swept
    return found
