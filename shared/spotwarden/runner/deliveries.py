"""Whether a warning has arrived: only then does its grace begin."""

from collections.abc import Sequence

from msgspec.structs import replace

from spotwarden.layout import Layout, notice_key
from spotwarden.model.case import CaseState, Filed, Warned
from spotwarden.model.policy import Policy
from spotwarden.model.post import Delivered
from spotwarden.ports import Entry, Store
from spotwarden.runner.decoding import decoded
from spotwarden.runner.each import each


def with_deliveries(
    store: Store, layout: Layout, policy: Policy, filed: Sequence[Filed], *, workers: int = 1
) -> list[Filed]:
    """The cases, with when each warning arrived that was not known to have; asked only of those.

    Where we bring notices to nobody ourselves, one that the topic has accepted was told.
    """

    def know(one: Filed) -> Filed:
        warnings = tuple(_known(store, layout, policy, warned) for warned in one.case.warnings)
        return Filed(case=replace(one.case, warnings=warnings), generation=one.generation)

    waiting = [one for one in filed if _waits(one)]
    known = each(waiting, know, workers)
    if known.failures:
        raise ExceptionGroup("whether warnings have arrived could not be read", known.failures)
    asked = {(one.case.rule, one.case.key) for one in waiting}
    return [*(one for one in filed if (one.case.rule, one.case.key) not in asked), *known.results]


def _waits(one: Filed) -> bool:
    """Whether something hangs on it: what was done is done."""
    return one.case.state is not CaseState.ACTED and any(map(_unknown, one.case.warnings))


def _unknown(warned: Warned) -> bool:
    return warned.counts and warned.delivered is None


def _known(store: Store, layout: Layout, policy: Policy, warned: Warned) -> Warned:
    if not _unknown(warned):
        return warned
    if not policy.tells:
        return replace(warned, delivered=warned.at)
    records = store.entries(layout.delivered(notice_key(warned.notice)))
    arrived = next((one for one in records if not _is_copy(store, one)), None)
    return replace(warned, delivered=max(warned.at, arrived.updated)) if arrived else warned


def _is_copy(store: Store, entry: Entry) -> bool:
    """Whether it only went to a chat besides: that is read by everybody, and so by nobody for certain."""
    stored = store.read(entry.name)
    return stored is None or decoded(entry.name, stored.data, Delivered).copy
