"""Mail servers that do what they should not: every time it is known whether the mail may have gone out."""

import pytest

from spotwarden.notify.channels.model import Secret, Security, Sender, Smtp
from spotwarden.notify.channels.smtp import SmtpMailer
from spotwarden.notify.channels.timeouts import ChannelTimeouts
from spotwarden.ports import RejectedError, UnansweredError
from tests.notify.channels.conftest import CURIOUS, SHORT
from tests.notify.channels.messages import mail
from tests.notify.channels.rude import Act, Answer, Rude, Talk, smtp

PLENTY = "x" * 70 + "\n"


def url(server: Rude) -> str:
    """The server, without TLS on loopback."""
    return f"smtp+plain://127.0.0.1:{server.port}"


def bodies(server: Rude) -> list[bytes]:
    """The mails that a server has heard to the end."""
    return [heard for heard in server.heard if b"Message-ID" in heard]


@pytest.mark.parametrize(
    ("verb", "reply"),
    [
        ("RCPT", b"550 5.1.1 no such user\r\n"),
        ("RCPT", b"554 no\r\n"),
        ("MAIL", b"552 5.3.4 too large\r\n"),
        ("DATA", b"554 no valid recipients\r\n"),
        ("mail", b"552 5.2.2 mailbox full\r\n"),
        ("mail", b"550 5.7.1 looks like spam\r\n"),
        ("mail", b"500 whatever\r\n"),
    ],
)
def test_what_is_about_the_recipient_or_the_mail_is_for_ever(mailer_to, verb: str, reply: bytes):
    """The next try would hear the same; the server's words are kept."""
    with Rude(smtp(**{verb: reply})) as server, pytest.raises(RejectedError) as rejected:
        mailer_to(url(server)).send(mail())
    assert rejected.value.code == "refused"
    assert reply.decode().strip() in rejected.value.message


@pytest.mark.parametrize(
    ("verb", "reply"),
    [
        ("greeting", b"554 no mail here\r\n"),
        ("greeting", b"421 busy\r\n"),
        ("EHLO", b"550 who are you\r\n"),
        ("MAIL", b"550 5.7.1 not your address\r\n"),
        ("MAIL", b"530 5.7.0 log in first\r\n"),
        ("RCPT", b"450 4.2.0 greylisted, come back later\r\n"),
        ("RCPT", b"550 5.7.1 relaying denied\r\n"),
        ("RCPT", b"530 log in first\r\n"),
        ("RCPT", b"421 closing\r\n"),
        ("DATA", b"451 not now\r\n"),
        ("DATA", b"503 bad sequence\r\n"),
        ("mail", b"451 4.3.0 disk is full\r\n"),
        ("mail", b"421 closing\r\n"),
    ],
)
def test_what_is_about_now_or_about_us_can_be_tried_again(mailer_to, verb: str, reply: bytes):
    """Servers recover and settings are mended; a recipient who got nothing keeps his place."""
    with Rude(smtp(**{verb: reply})) as server, pytest.raises(RejectedError) as rejected:
        mailer_to(url(server)).send(mail())
    assert rejected.value.code == "unsent"
    assert reply.decode().strip() in rejected.value.message


@pytest.mark.parametrize("verb", ["greeting", "EHLO", "MAIL", "RCPT", "DATA"])
@pytest.mark.parametrize("what", [Act.DROP, Act.HANG, b"gibberish\r\n"])
def test_a_server_that_fails_before_the_mail_has_not_got_it(mailer_to, verb: str, what: Answer):
    """It hung up, fell silent or spoke nonsense: the mail was not even begun."""
    with Rude(smtp(**{verb: what})) as server:
        with pytest.raises(RejectedError, match="unsent"):
            mailer_to(url(server), timeouts=SHORT).send(mail())
        assert bodies(server) == []


@pytest.mark.parametrize("what", [Act.DROP, Act.HANG, b"gibberish\r\n", b"354 go on\r\n"])
def test_a_server_that_fails_after_the_mail_may_have_taken_it(mailer_to, what: Answer):
    """Nobody knows, and that is what is said."""
    with Rude(smtp(mail=what)) as server:
        with pytest.raises(UnansweredError):
            mailer_to(url(server), timeouts=CURIOUS).send(mail())
        assert len(bodies(server)) == 1


def test_a_server_that_hangs_up_in_the_middle_of_a_mail_has_not_got_it(mailer_to):
    """The dot that ends it has not gone out, so no server may act on what came before."""
    large = mail(text=PLENTY * 200_000)
    middle = {"DATA": lambda talk: talk.say(b"354 go on\r\n")}
    with Rude(smtp(**middle), window=4096) as server, pytest.raises(RejectedError, match="unsent"):
        mailer_to(url(server)).send(large)


def test_a_server_that_takes_nothing_more_is_left_in_time(mailer_to):
    """It reads so slowly that the mail cannot be handed over: it can be tried again."""

    def stuck(talk: Talk) -> None:
        talk.say(b"354 go on\r\n")
        talk.hang()

    large = mail(text=PLENTY * 200_000)
    with Rude(smtp(DATA=stuck), window=4096) as server, pytest.raises(RejectedError, match="unsent"):
        mailer_to(url(server), timeouts=SHORT).send(large)


def test_a_server_that_greets_late_hears_nothing(mailer_to):
    """Who gave up waiting does not speak up afterwards."""
    with Rude(smtp(greeting=Act.HANG)) as server:
        with pytest.raises(RejectedError, match="unsent"):
            mailer_to(url(server), timeouts=SHORT).send(mail())
        assert server.heard == []


@pytest.mark.parametrize("verb", ["greeting", "RCPT"])
def test_a_server_that_drips_is_late(mailer_to, verb: str):
    """Each byte comes soon enough, the reply as a whole does not: the time is for all of it."""
    slow = {verb: lambda talk: talk.drip(b"250-" + b"." * 400 + b"\r\n250 ok\r\n")}
    with (
        Rude(smtp(**slow)) as server,
        pytest.raises(RejectedError, match=r"unsent: .*(no answer in time|timed out)"),
    ):
        mailer_to(url(server), timeouts=SHORT).send(mail())


def test_a_server_that_drips_its_last_answer_leaves_it_open(mailer_to):
    """The mail is out there, and the answer takes longer than anybody can wait."""
    slow = {"mail": lambda talk: talk.drip(b"250-" + b"." * 400 + b"\r\n250 ok\r\n")}
    with Rude(smtp(**slow)) as server, pytest.raises(UnansweredError, match=r"no answer in time|timed out"):
        mailer_to(url(server), timeouts=CURIOUS).send(mail())


@pytest.mark.parametrize("greeting", [b"220-" + b"x" * 1_000_000, b"220-hello\r\n" * 200_000])
def test_a_server_that_never_stops_talking_is_cut_off(mailer_to, greeting: bytes):
    """In one line or in many: neither time nor memory is lost on it."""
    with Rude(smtp(greeting=lambda talk: talk.say(greeting))) as server:
        with pytest.raises(RejectedError, match="unsent"):
            mailer_to(url(server)).send(mail())
        assert server.heard in ([], [b""])


@pytest.mark.parametrize("offered", [b"250 rude.example.com\r\n", b"250-rude\r\n250 AUTH PLAIN LOGIN\r\n"])
def test_without_tls_nothing_is_said_to_a_server_that_should_have_it(mailer_to, offered: bytes):
    """Whoever took STARTTLS out on the way reads neither a password nor an address."""
    with Rude(smtp(EHLO=offered)) as server:
        with pytest.raises(RejectedError, match="unsent: localhost: it offers no STARTTLS"):
            mailer_to(f"smtp://me@localhost:{server.port}", SPOTWARDEN_SMTP_PASSWORD="secret").send(mail())
        assert set(server.heard) - {b"QUIT\r\n", b""} == {b"ehlo example.com\r\n"}


def test_a_server_that_refuses_tls_after_all_gets_nothing(mailer_to):
    """Offered, asked for, refused: that is the end of it."""
    said: dict[str, Answer] = {
        "EHLO": b"250-rude\r\n250 STARTTLS\r\n",
        "STAR": b"454 not today\r\n",
    }
    with Rude(smtp(**said)) as server:
        with pytest.raises(RejectedError, match="unsent: localhost said 454 not today"):
            mailer_to(f"smtp://localhost:{server.port}").send(mail())
        assert server.heard[:2] == [b"ehlo example.com\r\n", b"STARTTLS\r\n"]


def test_nobody_at_home_is_tried_again(mailer_to):
    """A port where nothing listens, and a name that does not exist."""
    with Rude(smtp()) as server:
        closed = url(server)
    for nowhere in (closed, "smtp://nobody.invalid:587"):
        with pytest.raises(RejectedError, match="unsent"):
            mailer_to(nowhere).send(mail())


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ada",
        "ada@",
        "@example.com",
        "ada@example.com\r\nRCPT TO:<eve@example.com>",
        "ada@example.com,eve@example.com",
        "ada@example.com> SIZE=1",
        "Ada <ada@example.com>",
        "ada love@example.com",
        "ada@exa mple.com",
        "ada@example..com",
        "ada\u2028@example.com",
        "a" * 65 + "@example.com",
        "a@" + ("b" * 60 + ".") * 4 + "b" * 9,
    ],
)
def test_what_is_no_address_never_reaches_the_server(mailer_to, address: str):
    """It is refused before anything is said."""
    with Rude(smtp()) as server:
        with pytest.raises(RejectedError, match=r"refused: .* is not a valid mail address"):
            mailer_to(url(server)).send(mail(to=address))
        assert server.heard == []


def test_the_servers_words_are_one_line_and_short(mailer_to):
    """A log or an audit is no place for control characters or a novel."""
    words = b"550-5.1.1 \x1b[31mno\x00\r\n550 " + b"such user " * 100 + b"\r\n"
    with Rude(smtp(RCPT=words)) as server, pytest.raises(RejectedError) as rejected:
        mailer_to(url(server)).send(mail())
    assert rejected.value.message.isprintable()
    assert len(rejected.value.message) < 300


def test_a_server_that_never_says_goodbye_is_not_waited_for(mailer_to):
    """The mail is taken; what comes of the rest does not matter."""
    with Rude(smtp(QUIT=Act.HANG)) as server:
        assert mailer_to(url(server)).send(mail()) == "250 kept"


def test_a_password_is_not_repeated_even_if_the_server_does():
    """Some echo what they were given."""
    said: dict[str, Answer] = {
        "EHLO": b"250-rude\r\n250 AUTH PLAIN\r\n",
        "AUTH": b"535 I do not know the-password\r\n",
    }
    with Rude(smtp(**said)) as server:
        settings = Smtp(
            host="127.0.0.1",
            port=server.port,
            security=Security.PLAIN,
            sender=Sender(address="robot@example.com"),
            user="me",
            password=Secret("the-password"),
        )
        with pytest.raises(RejectedError, match="said 535") as rejected:
            SmtpMailer(settings, ChannelTimeouts()).send(mail())
    assert "the-password" not in str(rejected.value)
    assert "the-password" not in repr(settings)
