"""A real conversation with a mail server as people run them."""

from typing import Any

import pytest

from spotwarden.ports import RejectedError
from tests.notify.channels.mail_server import PASSWORD, USER, MailServer
from tests.notify.channels.messages import mail

LOGIN = {"SPOTWARDEN_SMTP_PASSWORD": PASSWORD}


def content(part: Any) -> str:
    """A part's text with the line ends of this machine."""
    return "\n".join(part.get_content().split("\r\n"))


def test_a_mail_arrives_as_it_was_written(mailer_to):
    """From us, to one person, with both texts, its date, its ids and a way not to get more."""
    with MailServer() as server:
        answer = mailer_to(f"smtp+plain://127.0.0.1:{server.port}").send(
            mail(
                subject="nap: stopped at 14:30",
                thread="nap@spotwarden.example.com",
                unsubscribe="https://answers.example.com/?t=abc",
                headers={"X-Spotwarden-Job": "nap"},
            )
        )
    [taken] = server.taken
    message = taken.message
    assert answer == "250 kept as 1"
    assert (taken.sender, taken.recipients) == ("robot@example.com", ("ada@example.com",))
    assert {name: message[name] for name in set(message) - {"Content-Type"}} == {
        "From": "Spotwarden <robot@example.com>",
        "To": "ada@example.com",
        "Subject": "nap: stopped at 14:30",
        "Date": "Mon, 05 Jan 2026 09:00:00 +0000",
        "Message-ID": "<one@spotwarden.example.com>",
        "In-Reply-To": "<nap@spotwarden.example.com>",
        "References": "<nap@spotwarden.example.com>",
        "List-Unsubscribe": "<https://answers.example.com/?t=abc>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
        "X-Spotwarden-Job": "nap",
        "MIME-Version": "1.0",
    }
    assert message.get_content_type() == "multipart/alternative"
    texts = [(part.get_content_type(), content(part)) for part in message.iter_parts()]
    assert texts == [("text/plain", "Please look.\n"), ("text/html", "<p>Please look.</p>\n")]


def test_starttls_comes_before_the_password_and_the_mail(mailer_to):
    """The server takes neither before it, and gets both after it."""
    with MailServer(starttls=True, login=True) as server:
        mailer_to(f"smtp://{USER}@localhost:{server.port}", **LOGIN).send(mail())
    [taken] = server.taken
    assert taken.encrypted
    assert taken.user == USER


# aiosmtpd does not know that TLS may be there from the first byte on.
@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning")
@pytest.mark.parametrize("without", [(), ("PLAIN",)])
def test_tls_from_the_first_byte_serves_as_well(mailer_to, without: tuple[str, ...]):
    """With either of the ways to log in that servers have."""
    with MailServer(tls=True, login=True, without=without) as server:
        mailer_to(f"smtps://{USER}@localhost:{server.port}", **LOGIN).send(mail())
    assert [taken.user for taken in server.taken] == [USER]


def test_a_password_that_is_wrong_is_our_own_mistake(mailer_to):
    """It is tried once, the mail waits, and the reason names the settings but not the password."""
    with MailServer(starttls=True, login=True) as server:
        url = f"smtp://{USER}@localhost:{server.port}"
        with pytest.raises(RejectedError, match="SPOTWARDEN_SMTP_PASSWORD") as rejected:
            mailer_to(url, SPOTWARDEN_SMTP_PASSWORD="not the password").send(mail())
    assert rejected.value.code == "unsent"
    assert "not the password" not in str(rejected.value)
    assert (server.logins, server.taken) == (1, [])


def test_a_server_without_a_known_way_to_log_in_gets_no_mail(mailer_to):
    """Nothing is sent as nobody."""
    with MailServer(starttls=True, login=True, without=("PLAIN", "LOGIN")) as server:
        mailer = mailer_to(f"smtp://{USER}@localhost:{server.port}", **LOGIN)
        with pytest.raises(RejectedError, match="unsent: localhost: it offers neither PLAIN nor LOGIN"):
            mailer.send(mail())


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_a_certificate_for_another_name_is_not_trusted(mailer_to, scheme: str):
    """Whoever answers there, it is not our server."""
    with MailServer(starttls=scheme == "smtp", tls=scheme == "smtps", name="other.example.com") as server:
        with pytest.raises(RejectedError, match="unsent: the certificate of localhost is invalid"):
            mailer_to(f"{scheme}://localhost:{server.port}").send(mail())
        assert server.taken == []


def test_a_certificate_of_an_unknown_authority_is_not_trusted(mailer_to):
    """The system's are trusted, and the one that is set, and no other."""
    with MailServer(starttls=True) as server:
        url = f"smtp://localhost:{server.port}"
        with pytest.raises(RejectedError, match="unsent: the certificate of localhost is invalid"):
            mailer_to(url, SPOTWARDEN_SMTP_CA="").send(mail())
        assert server.taken == []
        mailer_to(url).send(mail())
    assert len(server.taken) == 1


def test_a_file_of_certificates_that_is_none_is_named(mailer_to, tmp_path):
    """Missing or full of something else, the variable is what to mend."""
    (tmp_path / "ca.pem").write_text("no certificate")
    with MailServer(starttls=True) as server:
        for file in ("ca.pem", "missing.pem"):
            mailer = mailer_to(f"smtp://localhost:{server.port}", SPOTWARDEN_SMTP_CA=str(tmp_path / file))
            with pytest.raises(RejectedError, match="unsent: the file of SPOTWARDEN_SMTP_CA"):
                mailer.send(mail())


def test_the_server_is_greeted_with_the_domain_of_our_mail(mailer_to):
    """Relays go by it; a machine's own name would tell them nothing."""
    with MailServer() as server:
        mailer_to(f"smtp+plain://127.0.0.1:{server.port}").send(mail())
    assert server.taken[0].greeted == "example.com"


def test_an_international_address_is_written_to_where_the_server_knows_how(mailer_to):
    """The address stands in the envelope and in the header as it is."""
    with MailServer() as server:
        mailer_to(f"smtp+plain://127.0.0.1:{server.port}").send(mail(to="jürgen@bücher.example"))
    [taken] = server.taken
    assert taken.recipients == ("jürgen@bücher.example",)
    assert "SMTPUTF8" in taken.options
    assert "To: jürgen@bücher.example\r\n".encode() in taken.data


def test_an_international_address_is_refused_where_it_is_unknown(mailer_to):
    """Asking again would not help, and the reason is said; an address of ASCII goes through."""
    with MailServer(utf8=False) as server:
        mailer = mailer_to(f"smtp+plain://127.0.0.1:{server.port}")
        with pytest.raises(RejectedError, match=r"refused: .*SMTPUTF8"):
            mailer.send(mail(to="jürgen@example.com"))
        assert server.taken == []
        mailer.send(mail())
    assert "SMTPUTF8" not in server.taken[0].options


def test_a_line_that_is_a_dot_does_not_end_the_mail(mailer_to):
    """Nor do lines that begin with one lose it."""
    text = "one\n.\n..two\nthree\n"
    with MailServer() as server:
        mailer_to(f"smtp+plain://127.0.0.1:{server.port}").send(mail(text=text))
    [plain, _] = server.taken[0].message.iter_parts()
    assert content(plain) == text
