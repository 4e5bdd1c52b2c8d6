"""Whether a warning has arrived: only then does its grace begin."""

from datetime import datetime
from itertools import filterfalse

from msgspec.structs import replace

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.engine.fan_out import each
from spotwarden.governance.cases.store import OpenCases
from spotwarden.layout import Layout, notice_key
from spotwarden.model.case import Case, CaseState, Filed, Warned
from spotwarden.model.delivery import Delivered
from spotwarden.model.policy import Policy
from spotwarden.ports import BrokenError, Entry, Store, UnansweredError

typed.prepare(Delivered)


def with_deliveries(
    store: Store, layout: Layout, policy: Policy, cases: OpenCases, *, workers: int = 1
) -> OpenCases:
    """The cases, with when each warning arrived that was not known to have; asked only of those.

    Where we bring notices to nobody ourselves, one that the topic has accepted was told. A case of which
    that cannot be read is among the broken ones: it is left alone, and no other for its sake.
    """
    broken = dict(cases.broken)

    def know(filed: Filed) -> Filed | None:
        try:
            warnings = tuple(_known(store, layout, policy, warned) for warned in filed.case.warnings)
        except (UnansweredError, BrokenError) as problem:
            broken[filed.case.rule, filed.case.key] = problem
            return None
        return Filed(case=replace(filed.case, warnings=warnings), generation=filed.generation)

    known = each(filter(_waits, cases.filed), know, workers)
    if known.failures:
        raise ExceptionGroup("whether warnings have arrived could not be read", known.failures)
    return OpenCases([*filterfalse(_waits, cases.filed), *known.results], broken)


def as_arrived(store: Store, layout: Layout, case: Case) -> Case:
    """The case with what has arrived by now, as the next sweep will find it; for what is shown."""
    if case.state is CaseState.ACTED:
        return case
    warnings = tuple(
        _asked(store, layout, warned) if _unknown(warned) else warned for warned in case.warnings
    )
    return replace(case, warnings=warnings)


def _waits(filed: Filed) -> bool:
    """Whether something hangs on it: what was done is done."""
    return filed.case.state is not CaseState.ACTED and any(map(_unknown, filed.case.warnings))


def _unknown(warned: Warned) -> bool:
    return warned.counts and warned.delivered is None


def _known(store: Store, layout: Layout, policy: Policy, warned: Warned) -> Warned:
    if not _unknown(warned):
        return warned
    if not policy.tells:
        return replace(warned, delivered=warned.at)
    return _asked(store, layout, warned)


def _asked(store: Store, layout: Layout, warned: Warned) -> Warned:
    at = arrived(store, layout, warned.notice)
    return replace(warned, delivered=max(warned.at, at)) if at else warned


def arrived(store: Store, layout: Layout, notice: str) -> datetime | None:
    """When it came to somebody; `BrokenError` where only a record could tell that cannot be read."""
    broken: BrokenError | None = None
    for entry in store.entries(layout.delivered(notice_key(notice))):
        try:
            if not _is_copy(store, entry):
                return entry.updated
        except BrokenError as problem:
            broken = problem
    if broken:
        raise broken
    return None


def _is_copy(store: Store, entry: Entry) -> bool:
    """Whether it only went to a chat besides: that is read by everybody, and so by nobody for certain."""
    stored = store.read(entry.name)
    return stored is None or decoded(entry.name, stored.data, Delivered).copy
