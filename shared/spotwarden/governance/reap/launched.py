"""Which disks and addresses a job's VMs had, by the records of what was launched."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.decoding import decoded
from spotwarden.layout import Layout
from spotwarden.ports import Store

typed.prepare(dict[str, dict[str, Any]])

LAUNCHED_AT_MOST = 8 * 1024 * 1024
"""Bytes of one record: it holds the metadata values of its VMs."""
_KNOWN: GenerationCache[frozenset[str]] = GenerationCache()


def had(store: Store, layout: Layout, job: str) -> frozenset[str]:
    """The ids of the disks and the addresses that its VMs had; a record is read once.

    Raises:
        BrokenError: a record is broken.
    """
    found: set[str] = set()
    for entry in store.entries(layout.launched(job)):
        known = _KNOWN.get(entry.name, entry.generation)
        if known is None:
            stored = store.read(entry.name, at_most=LAUNCHED_AT_MOST)
            if stored is None:
                continue
            ran = decoded(entry.name, stored.data, dict[str, dict[str, Any]])
            known = _KNOWN.keep(entry.name, stored.generation, frozenset(_of(ran)) - {""})
        found |= known
    return frozenset(found)


def _of(ran: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Of each node's resources, as Compute Engine showed them when they ran."""
    for node in ran.values():
        for disk in (node.get("disks") or {}).values():
            yield str((disk or {}).get("id", ""))
        for card in (node.get("instance") or {}).get("networkInterfaces", ()):
            yield str(card.get("networkIP", ""))
            for access in card.get("accessConfigs", ()):
                yield str(access.get("natIP", ""))
