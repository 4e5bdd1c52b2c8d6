"""From when on a remedy may be applied, as a case's record tells."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.cases.observation import acts_from
from spotwarden.model.case import Case, CaseState, Warned
from spotwarden.model.finding import Subject, Target
from spotwarden.model.governance import Remedy

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
WARNED = Warned(
    level=1,
    at=NOW,
    notice="n",
    remedy=Remedy.STOP,
    targets=("1",),
    due=NOW + HOUR,
    delivered=NOW + HOUR,
    grace=2 * HOUR,
)
CASE = Case(
    rule="idle",
    subject=Subject(key="1", targets=(Target(id="1", name="vm", zone="z"),)),
    state=CaseState.WARNED,
    opened=NOW,
    looked=NOW,
    since=NOW,
    remedy=Remedy.STOP,
    warnings=(WARNED,),
)


def test_it_is_the_arrival_and_the_grace():
    """Not what was promised when it was written, and not when a limit is reached before."""
    assert acts_from(replace(CASE, due=NOW + 2 * HOUR)) == NOW + 3 * HOUR


def test_it_is_the_limit_where_that_comes_later():
    """Who is warned at four fifths has until the whole."""
    assert acts_from(replace(CASE, due=NOW + 5 * HOUR)) == NOW + 5 * HOUR


def test_the_first_warning_that_arrived_counts():
    """A second one does not put it off."""
    later = replace(WARNED, at=NOW + HOUR, delivered=NOW + 4 * HOUR)
    assert acts_from(replace(CASE, warnings=(WARNED, later))) == NOW + 3 * HOUR


@pytest.mark.parametrize(
    "changed",
    [
        replace(CASE, remedy=Remedy.NONE, warnings=(replace(WARNED, remedy=Remedy.NONE),)),
        replace(CASE, state=CaseState.ACTED),
        replace(CASE, warnings=()),
        replace(CASE, warnings=(replace(WARNED, delivered=None),)),
        replace(CASE, warnings=(replace(WARNED, counts=False),)),
        replace(CASE, warnings=(replace(WARNED, remedy=Remedy.DELETE),)),
        replace(CASE, warnings=(replace(WARNED, targets=("2",)),)),
        replace(CASE, since=NOW + HOUR),
        replace(CASE, since=None),
        replace(CASE, keep_until=NOW + HOUR),
    ],
    ids=["no remedy", "acted", "no warning", "not arrived", "taken back", "another remedy", "another VM",
         "trouble since", "trouble unknown", "kept since"],
)  # fmt: skip
def test_nothing_is_due_without_a_warning_that_counts(changed):
    """Of this remedy, for these VMs, in this trouble, and after any veto."""
    assert acts_from(changed) is None
