"""Messages as a person sees them: on a phone and at a desktop, by day and by night."""

import pytest

from spotwarden.cli.samples import samples
from spotwarden.model.notice import WEEKLY
from tests.notify.templates.messages import ANN, NOW, flood, links, message, notice, pending
from tests.pages.browser import PHONE

FINGER = 44
"""The least height of what a finger is to hit, in CSS pixels (WCAG 2.5.5, "Target Size (Enhanced)")."""
WEEK = next(one for one in samples("1", to=ANN, at=NOW) if one.kind == WEEKLY)
BIDI = "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd"
MESSAGES = {
    "warning": message(),
    "nothing-to-do": message(pending(notice(todo="", due=None, ways=(), then="nothing will be done"))),
    "stands-in": message(pending(stands_in="bob@example.com", because="550 5.1.1 no such user")),
    "again": message(again=True),
    "several": message(*flood(5)),
    "weekly": message(pending(WEEK), links=links(pending(WEEK), report="https://report.example.com/")),
    "long-words": message(
        pending(notice(job="j" * 63, what="w" * 250, evidence={"k" * 70: "v" * 400, BIDI: BIDI}))
    ),
}
"""Kinds of messages by what they look like."""


@pytest.mark.parametrize("name", [*MESSAGES])
def test_a_message_is_readable_everywhere(look, name):
    """Nothing that axe finds, nothing wider than the window, nothing from elsewhere; links for fingers."""
    for seen in look.everywhere(MESSAGES[name].html, name=name):
        assert seen.faults == []
        assert [target for target in seen.targets if target.height < FINGER] == []


def test_a_flood_is_readable_too(look):
    """Twenty in full, and a list of the others; seen from one side, since it takes long to examine."""
    seen = look(message(*flood(40)).html, PHONE, name="flood", dark=True)
    assert seen.faults == []
    assert "And 20 more notices" in seen.text


def test_the_first_words_of_a_message_say_what_happened_and_what_will(look):
    """Before anything that is to be read closer."""
    assert look(MESSAGES["warning"].html, PHONE, name="first").text.startswith(
        "nap-1 has idle GPUs\nWhat happens next: It will be stopped (its disks are kept) at 14:30 UTC"
    )


def test_a_message_of_every_kind_fits_a_phone(look):
    """All kinds in a row, in the words of who tells them."""
    with look.page(PHONE) as (page, remote):
        for one in samples("1", to=ANN, at=NOW):
            page.set_content(message(pending(one)).html)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= PHONE, one.kind
    assert remote == []
