"""A subject: what happened to which job, on one line."""

from datetime import timedelta

import pytest

from spotwarden.model.notice import Severity
from tests.notify.templates.messages import NOW, SOON, flood, message, notice, pending

PHONE = 48


def subject(**facts):
    """The subject of a mail about one notice."""
    return message(pending(notice(**facts))).subject


def test_it_says_what_happened_and_what_will_happen_when():
    """The whole of it fits a phone's two lines, and the first words are the VM's."""
    said = subject()
    assert said == "nap-1 has idle GPUs, will be stopped 14:30 UTC"
    assert len(said) <= PHONE


def test_a_moment_of_another_day_has_its_day():
    """`14:30` alone would be taken for today's."""
    assert subject(due=SOON + timedelta(days=1)).endswith(", will be stopped 22 Nov 14:30 UTC")


def test_without_a_due_time_there_is_none():
    """Nothing will happen, so no time is said."""
    assert subject(due=None) == "nap-1 has idle GPUs"


def test_a_remedy_without_words_is_only_due():
    """What will happen is not said in the form that we know."""
    assert subject(then="who knows") == "nap-1 has idle GPUs, due 14:30 UTC"


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
        ("", "", "idle_warning"),
    ],
)
def test_the_job_is_named_one_time(job, what, said):
    """The job stands before what happened unless the sentence holds its name."""
    assert subject(job=job, what=what, due=None) == said


def test_a_job_s_name_is_never_cut():
    """The longest name that a job can have stands whole, however long the sentence is."""
    job = "j" * 63
    said = subject(job=job, what="x " * 500)
    assert said.startswith(f"{job}: x x")
    assert said.endswith(" …, will be stopped 14:30 UTC")
    assert len(said) <= 200


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (flood(12), "12 notices about 9 jobs: 3 urgent"),
        (flood(12, jobs=1), "12 notices about job-0: 3 urgent"),
        (flood(2, severity=Severity.WARNING), "2 notices about 2 jobs: 2 warnings"),
        (flood(2, severity=Severity.INFO), "2 notices about 2 jobs"),
        (flood(2, job=""), "2 notices: 2 urgent"),
        (flood(1200, severity=Severity.INFO), "1,200 notices about 9 jobs"),
    ],
)
def test_several_notices_are_counted(given, said):
    """How many, about how many jobs, how many of them urgent."""
    assert message(*given).subject == said


@pytest.mark.parametrize(
    "char", ["\r\n", "\n", "\x00", "\x1b", "\u202e", "\u2066", "\u2028", "\u200b", "\U000e0041"]
)
def test_what_cannot_be_seen_is_taken_out(char):
    """No line end, no control character, nothing that turns the direction of writing or hides."""
    said = subject(what=f"nap-1{char}Bcc: eve@example.com", due=None)
    assert said in {"nap-1 Bcc: eve@example.com", "nap-1Bcc: eve@example.com"}


def test_a_half_of_a_character_is_shown_as_one_that_is_missing():
    """A lone surrogate could not be sent at all."""
    assert subject(what="nap-1 \ud83d is odd", due=None) == "nap-1 \ufffd is odd"


def test_the_subject_is_of_the_moment_of_writing():
    """A message that waited over midnight says the day of what is due by then."""
    assert "21 Nov" not in subject()
    assert NOW.date() == SOON.date()
