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

_KNOWN: GenerationCache[Case] = GenerationCache()


class OpenCases(NamedTuple):
    """The cases that could be read; of the others, by rule and key, why not: a veto may stand in them."""

    filed: Sequence[Filed]
    broken: Mapping[tuple[str, str], Exception]


def read_cases(store: Store, layout: Layout, rules: Sequence[str], workers: int = 1) -> OpenCases:
    """Every open case of these rules."""
    found = {
        thing: entry
        for rule in rules
        for entry in store.entries(layout.cases(rule))
        if (thing := _record(layout, entry))
    }
    broken: dict[tuple[str, str], Exception] = {}

    def read(thing: CaseRecord) -> Filed | None:
        try:
            return _read(store, thing, found[thing])
        except (UnansweredError, ValueError) as problem:
            broken[thing.rule, thing.key] = problem
            return None

    done = each(found, read, workers)
    if done.failures:
        raise ExceptionGroup("cases could not be read", done.failures)
    return OpenCases(done.results, broken)


def _record(layout: Layout, entry: Entry) -> CaseRecord | None:
    try:
        thing = layout.parse(entry.name)
    except NotInLayoutError:
        return None
    return thing if isinstance(thing, CaseRecord) else None


def _read(store: Store, thing: CaseRecord, entry: Entry) -> Filed | None:
    """The case as it is now: one that has changed since the listing is taken as it was read."""
    known = _KNOWN.get(entry.name, entry.generation)
    if known is not None:
        return Filed(case=known, generation=entry.generation)
    stored = store.read(entry.name)
    if stored is None:
        return None
    case = decoded(entry.name, stored.data, Case)
    if (case.rule, case.key) != (thing.rule, thing.key):
        raise BrokenError(f"{entry.name}: it says that it is the case {case.rule} {case.key}")
    return Filed(case=_KNOWN.keep(entry.name, stored.generation, case), generation=stored.generation)
