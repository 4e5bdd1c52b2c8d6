"""The open cases of a rule, read at little cost: a record is read again only when it has changed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.decoding import decoded
from spotwarden.engine.fan_out import each
from spotwarden.layout import CaseRecord, Layout, NotInLayoutError
from spotwarden.model.case import Case, Filed
from spotwarden.ports import BrokenError, Entry, Store, UnansweredError

typed.prepare(Case)

_CACHE: GenerationCache[Case] = GenerationCache()


class OpenCases(NamedTuple):
    """The cases that could be read; of the others, by rule and key, why not: a veto may stand in them."""

    filed: Sequence[Filed]
    broken: Mapping[tuple[str, str], Exception]


def read_cases(store: Store, layout: Layout, rules: Sequence[str], workers: int = 1) -> OpenCases:
    """Every open case of these rules."""
    found = {
        object_name: entry
        for entry in store.entries(layout.cases(), glob=layout.cases_of(rules))
        if (object_name := _record(layout, entry))
    }
    broken: dict[tuple[str, str], Exception] = {}

    def read(object_name: CaseRecord) -> Filed | None:
        try:
            return _read(store, object_name, found[object_name])
        except (UnansweredError, ValueError) as problem:
            broken[object_name.rule, object_name.key] = problem
            return None

    shown = each([name for name, entry in found.items() if entry.content is not None], read)
    done = each([name for name, entry in found.items() if entry.content is None], read, workers)
    if failures := [*shown.failures, *done.failures]:
        raise ExceptionGroup("cases could not be read", failures)
    return OpenCases([*shown.results, *done.results], broken)


def _record(layout: Layout, entry: Entry) -> CaseRecord | None:
    try:
        object_name = layout.parse(entry.name)
    except NotInLayoutError:
        return None
    return object_name if isinstance(object_name, CaseRecord) else None


def _read(store: Store, object_name: CaseRecord, entry: Entry) -> Filed | None:
    """The case as it is now: one that has changed since the listing is taken as it was read."""
    known = _CACHE.get(entry.name, entry.generation)
    if known is not None:
        return Filed(case=known, generation=entry.generation)
    data, generation = entry.content, entry.generation
    if data is None:
        stored = store.read(entry.name, listed=entry)
        if stored is None:
            return None
        data, generation = stored.data, stored.generation
    case = decoded(entry.name, data, Case)
    if (case.rule, case.key) != (object_name.rule, object_name.key):
        raise BrokenError(f"{entry.name}: its content is of the case {case.rule} {case.key}")
    return Filed(case=_CACHE.keep(entry.name, generation, case), generation=generation)
