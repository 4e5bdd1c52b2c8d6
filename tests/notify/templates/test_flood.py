"""A mail about many notices at once."""

import re
from datetime import timedelta

import pytest

from spotwarden.model.notice import Severity
from tests.notify.templates.messages import NOW, SITE, SOON, flood, message, notice, pending

GMAIL = 102 * 1024
"""So much of a page Gmail shows."""


def titles(mail):
    """The titles of the notices, in their order."""
    return re.findall(r"^\d+\. [A-Z][a-z]+: (.*)$", mail.text, re.MULTILINE)


def test_the_first_line_says_how_many_are_urgent_and_when_the_first_is_due():
    """Whoever reads no further knows whether to."""
    first = message(*flood(12)).text.splitlines()[0]
    assert first.startswith("3 of these 12 notices are urgent and come first. ")
    assert first.endswith(" The first action is due at 14:30 UTC on Sat, Nov 21.")


@pytest.mark.parametrize(
    ("given", "first"),
    [
        (flood(12, due=None), "3 of these 12 notices are urgent and come first."),
        (flood(2, severity=Severity.WARNING, due=None), "2 of these 2 notices need your action."),
        (flood(2, severity=Severity.INFO, todo="", due=None), "No action needed."),
        (
            flood(2, severity=Severity.INFO, todo="install the agent", due=None),
            "No action needed. Some of these notices suggest what you can do.",
        ),
        (
            [*flood(1, severity=Severity.WARNING, due=None), *flood(2, severity=Severity.INFO, due=None)],
            "1 of these 3 notices needs your action.",
        ),
        (
            flood(2, severity=Severity.WARNING, todo="no action needed. To get a VM sooner, wait", due=None),
            "No action needed. Some",
        ),
        (
            [*flood(1), *flood(2, severity=Severity.INFO, due=None)][:2],
            "1 of these 2 notices is urgent and comes first.",
        ),
    ],
)
def test_the_first_line_holds_what_there_is(given, first):
    """No figure of something that is not there."""
    assert message(*given).text.splitlines()[0].startswith(first)


def test_the_urgent_ones_stand_first_then_what_is_due_sooner():
    """Whatever the order in which they came."""
    plain = pending(notice(id="info", severity=Severity.INFO, what="nap is back", due=None))
    late = pending(
        notice(id="late", severity=Severity.WARNING, what="nap-3 waits", due=SOON + timedelta(hours=1))
    )
    soon = pending(notice(id="soon", severity=Severity.WARNING, what="nap-2 waits"))
    open_ = pending(notice(id="open", severity=Severity.WARNING, what="nap-4 waits", due=None))
    urgent = pending(notice(id="urgent", what="nap-1 waits", due=None))
    said = titles(message(plain, open_, late, soon, urgent))
    assert said == ["nap-1 waits", "nap-2 waits", "nap-3 waits", "nap-4 waits", "nap is back"]


def test_each_has_its_own_links():
    """One person answers each by itself, and only what can be answered has any."""
    mail = message(*flood(4))
    for number in range(4):
        assert mail.text.count(f"{SITE}?t=keep-{number}\n") == 1
        assert f'href="{SITE}?t=keep-{number}"' in mail.html


def test_twenty_stand_in_full_and_the_twenty_first_is_counted():
    """With the command that lists the rest."""
    full, more = message(*flood(20)), message(*flood(21))
    assert len(titles(full)) == len(titles(more)) == 20
    assert "more notice" not in full.text
    assert "And 1 more notice about 1 job. To list open cases: `spotwarden cases list`" in more.text
    assert "1 more notice" in more.html


def test_what_is_only_counted_is_still_named_where_something_will_come():
    """Nothing is done to a VM whose owner was not told which, and when."""
    shown = message(*flood(30)).text
    assert "  - job-2-29 has idle GPUs, due Nov 21, 14:30 UTC" in shown
    assert "job-2-29" not in message(*flood(30, due=None)).text


def test_each_says_why_it_is_read_by_this_person():
    """One is his own, another he reads in somebody's place."""
    own, other = pending(), pending(notice(id="two"), stands_in="bob@example.com", because="550")
    said = message(own, other).text
    assert "the owner of nap." in said
    assert "instead of bob@example.com, because 550." in said


def test_a_flood_of_a_thousand_fits_what_gmail_shows():
    """Nothing of what is told in full is cut off, however long its words are."""
    words = {"why": "because " * 500, "evidence": {f"key {n}": "value <&> " * 50 for n in range(20)}}
    assert len(message(*flood(1000, due=None, **words)).html.encode()) < GMAIL
    assert len(message(*flood(1000)).html.encode()) < GMAIL


def test_of_notices_that_take_much_room_fewer_stand_in_full():
    """The rest is counted, so that none is missing."""
    mail = message(*flood(20, why="<&> " * 100, todo="<&> " * 100, due=None))
    shown = len(titles(mail))
    assert 1 < shown < 20
    assert f"And {20 - shown} more notices" in mail.text


def test_no_span_is_told_that_would_be_wrong_when_it_is_read():
    """A message is read later than it is written: moments stay true, "in 30 min" does not."""
    assert "in 30 min" not in message(*flood(2)).text
    assert NOW < SOON
