"""The record of places for one machine type, as it stands in the bucket."""

from datetime import datetime

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.layout import Layout, PlacementMemory
from spotwarden.model.placement import PlacementRecord
from spotwarden.ports import BrokenError, Store

typed.prepare(PlacementRecord)


def read_record(
    store: Store, layout: Layout, key: str
) -> tuple[PlacementRecord, int | None, datetime | None]:
    """The record, its generation and when it was written; one that cannot be read is written anew."""
    name = layout.build(PlacementMemory(machine=key))
    try:
        stored = store.read(name)
        if stored is None:
            return PlacementRecord(machine=key), 0, None
        return decoded(name, stored.data, PlacementRecord), stored.generation, stored.updated
    except BrokenError:
        return PlacementRecord(machine=key), None, None
