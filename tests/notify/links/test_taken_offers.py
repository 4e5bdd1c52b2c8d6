"""An offer that is taken up, against the case as it stands at that very moment."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.answer import Accepted, AnswerRefused, Extend, Keep
from spotwarden.model.case import Case, CaseState
from spotwarden.model.finding import Subject
from spotwarden.model.jobfile import JobFile
from spotwarden.model.notice import CaseRef, Way
from spotwarden.model.offer import Offer
from spotwarden.model.policy import Policy
from spotwarden.notify.links.on_cases import take

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
ADA = "ada@example.com"
CASE = Case(
    rule="job_cap",
    subject=Subject(key="nap", job="nap"),
    state=CaseState.WARNED,
    opened=NOW - HOUR,
    looked=NOW,
)
OFFER = Offer(
    id="1" * 32,
    way=Way.KEEP,
    notice="n",
    to=ADA,
    job="nap",
    at=NOW,
    expires=NOW + HOUR,
    case=CaseRef(rule="job_cap", key="nap", opened=CASE.opened),
)
KEEP = Keep(by=ADA, until=NOW + 8 * HOUR)


def taken(case, answer=KEEP, offer=OFFER):
    """What becomes of the case."""
    return take(case, offer, answer, policy=Policy(version="test"), now=NOW, file=JobFile())


def test_an_offer_that_is_taken_up_is_noted_in_its_case():
    """With what it came to, so that the two are never apart."""
    said = taken(CASE)
    assert isinstance(said, Accepted)
    assert (said.case.keep_until, said.case.answered) == (KEEP.until, (OFFER.id,))


@pytest.mark.parametrize("answer", [KEEP, Extend(by=ADA, hours=4)], ids=["keep", "extend"])
def test_an_offer_is_taken_up_once(answer):
    """The case that has it stays as it is, however often it comes."""
    said = taken(CASE, answer)
    assert isinstance(said, Accepted)
    again = taken(said.case, answer)
    assert isinstance(again, Accepted)
    assert again.case == said.case


def test_another_offer_is_another_answer():
    """Each counts."""
    first = taken(CASE, Extend(by=ADA, hours=4))
    assert isinstance(first, Accepted)
    second = taken(first.case, Extend(by=ADA, hours=4), replace(OFFER, id="2" * 32))
    assert isinstance(second, Accepted)
    assert second.case.extended == 8


@pytest.mark.parametrize("apart", [SECOND, -SECOND])
def test_a_case_of_another_beginning_takes_no_offer(apart):
    """It was closed and opened anew between the look and the click."""
    said = taken(replace(CASE, opened=CASE.opened + apart))
    assert isinstance(said, AnswerRefused)
    assert "an earlier case" in said.why


@pytest.mark.parametrize(("longer", "until"), [(SECOND, 8 * HOUR + SECOND), (-SECOND, 8 * HOUR)])
def test_an_offer_takes_no_time_away(longer, until):
    """Somebody else has kept it meanwhile: a second longer stands, one less is made longer."""
    said = taken(replace(CASE, keep_until=KEEP.until + longer, kept_by="bob@example.com"))
    assert isinstance(said, Accepted)
    assert said.case.keep_until == NOW + until
