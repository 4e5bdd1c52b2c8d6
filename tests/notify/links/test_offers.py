"""What a message offers its reader: which ways, for how long, and that a second message offers the same."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.finding import Target
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.notice import CaseRef, Notice, Severity, Way
from spotwarden.notify.links.offers import LONGEST, MOST_BYTES, offers
from spotwarden.notify.links.tokens import Keys, sign

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
ADA, BOB = "ada@example.com", "bob@example.com"
LIMITS = NotifyLimits(
    link_lasts=timedelta(days=7), keep=timedelta(hours=8), extend=timedelta(hours=4, minutes=30)
)
SECOND = timedelta(seconds=1)
NOTICE = Notice(
    id="job_cap/nap/20260105T080000/warning-1",
    kind="job_cap_warning",
    severity=Severity.WARNING,
    job="nap",
    at=NOW - timedelta(minutes=3),
    what="nap is at or near its limit",
    why="it is up for 8 h",
    instances=(Target(id="1001", name="nap", zone="us-central1-a"),),
    case=CaseRef(rule="job_cap", key="nap", opened=NOW - timedelta(hours=1)),
    ways=(Way.KEEP, Way.EXTEND, Way.STOP, Way.RESTART),
)


def offered(**changes):
    """The ways that a message about such a notice offers."""
    return [one.way for one in offers(replace(NOTICE, **changes), ADA, LIMITS, NOW)]


def test_every_way_of_the_notice_is_offered():
    """In its order, with what each needs."""
    keep, extend, stop, restart = offers(NOTICE, ADA, LIMITS, NOW)
    assert (keep.way, keep.hours, keep.case) == (Way.KEEP, 8.0, NOTICE.case)
    assert (extend.way, extend.hours, extend.case) == (Way.EXTEND, 4.5, NOTICE.case)
    assert (stop.way, stop.hours, stop.case) == (Way.STOP, 0.0, NOTICE.case)
    assert (restart.way, restart.job, restart.case) == (Way.RESTART, "nap", None)
    assert {one.at for one in (keep, extend, stop, restart)} == {NOTICE.at}


def test_nothing_is_offered_that_the_notice_does_not():
    """A notice that only tells has no links."""
    assert offered(ways=()) == []
    assert offered(ways=(Way.KEEP, Way.KEEP)) == [Way.KEEP]


def test_what_lacks_its_subject_is_not_offered():
    """No case: nothing to keep. No VM: nothing to stop. No job: nothing to start."""
    assert offered(case=None) == [Way.RESTART]
    assert offered(instances=()) == [Way.KEEP, Way.EXTEND, Way.RESTART]
    assert offered(job="") == [Way.KEEP, Way.EXTEND, Way.STOP]


def test_a_disk_cannot_be_stopped():
    """What is left over is named by its link, not by a VM's id."""
    disk = Target(id="projects/p/zones/z/disks/d", name="d", zone="z")
    assert Way.STOP not in offered(instances=(disk,))


def test_a_message_that_is_written_again_makes_the_same_offers():
    """By their ids, whenever that is, and whatever the policy says by then: one answer counts once."""
    later = offers(NOTICE, ADA, replace(LIMITS, keep=timedelta(hours=2)), NOW + timedelta(hours=1))
    assert [one.id for one in later] == [one.id for one in offers(NOTICE, ADA, LIMITS, NOW)]


def test_no_two_answers_share_an_id():
    """Another person's, another way, another notice."""
    ids = [one.id for to in (ADA, BOB) for one in offers(NOTICE, to, LIMITS, NOW)]
    ids += [one.id for one in offers(replace(NOTICE, id="another"), ADA, LIMITS, NOW)]
    assert len(set(ids)) == len(ids) == 12
    assert all(len(one) == 32 for one in ids)


@pytest.mark.parametrize(
    ("due", "lasts"),
    [
        (None, timedelta(days=7)),
        (timedelta(days=7) - SECOND, timedelta(days=7)),
        (timedelta(days=9), timedelta(days=9)),
        (LONGEST, LONGEST),
        (LONGEST + SECOND, LONGEST),
    ],
)
def test_a_link_lasts_as_long_as_what_it_prevents_is_to_come(due, lasts):
    """At least what the policy says, at most a month."""
    notice = replace(NOTICE, due=NOW + due if due else None)
    assert {one.expires for one in offers(notice, ADA, LIMITS, NOW)} == {NOW + lasts}


def test_names_that_fit_into_no_link_offer_nothing():
    """The message still names the command. One byte less fits, and its token, too. A rule's name counts."""
    keys = Keys.read("k1:" + "A" * 43, "p")
    room = MOST_BYTES - len(f"{ADA}nap{NOTICE.case.rule}{NOTICE.case.key}")
    fits = offers(replace(NOTICE, id="n" * room), ADA, LIMITS, NOW)
    assert max(len(sign(one, keys)) for one in fits) <= 2048
    assert offers(replace(NOTICE, id="n" * (room + 1)), ADA, LIMITS, NOW) == ()
