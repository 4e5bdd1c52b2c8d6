"""The chain of a job's records, as one listing shows it."""

from contextlib import suppress

from spotwarden.layout import AttemptRecord, Layout, NotInLayoutError
from spotwarden.ports import Store


def heads(store: Store, layout: Layout, job: str) -> dict[int, int]:
    """The generation of each record of a job's chain, by its number."""
    found: dict[int, int] = {}
    for entry in store.entries(layout.attempts(job)):
        with suppress(NotInLayoutError):
            object_name = layout.parse(entry.name)
            if isinstance(object_name, AttemptRecord):
                found[object_name.attempt] = entry.generation
    return found


def newest_number(store: Store, layout: Layout, job: str) -> int:
    """The number of the newest record; 0 where there is none."""
    return max(heads(store, layout, job), default=0)
