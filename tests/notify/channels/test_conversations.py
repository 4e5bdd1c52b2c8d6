"""Mails about one job, taken by a real mail server: what a mail program groups them by."""

import pytest
from msgspec.structs import replace

from spotwarden.model.threads import Threads
from spotwarden.notify.templates import mail
from tests.notify.channels.mail_server import MailServer
from tests.notify.templates.messages import NOW, links, notice, pending

LIFE = ("launched", "idle_warning", "idle_cleared", "recovered", "gave_up")
"""Kinds of what is told of one job, in order."""


def taken(mailer_to, threads, *, jobs=("nap", "nap", "nap", "nap", "nap")):
    """The mails that arrive at a reader who chose so, one for each kind and job."""
    with MailServer() as server:
        mailer = mailer_to(f"smtp+plain://127.0.0.1:{server.port}")
        for number, (kind, job) in enumerate(zip(LIFE, jobs, strict=True)):
            told = pending(notice(id=f"{kind}/{number}", kind=kind, job=job))
            made = mail(
                [told],
                links=links(told),
                message_id=f"m{number}@spotwarden.example.com",
                at=NOW,
                again=False,
                threads=threads,
            )
            mailer.send(replace(made, to="ada@example.com"))
    return [arrived.message for arrived in server.taken]


def conversations(messages):
    """How many conversations Gmail makes of them: by what they refer to, and by their subject.

    Gmail Help, "Group emails into conversations": a conversation breaks where the subject changes; automated
    mails are grouped that refer to the same ID.
    """
    return len({(message["References"], message["Subject"]) for message in messages})


def test_with_subjects_of_the_job_gmail_has_one_conversation(mailer_to):
    """Same sender, same reader, same subject, same reference, whatever happened; each mail is its own."""
    arrived = taken(mailer_to, Threads.JOB)
    assert conversations(arrived) == 1
    assert arrived[0]["Subject"] == "nap: job updates"
    assert {message["In-Reply-To"] for message in arrived} == {arrived[0]["References"]}
    assert len({message["Message-ID"] for message in arrived}) == len(LIFE)


def test_with_subjects_of_what_happened_it_has_one_for_each_kind(mailer_to):
    """Other programs, which follow the references alone, have one for the job."""
    arrived = taken(mailer_to, Threads.NEWS)
    assert conversations(arrived) == len(LIFE)
    assert len({message["References"] for message in arrived}) == 1


@pytest.mark.parametrize("threads", list(Threads))
def test_two_jobs_share_no_conversation(mailer_to, threads):
    """Neither by their subject nor by what they refer to."""
    arrived = taken(mailer_to, threads, jobs=("nap", "nap", "nap", "nod", "nod"))
    of_nap, of_nod = arrived[:3], arrived[3:]
    for field in ("References", "Subject"):
        assert not {message[field] for message in of_nap} & {message[field] for message in of_nod}
