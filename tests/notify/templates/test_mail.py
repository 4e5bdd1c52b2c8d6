"""A mail about one notice: what it says, in which order, and to whom."""

import subprocess
import sys
from datetime import timedelta
from html import unescape
from zoneinfo import ZoneInfo

import pytest

from spotwarden.model.message import MailLinks
from spotwarden.model.notice import CaseRef, Way
from spotwarden.notify.templates import mail
from tests.notify.templates.messages import ANN, NOW, SITE, flood, links, message, notice, pending


def lines(mail):
    """The lines of its text."""
    return mail.text.splitlines()


def test_the_first_lines_say_what_happened_what_will_and_what_to_do():
    """In this order, a line each; whoever reads no further knows it."""
    assert lines(message())[:3] == [
        "What happened: nap-1 has idle GPUs",
        "What happens next: It will be stopped (its disks are kept) at 14:30 UTC on Sat, Nov 21 or later.",
        "What to do: Let it work, or stop it. To keep it, run `spotwarden cases keep idle 123 --for 8h`",
    ]


def test_where_there_is_nothing_to_do_it_says_so():
    """Nobody has to search for what is asked of him."""
    assert "What to do: No action needed." in lines(message(pending(notice(todo="", due=None))))


def test_an_inbox_shows_what_comes_next_beside_the_subject():
    """Of one notice what will happen, or what to do; of several how many are urgent."""
    shown = '<div class="preheader" style="display:none;mso-hide:all">{}'
    assert shown.format("It will be stopped (its disks are kept) at 14:30 UTC") in message().html
    assert shown.format("Mend it.") in message(pending(notice(todo="mend it", then="", due=None))).html
    assert shown.format("2 of these 2 notices are urgent") in message(*flood(2)).html


@pytest.mark.parametrize(
    ("zone", "said"),
    [("America/New_York", "09:30 EST on Sat, Nov 21"), ("Asia/Tokyo", "23:30 JST on Sat, Nov 21")],
)
def test_moments_are_on_the_reader_s_clock(zone, said):
    """In what is told and in its details alike, on the day that it is there."""
    told = pending(notice(evidence={"idle since": "2026-11-21 14:30:00 UTC"}))
    made = mail(
        [told], links=links(told), message_id="m1@example.com", at=NOW, again=False, zone=ZoneInfo(zone)
    )
    assert made.text.count(said) == 2
    assert said in made.html
    assert "UTC" not in made.text


def test_the_text_says_what_why_when_and_what_is_known():
    """All that the notice holds, with words of ours before each."""
    said = lines(message())
    assert "Why: All 4 GPUs of nap-1 have been below 5 % for 1 h." in said
    assert "  - busiest GPU: 1.0 %" in said
    assert "  - idle since: 13:00 UTC" in said


def test_each_answer_has_its_link_with_what_it_grants():
    """In the text and on the page alike."""
    ways = (Way.KEEP, Way.EXTEND, Way.STOP, Way.RESTART, Way.APPROVE)
    mail = message(pending(notice(ways=ways)))
    labels = ("Keep for 8 h", "Extend by 4 h", "Stop now", "Restart", "Approve")
    for way, label in zip(ways, labels, strict=True):
        assert f"  > {label}: {SITE}?t={way.value}-0" in lines(mail)
        assert f'href="{SITE}?t={way.value}-0"' in mail.html
        assert f">{label}</a>" in mail.html


def test_a_link_whose_hours_are_not_known_names_none():
    """Better no figure than a wrong one."""
    one = pending()
    assert "  > Keep it: " in message(one, links=links(one, keep=None)).text


def test_without_links_there_is_no_word_of_them():
    """An installation without a page for answers still tells how to answer by command."""
    mail = message(links=MailLinks())
    assert "link" not in mail.text
    assert "<a " not in mail.html
    assert "spotwarden cases keep idle 123 --for 8h" in mail.text
    assert mail.unsubscribe == ""


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "https://a b",
        'https://x/"onclick="',
        "//x",
        "https://x/<b>",
    ],
)
def test_only_a_url_that_a_reader_may_be_sent_to_becomes_a_link(url):
    """What is none is left out, on the page and in the text."""
    one = pending()
    mail = message(one, links=MailLinks(offers={one.notice.id: ((Way.KEEP, url),)}, preferences=url))
    assert "<a " not in mail.html
    assert url not in mail.text


def test_how_to_answer_by_command_is_said_one_time():
    """A command that stands in what to do is not repeated; one that does not is added."""
    assert "Or run:" not in message(pending(notice(ways=(Way.KEEP,)))).text
    cap = notice(
        ways=(Way.KEEP, Way.EXTEND),
        case=CaseRef(rule="job_cap", key="nap", opened=NOW),
        todo="save a checkpoint",
    )
    assert "Or run: spotwarden cases keep job_cap nap --for 8h" in lines(message(pending(cap)))
    assert "Or run: spotwarden extend nap --by 4h" in lines(message(pending(cap)))
    over = notice(ways=(Way.RESTART,), todo="")
    assert "Or run: spotwarden restart nap" in lines(message(pending(over)))
    gang = notice(ways=(Way.APPROVE,), todo="", case=CaseRef(rule="job_cap", key="nap", opened=NOW))
    assert "Or run: spotwarden cases approve job_cap nap" in lines(message(pending(gang)))
    named = notice(ways=(Way.STOP,), todo="")
    assert "Or run: spotwarden stop nap" in lines(message(pending(named)))


def test_a_command_names_the_time_that_its_link_offers():
    """Not the usual one: both are the same answer."""
    cap = notice(ways=(Way.KEEP, Way.EXTEND), case=CaseRef(rule="job_cap", key="nap", opened=NOW), todo="")
    mail = message(pending(cap), links=MailLinks(keep=timedelta(hours=2), extend=timedelta(minutes=90)))
    assert "Or run: spotwarden cases keep job_cap nap --for 2h" in lines(mail)
    assert "Or run: spotwarden extend nap --by 1h30m" in lines(mail)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, f"You're subscribed as {ANN}, the owner of nap."),
        ({"notice": notice(job="")}, f"You're subscribed as {ANN}."),
        ({"notice": notice(owner="")}, "You get this because nap has no owner."),
        ({"notice": notice(owner="", job="")}, "You get this because no owner is known."),
        (
            {"because": "the job nap has no owner; `owner` in its job.toml names one"},
            "You get this because the job nap has no owner; `owner` in its job.toml names one.",
        ),
        (
            {"stands_in": "bob@example.com", "because": "550 no such user."},
            "You get this instead of bob@example.com, because 550 no such user.",
        ),
        ({"stands_in": "bob@example.com"}, "You get this instead of bob@example.com."),
    ],
)
def test_it_says_why_this_person_gets_it(facts, said):
    """The owner, whoever stands in for him, and whoever hears of what nobody owns."""
    about = facts.pop("notice", None)
    mail = message(pending(about, **facts))
    assert said in lines(mail)
    assert said.partition("`")[0].strip() in unescape(mail.html)


def test_a_second_copy_says_first_that_it_may_be_one_and_why():
    """Before what to do; and a first copy says nothing of the kind."""
    again, once = message(again=True), message()
    assert "may already have this message" in lines(again)[0]
    assert "We couldn't confirm that the first copy arrived" in lines(again)[0]
    assert lines(again)[2] == lines(once)[0]
    assert "already have this message" in again.html
    assert "already have this message" not in once.text + once.html


def test_the_footer_leads_to_one_s_preferences():
    """How often one hears of what is not urgent is one click away."""
    mail = message()
    assert lines(mail)[-1].endswith(f"{SITE}?t=wish")
    assert f'href="{SITE}?t=wish"' in mail.html
    assert mail.unsubscribe == f"{SITE}?t=wish"


def test_mails_about_one_job_are_one_thread():
    """Whatever they tell; another job's are another, and what is about no job is in none."""
    first, second = message(), message(pending(notice(id="other", kind="recovered", what="nap is back")))
    assert first.thread == second.thread
    assert first.thread.endswith("@example.com")
    assert message(pending(notice(job="pan"))).thread != first.thread
    assert message(pending(notice(job=""))).thread == ""


def test_several_notices_about_one_job_stay_in_its_thread():
    """With one about another job, or about none, they leave it."""
    one, two = pending(), pending(notice(id="two"))
    assert message(one, two).thread == message(one).thread
    assert message(one, pending(notice(id="two", job="pan"))).thread == ""
    assert message(one, pending(notice(id="two", job=""))).thread == ""


def test_the_headers_are_for_filters_and_stop_answers_of_machines():
    """Kind and job; and that nobody's absence answers."""
    mail = message()
    assert mail.headers == {
        "X-Spotwarden-Kind": "idle_warning",
        "X-Spotwarden-Job": "nap",
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
    }
    assert (mail.to, mail.message_id, mail.at) == (ANN, "m1@example.com", NOW)


def test_a_hostile_name_is_harmless_in_a_header():
    """Only letters, digits and a few marks are left of it."""
    mail = message(pending(notice(job="nap\r\nBcc: eve@example.com", kind="a\nb")))
    assert mail.headers["X-Spotwarden-Job"] == "nap-Bcc-eve-example.com"
    assert mail.headers["X-Spotwarden-Kind"] == "a-b"


def test_the_page_has_a_language_a_title_and_a_table_with_headings():
    """What a screen reader needs."""
    html = message().html
    assert '<html lang="en">' in html
    assert "<title>nap: GPUs are idle</title>" in html
    row = '<th scope="row"><span dir="auto">busiest GPU</span></th><td><span dir="auto">1.0 %</span></td>'
    assert row in html


def test_commands_are_set_as_such():
    """What stands between backticks is a command; a lone backtick is a character."""
    flag = '<span style="white-space:nowrap">--for</span>'
    assert f"<code>spotwarden cases keep idle 123 {flag} 8h</code>" in message().html
    html = message(pending(notice(todo="say ` and no more"))).html
    assert "Say ` and no more." in html
    assert "<code>" not in html.split("Say `")[1].partition("</span>")[0]


def test_long_evidence_is_cut_and_says_so():
    """5 MB of it is no more than a few lines, with how much there was."""
    mail = message(pending(notice(evidence={"log": "word " * 1_000_000})))
    assert "(cut; 5,000,000 characters in all)" in mail.text
    assert len(mail.text) < 5_000
    assert len(mail.html) < 15_000


def test_many_rows_of_evidence_are_counted():
    """Thirty are shown."""
    shown = message(pending(notice(evidence={f"k{n:02}": "v" for n in range(30)}))).text
    assert "  - k29: v" in shown
    assert "and more" not in shown
    cut = message(pending(notice(evidence={f"k{n:02}": "v" for n in range(31)}))).text
    assert "  - k30: v" not in cut
    assert "  - and more: 1 row" in cut


def test_the_engine_of_pages_is_loaded_with_the_first_mail_only():
    """A function that writes none starts without it."""
    say = "import sys, spotwarden.notify.templates; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", say], check=False).returncode == 0


def test_the_style_sheet_is_what_gmail_takes():
    """It drops one that is longer than 8 KiB, and shows the first 102 kB of a page (MAIL has the room)."""
    html = message().html
    assert len(html.partition("<style>")[2].partition("</style>")[0].encode()) < 8192
