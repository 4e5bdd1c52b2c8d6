"""What a mail is made of, whatever stands in its texts."""

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotwarden.notify.channels.mime import to_bytes
from spotwarden.notify.channels.model import Sender
from spotwarden.notify.channels.text import one_line
from tests.notify.channels.messages import mail

US = Sender(name="Spotwarden", address="robot@example.com")
OURS = {
    "From", "To", "Subject", "Date", "Message-ID", "In-Reply-To", "References", "List-Unsubscribe",
    "List-Unsubscribe-Post", "Auto-Submitted", "X-Spotwarden-Job", "Content-Type", "MIME-Version",
}  # fmt: skip
# Every character, halves of characters included, and often those that end lines or begin something.
TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=()), st.sampled_from("\r\n\x00\x85\u2028\u2029:<>.=? ")),
    max_size=120,
)


def written(**what: object) -> EmailMessage:
    """The mail as its reader's program sees it."""
    message = message_from_bytes(to_bytes(mail(**what), US), policy=default)
    assert isinstance(message, EmailMessage)
    return message


def head(**what: object) -> list[str]:
    """The lines above the texts, as they go over the wire."""
    return to_bytes(mail(**what), US).partition(b"\r\n\r\n")[0].decode().split("\r\n")


@given(subject=TEXTS, text=TEXTS, html=TEXTS, message_id=TEXTS, thread=TEXTS, unsubscribe=TEXTS, job=TEXTS)
def test_no_text_makes_a_header_a_part_or_a_long_line(
    subject: str, text: str, html: str, message_id: str, thread: str, unsubscribe: str, job: str
):
    """Ours stand once each, two parts follow them, and everything is ASCII in lines that any server takes."""
    data = to_bytes(
        mail(
            subject=subject,
            text=text,
            html=html,
            message_id=message_id,
            thread=thread,
            unsubscribe=unsubscribe,
            headers={"X-Spotwarden-Job": job},
        ),
        US,
    )
    assert data.isascii()
    assert b"\r" not in data.replace(b"\r\n", b"")
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert max(len(line) for line in data.split(b"\r\n")) <= 998
    message = message_from_bytes(data, policy=default)
    assert isinstance(message, EmailMessage)
    assert set(message.keys()) <= OURS
    assert len(message.keys()) == len(set(message.keys()))
    assert (message["To"], message["From"]) == ("ada@example.com", "Spotwarden <robot@example.com>")
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]


@pytest.mark.parametrize("newline", ["\r\n", "\n", "\r", "\u2028", "\x85", "\x0b"])
def test_a_subject_that_would_begin_a_header_begins_none(newline: str):
    """What ends a line anywhere is a space in a subject."""
    message = written(subject=f"nap{newline}Bcc: eve@example.com")
    assert message["Subject"] == "nap Bcc: eve@example.com"
    assert message["Bcc"] is None


@pytest.mark.parametrize(
    "subject", ["Grüße an alle", "訓練が止まりました" * 8, "🚀 nap " * 12, "a ü b ü c", "x" * 78 + " ü"]
)
def test_a_subject_in_any_language_is_read_as_it_was_written(subject: str):
    """However long, and wherever it is folded."""
    assert written(subject=subject)["Subject"] == subject.strip()


def test_a_subject_keeps_to_its_line_if_it_can():
    """Two hundred plain characters stand on one; folded ones trouble some readers."""
    subject = "nap: " + "idle " * 39
    assert f"Subject: {subject.strip()}" in head(subject=subject)


def test_what_looks_encoded_is_not_decoded():
    """A name made up to be decoded by the reader's program is shown as it is."""
    [line] = [line for line in head(subject="=?utf-8?q?=0D=0ABcc:?= nap") if line.startswith("Subject")]
    assert "=?" not in line


def test_ids_and_urls_are_never_encoded_however_long():
    """Threads hang on them, and the way not to get more mail does."""
    long, url = "a" * 150 + "@example.com", "https://answers.example.com/?t=" + "b" * 500
    lines = head(message_id=long, thread="t" + long, unsubscribe=url)
    assert f"Message-ID: <{long}>" in lines
    assert f"References: <t{long}>" in lines
    assert f"List-Unsubscribe: <{url}>" in lines


def test_what_is_endless_is_cut_before_its_line_is_too_long():
    """Ids, values, a subject: a server may refuse a line of more than 998."""
    endless = "x" * 5000
    lines = head(subject=endless, message_id=endless, thread=endless, headers={"X-A": endless})
    assert max(len(line) for line in lines) <= 998


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\u202e", "\u2066", "\x1b", "\ud800"])
def test_one_line_is_one_line_to_everybody(odd: str):
    """Nothing is left that ends a line somewhere, turns it around or is half a character."""
    assert one_line(f" a{odd}{odd}b{odd}") == "a b"


def test_the_first_mail_of_a_thread_does_not_answer_itself():
    """Nor does one without a thread answer anything."""
    for thread in ("one@spotwarden.example.com", ""):
        assert written(thread=thread)["In-Reply-To"] is None
    assert written(thread="nap@example.com")["In-Reply-To"] == "<nap@example.com>"


@pytest.mark.parametrize(
    ("url", "named", "one_click"),
    [
        ("https://answers.example.com/?t=a", True, True),
        ("http://127.0.0.1:8080/?t=a", True, False),
        ("", False, False),
        ("mailto:eve@example.com", False, False),
        ("https://x/>\r\nBcc: eve@example.com", False, False),
        ("https://x/" + "a" * 800, False, False),
    ],
)
def test_one_click_is_offered_only_over_https(url: str, named: bool, one_click: bool):
    """As RFC 8058 wants it; what is no URL is left out."""
    message = written(unsubscribe=url)
    assert (message["List-Unsubscribe"] is not None) is named
    assert (message["List-Unsubscribe-Post"] is not None) is one_click


def test_a_machine_says_that_it_is_one():
    """So that no machine answers; a message may say it in words of its own."""
    assert written()["Auto-Submitted"] == "auto-generated"
    assert written(headers={"Auto-Submitted": "auto-notified"})["Auto-Submitted"] == "auto-notified"


@pytest.mark.parametrize("name", ["Bcc", "To", "X-A: b\r\nBcc", "x y", "", "Subject"])
def test_a_message_brings_no_header_that_is_ours(name: str):
    """That would be a fault of the program, and is not sent."""
    with pytest.raises(ValueError, match="no mail of ours"):
        written(headers={name: "x"})


@pytest.mark.parametrize("name", ["", 'Spot "the" warden', "Spötwarden", "a, b", "x" * 500])
def test_the_senders_name_never_changes_the_address(name: str):
    """Whatever it is, the address stands behind it."""
    message = message_from_bytes(to_bytes(mail(), Sender(name=name, address=US.address)), policy=default)
    [sender] = message["From"].addresses
    assert sender.addr_spec == US.address
    assert sender.display_name == (name if len(name) < 100 else "x" * 99 + "…")


def test_texts_arrive_to_the_message():
    """Long lines, tabs, trailing blanks, characters of any language, a NUL."""
    text = "  two\t\n" + "x" * 5000 + " \nGrüße 訓練 🚀\x00\n\n"
    [plain, _] = written(text=text).iter_parts()
    assert plain.get_content().replace("\r\n", "\n").rstrip("\n") == text.rstrip("\n")
