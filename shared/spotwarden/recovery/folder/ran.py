"""What was launched as an attempt, as it was written down when it was first seen."""

from collections.abc import Mapping
from typing import Any

import msgspec

from spotwarden.engine.cache import GenerationCache
from spotwarden.layout import LaunchedRecord, Layout
from spotwarden.model.facts import JobFacts
from spotwarden.ports import Store

_CACHE: GenerationCache[Mapping[str, Any]] = GenerationCache(most=128)
"""Few: one holds the metadata values of its VMs, up to half a megabyte each."""


def read_what_ran(store: Store, layout: Layout, facts: JobFacts) -> Mapping[str, Any]:
    """The resources of the newest attempt whose launch is on record, by node; empty where none is."""
    for recorded in reversed(facts.ledger):
        name = layout.build(LaunchedRecord(job=facts.job, attempt=recorded.attempt.number))
        stored = store.read(name)
        if stored is not None:
            ran = _CACHE.get(name, stored.generation)
            return (
                _CACHE.keep(name, stored.generation, msgspec.json.decode(stored.data)) if ran is None else ran
            )
    return {}
