"""A subject: what happened to which job, on one line."""

from datetime import timedelta

import pytest

from spotwarden.model.message import Mail
from spotwarden.model.notice import Severity
from spotwarden.model.threads import Threads
from spotwarden.notify.templates import mail
from tests.notify.templates.messages import NOW, SOON, flood, links, message, notice, pending

LONGEST = 60


def subject(**facts):
    """The subject of a mail about one notice."""
    return message(pending(notice(**facts))).subject


def of_jobs(*pendings) -> Mail:
    """The mail to a reader who wants one conversation for each job."""
    given = links(*pendings)
    return mail(pendings, links=given, message_id="m1@example.com", at=NOW, again=False, threads=Threads.JOB)


def test_it_says_the_job_and_what_happened():
    """In this order."""
    assert subject() == "nap: GPUs are idle"


def test_it_stays_the_same_whatever_the_moment_and_the_figures():
    """Gmail starts a new conversation when a subject changes."""
    later = subject(id="two", what="nap-1 has idle GPUs, still", due=SOON + timedelta(days=1))
    assert later == subject(due=None) == subject()


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"kind": "idle_acted", "what": "nap-1 was stopped"}, "nap: stopped (idle GPUs)"),
        ({"kind": "orphan_acted", "what": "nap-1 was deleted"}, "nap: deleted (VM not needed)"),
        ({"kind": "idle_cleared"}, "nap: resolved (idle GPUs)"),
        (
            {"kind": "idle_failing", "what": "nap-1 should be stopped, but"},
            "nap: can't be stopped (idle GPUs)",
        ),
        ({"kind": "idle_unknown"}, "nap: can't check its GPUs"),
        ({"job": ""}, "nap-1: GPUs are idle"),
        ({"job": "", "instances": ()}, "Spotwarden: GPUs are idle"),
        ({"id": "test/1/idle_warning"}, "[test] nap: GPUs are idle"),
        ({"title": "has idle TPUs"}, "nap: TPUs are idle"),
        ({"kind": "early_stop_warning"}, "nap: early-stop condition met"),
        (
            {"kind": "early_stop_warning", "title": "reports loss over its limit"},
            "nap: reports loss over its limit",
        ),
        (
            {"kind": "early_stop_acted", "what": "nap was stopped", "title": "reports loss over its limit"},
            "nap: stopped (loss over its limit)",
        ),
        (
            {"kind": "early_stop_unknown", "title": "reports loss over its limit"},
            "nap: can't check its metrics",
        ),
        (
            {
                "kind": "early_stop_failing",
                "what": "it should be deleted, but",
                "title": "reports\r\n" + "x" * 99,
            },
            f"nap: can't be deleted ({'x' * 24} …)",
        ),
    ],
)
def test_what_happened_is_told_of_whom_it_happened_to(facts, said):
    """The job, else the VM, else ourselves; a test says that it is one."""
    assert subject(**facts) == said


@pytest.mark.parametrize(
    ("job", "what", "said"),
    [
        ("nap", "nap is back: attempt 2", "nap is back: attempt 2"),
        ("nap", "nap-1 has idle GPUs", "nap-1 has idle GPUs"),
        ("nap", "kidnap has idle GPUs", "nap: kidnap has idle GPUs"),
        ("nap", "big-nap has idle GPUs", "nap: big-nap has idle GPUs"),
        ("nap", "naps has idle GPUs", "nap: naps has idle GPUs"),
        ("nap", "the VM vm-7 was deleted", "nap: the VM vm-7 was deleted"),
        ("", "the rule idle was stopped", "the rule idle was stopped"),
        ("", "", "of_others"),
    ],
)
def test_of_a_kind_that_we_do_not_know_the_sentence_is_told(job, what, said):
    """With the job before it unless the sentence holds its name."""
    assert subject(kind="of_others", job=job, what=what, due=None) == said


def test_of_a_long_name_the_beginning_and_the_end_are_told():
    """Names of one series differ in what stands last."""
    said = subject(job=f"resnet50-{'x' * 60}-seed-3")
    assert said.startswith("resnet50-x")
    assert said.endswith("x-seed-3: GPUs are idle")
    assert len(said) == LONGEST


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (flood(12), "Spotwarden: 12 notices about 9 jobs, 3 urgent"),
        (flood(12, jobs=1), "job-0: 12 notices, 3 urgent"),
        (flood(2, severity=Severity.WARNING), "Spotwarden: 2 notices about 2 jobs, 2 warnings"),
        (flood(2, severity=Severity.INFO), "Spotwarden: 2 notices about 2 jobs"),
        (flood(2, job=""), "Spotwarden: 2 notices, 2 urgent"),
        (flood(1200, severity=Severity.INFO), "Spotwarden: 1,200 notices about 9 jobs"),
    ],
)
def test_several_notices_are_counted(given, said):
    """How many, how many of them urgent, about how many jobs."""
    assert message(*given).subject == said


@pytest.mark.parametrize(
    "char", ["\r\n", "\n", "\x00", "\x1b", "\u202e", "\u2066", "\u2028", "\u200b", "\U000e0041"]
)
def test_what_cannot_be_seen_is_taken_out(char):
    """No line end, no control character, nothing that turns the direction of writing or hides."""
    said = subject(kind="of_others", what=f"nap-1{char}Bcc: eve@example.com", due=None)
    assert said in {"nap-1 Bcc: eve@example.com", "nap-1Bcc: eve@example.com"}


def test_a_half_of_a_character_is_shown_as_one_that_is_missing():
    """A lone surrogate could not be sent at all."""
    assert subject(kind="of_others", what="nap-1 \ud83d is odd", due=None) == "nap-1 \ufffd is odd"


@pytest.mark.parametrize(
    "facts",
    [{}, {"kind": "recovered"}, {"kind": "idle_cleared", "what": "nap-1 works again"}, {"kind": "gave_up"}],
)
def test_with_one_conversation_for_each_job_a_subject_is_the_job_alone(facts):
    """Whatever happened: Gmail keeps together only what has one subject."""
    assert of_jobs(pending(notice(**facts))).subject == "nap: job updates"
    assert of_jobs(pending(notice(**facts)), pending(notice(id="two"))).subject == "nap: job updates"
    assert of_jobs(pending(notice(job="other", **facts))).subject == "other: job updates"


def test_what_is_about_several_jobs_or_none_says_what_it_is_in_either_case():
    """It belongs to no job's conversation."""
    for given in (flood(3), [pending(notice(job="", instances=()))]):
        assert of_jobs(*given).subject == message(*given).subject
        assert of_jobs(*given).thread == ""


def test_beside_the_name_of_the_job_an_inbox_shows_what_happened():
    """The subject does not say it; the first line of the mail is the same in either case."""
    made = of_jobs(pending())
    assert 'mso-hide:all">nap-1 has idle GPUs. It will be stopped' in made.html
    assert made.text == message().text


def test_a_subject_of_a_long_name_is_no_longer_for_it():
    """Both ends of the name stay; a sample says that it is one."""
    said = of_jobs(pending(notice(id="test/1", job=f"resnet50-{'x' * 60}-seed-3"))).subject
    assert said.startswith("[test] resnet50-")
    assert said.endswith("-seed-3: job updates")
    assert len(said) <= LONGEST
