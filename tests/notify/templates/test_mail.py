"""A mail about one notice: what it says, in which order, and to whom."""

import subprocess
import sys
from datetime import timedelta

import pytest

from spotwarden.model.message import MailLinks
from spotwarden.model.notice import CaseRef, Way
from tests.notify.templates.messages import ANN, NOW, SITE, links, message, notice, pending


def lines(mail):
    """The lines of its text."""
    return mail.text.splitlines()


def test_the_first_line_says_what_to_do_and_until_when():
    """Whoever reads no further knows it."""
    first = lines(message())[0]
    assert first.startswith("To do by 14:30 UTC (in 30 min): let it work, or stop it; ")


def test_where_there_is_nothing_to_do_the_first_line_says_so():
    """Nobody has to search for what is asked of him."""
    assert lines(message(pending(notice(todo="", due=None))))[0] == "Nothing to do."


def test_without_a_due_time_there_is_only_what_to_do():
    """No time is made up."""
    assert lines(message(pending(notice(todo="mend it", due=None))))[0] == "To do: mend it"


def test_what_is_due_already_is_due_now():
    """A message that was late does not speak of a past moment as one ahead."""
    mail = message(pending(notice(due=NOW - timedelta(minutes=5))))
    assert lines(mail)[0].startswith("To do by 13:55 UTC (now): ")


def test_the_text_says_what_why_when_and_what_is_known():
    """All that the notice holds, with words of ours before each."""
    said = lines(message())
    assert "What happened: nap-1 has idle GPUs" in said
    assert "What will happen: it will be stopped (its disks stay), not before 2026-11-21 14:30 UTC" in said
    assert "Why: All 4 GPUs of nap-1 have been below 5 % for 1 h." in said
    assert "  - busiest GPU: 1.0 %" in said
    assert "  - idle since: 13:00 UTC" in said


def test_each_answer_has_its_link_with_what_it_grants():
    """In the text and on the page alike."""
    ways = (Way.KEEP, Way.EXTEND, Way.STOP, Way.RESTART, Way.APPROVE)
    mail = message(pending(notice(ways=ways)))
    labels = ("Keep for 8 h", "Extend by 4 h", "Stop now", "Start again", "Approve")
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
    assert "By command:" not in message(pending(notice(ways=(Way.KEEP,)))).text
    cap = notice(
        ways=(Way.KEEP, Way.EXTEND),
        case=CaseRef(rule="job_cap", key="nap", opened=NOW),
        todo="save a checkpoint",
    )
    assert "By command: spotwarden cases keep job_cap nap --for 8h" in lines(message(pending(cap)))
    assert "By command: spotwarden extend nap --by 4h" in lines(message(pending(cap)))
    over = notice(ways=(Way.RESTART,), todo="")
    assert "By command: spotwarden restart nap" in lines(message(pending(over)))
    gang = notice(ways=(Way.APPROVE,), todo="", case=CaseRef(rule="job_cap", key="nap", opened=NOW))
    assert "By command: spotwarden cases approve job_cap nap" in lines(message(pending(gang)))
    named = notice(ways=(Way.STOP,), todo="")
    assert "By command: spotwarden stop nap" in lines(message(pending(named)))


def test_a_command_names_the_time_that_its_link_offers():
    """Not the usual one: both are the same answer."""
    cap = notice(ways=(Way.KEEP, Way.EXTEND), case=CaseRef(rule="job_cap", key="nap", opened=NOW), todo="")
    mail = message(pending(cap), links=MailLinks(keep=timedelta(hours=2), extend=timedelta(minutes=90)))
    assert "By command: spotwarden cases keep job_cap nap --for 2h" in lines(mail)
    assert "By command: spotwarden extend nap --by 1h30m" in lines(mail)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, f"You get this because {ANN} is named as the owner of nap."),
        ({"notice": notice(job="")}, f"You get this because it is for {ANN}."),
        ({"notice": notice(owner="")}, "You get this because nap names no owner."),
        (
            {"because": "the job nap has no owner; `owner` in its job.toml names one"},
            "You get this because the job nap has no owner; `owner` in its job.toml names one.",
        ),
        (
            {"stands_in": "bob@example.com", "because": "550 no such user."},
            "You get this in place of bob@example.com, because 550 no such user.",
        ),
        ({"stands_in": "bob@example.com"}, "You get this in place of bob@example.com."),
    ],
)
def test_it_says_why_this_person_gets_it(facts, said):
    """The owner, whoever stands in for him, and whoever hears of what nobody owns."""
    about = facts.pop("notice", None)
    mail = message(pending(about, **facts))
    assert said in lines(mail)
    assert said.partition("`")[0].strip() in mail.html


def test_a_second_copy_says_first_that_it_may_be_one_and_why():
    """Before what to do; and a first copy says nothing of the kind."""
    again, once = message(again=True), message()
    assert "may already have this message" in lines(again)[0]
    assert "Delivery of the first copy couldn't be confirmed" in lines(again)[0]
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
    assert "<title>nap-1 has idle GPUs, will be stopped 14:30 UTC</title>" in html
    assert '<th scope="row"><bdi>busiest GPU</bdi></th><td><bdi>1.0 %</bdi></td>' in html


def test_commands_are_set_as_such():
    """What stands between backticks is a command; a lone backtick is a character."""
    assert "<code>spotwarden cases keep idle 123 --for 8h</code>" in message().html
    html = message(pending(notice(todo="say ` and no more"))).html
    assert "say ` and no more" in html
    assert "<code>" not in html.split("<h1>")[0]


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
