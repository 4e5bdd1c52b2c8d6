"""The open cases of a rule, read at little cost: a record is read again only when it has changed."""

from collections.abc import Sequence

import msgspec

from spotwarden.layout import CaseRecord, Layout, NotInLayoutError
from spotwarden.model.case import Case, Filed
from spotwarden.ports import Entry, Store
from spotwarden.runner.each import each
from spotwarden.runner.known import Known

_KNOWN: Known[Case] = Known()


def read_cases(store: Store, layout: Layout, rules: Sequence[str], workers: int = 1) -> list[Filed]:
    """Every open case of these rules; one that cannot be read raises, for a veto may stand in it."""
    entries = [
        entry for rule in rules for entry in store.entries(layout.cases(rule)) if _is_ours(layout, entry)
    ]
    read = each(entries, lambda entry: _read(store, entry), workers)
    if read.failures:
        raise ExceptionGroup("cases that cannot be read", read.failures)
    return read.results


def read_case(store: Store, layout: Layout, rule: str, key: str) -> Filed | None:
    """One case as it is now; None where there is none."""
    stored = store.read(layout.build(CaseRecord(rule=rule, key=key)))
    if stored is None:
        return None
    return Filed(case=msgspec.json.decode(stored.data, type=Case), generation=stored.generation)


def _is_ours(layout: Layout, entry: Entry) -> bool:
    try:
        return isinstance(layout.parse(entry.name), CaseRecord)
    except NotInLayoutError:
        return False


def _read(store: Store, entry: Entry) -> Filed | None:
    """The case as it is now: one that has changed since the listing is taken as it was read."""
    known = _KNOWN.get(entry.name, entry.generation)
    if known is not None:
        return Filed(case=known, generation=entry.generation)
    stored = store.read(entry.name)
    if stored is None:
        return None
    case = msgspec.json.decode(stored.data, type=Case)
    return Filed(case=_KNOWN.keep(entry.name, stored.generation, case), generation=stored.generation)
