"""What a mailer promises: in memory, by mail and by web hook."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest

from spotwarden.model.message import Message
from spotwarden.notify.channels import ChannelSettings, open_mailer
from spotwarden.ports import ConflictError, Mailer, NoMailer, RejectedError, UnansweredError
from tests.fakes.channel import MemoryMailer
from tests.fakes.trouble import Failure, rejected, unanswered
from tests.notify.channels import messages
from tests.notify.channels.rude import Act, Answer, Rude, Talk, http, smtp

FAILURES = {
    "refused": rejected("refused"),
    "unsent": rejected("unsent"),
    "lost before": unanswered(after_work=False),
    "lost after": unanswered(after_work=True),
}
BY_MAIL: dict[str, dict[str, Answer]] = {
    "refused": {"RCPT": b"550 5.1.1 nobody here\r\n"},
    "unsent": {"RCPT": b"450 greylisted\r\n"},
    "lost before": {"mail": Act.DROP},
    "lost after": {"mail": Act.DROP},
    "": {},
}
BY_HOOK: dict[str, Answer] = {
    "refused": b"HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n",
    "unsent": b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
    "lost before": Act.DROP,
    "lost after": Act.DROP,
    "": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
}


class MailerHarness(Protocol):
    """A mailer harness with the hand of fate, for messages that differ in their id."""

    mailer: Mailer

    def message(self, identifier: str) -> Message:
        """A message with this id."""

    def fail(self, how: str) -> None:
        """Have the next message go wrong: `refused`, `unsent`, `lost before` or `lost after` it was taken."""

    def arrived(self) -> list[str]:
        """The ids of what was taken, in that order."""


class FakeHarness:
    """In memory."""

    def __init__(self) -> None:
        self.mailer = MemoryMailer()

    def message(self, identifier: str) -> Message:
        """As `MailerHarness.message`."""
        return messages.mail(message_id=identifier)

    def fail(self, how: str) -> None:
        """As `MailerHarness.fail`."""
        failure: Failure = FAILURES[how]
        self.mailer.trouble.order("send", failure)

    def arrived(self) -> list[str]:
        """As `MailerHarness.arrived`."""
        return [one.message_id for one in self.mailer.mails()]


class RealHarness:
    """Over a server that does as it is told, each conversation anew."""

    def __init__(self) -> None:
        self.next: str = ""
        self._arrived: list[str] = []
        self.server = Rude(self._serve)

    def fail(self, how: str) -> None:
        """As `MailerHarness.fail`."""
        self.next = how

    def arrived(self) -> list[str]:
        """As `MailerHarness.arrived`."""
        return self._arrived

    def _serve(self, talk: Talk) -> None:
        how, self.next = self.next, ""
        taken = how in {"", "lost after"}
        self._converse(talk, how, lambda identifier: self._arrived.append(identifier) if taken else None)

    def _converse(self, talk: Talk, how: str, keep: "Keep") -> None:
        raise NotImplementedError


class Keep(Protocol):
    """Notes that a message was taken."""

    def __call__(self, identifier: str, /) -> None:
        """Note it."""


class MailHarness(RealHarness):
    """By SMTP."""

    def __init__(self) -> None:
        super().__init__()
        url = f"smtp+plain://127.0.0.1:{self.server.port}"
        environ = {"SPOTWARDEN_SMTP": url, "SPOTWARDEN_MAIL_FROM": "robot@example.com"}
        self.mailer = open_mailer(ChannelSettings.read(environ))

    def message(self, identifier: str) -> Message:
        """As `MailerHarness.message`."""
        return messages.mail(message_id=identifier)

    def _converse(self, talk: Talk, how: str, keep: Keep) -> None:
        answers = {"mail": b"250 kept\r\n", **BY_MAIL[how]}

        def take(talk: Talk) -> None:
            talk.say(b"354 go on\r\n")
            data = talk.hear_mail()
            keep(data.partition(b"Message-ID: <")[2].partition(b">")[0].decode())
            talk.give(answers["mail"])

        smtp(DATA=take, **answers)(talk)


class HookHarness(RealHarness):
    """By a web hook."""

    def __init__(self) -> None:
        super().__init__()
        row = {"shape": "slack", "url": f"http://127.0.0.1:{self.server.port}/"}
        environ = {"SPOTWARDEN_HOOKS": json.dumps({"ml-chat": row})}
        self.mailer = open_mailer(ChannelSettings.read(environ))

    def message(self, identifier: str) -> Message:
        """As `MailerHarness.message`."""
        return messages.post(id=identifier, body=json.dumps(identifier).encode())

    def _converse(self, talk: Talk, how: str, keep: Keep) -> None:
        def answer(talk: Talk) -> None:
            keep(json.loads(talk.body))
            talk.give(BY_HOOK[how])

        http(answer)(talk)


@pytest.fixture(params=[FakeHarness, MailHarness, HookHarness], ids=["fake", "mail", "hook"])
def harness(request: pytest.FixtureRequest) -> Iterator[MailerHarness]:
    """A mailer harness in which all is well, until a test says otherwise."""
    opened = request.param()
    if isinstance(opened, RealHarness):
        with opened.server:
            yield opened
    else:
        yield opened


def test_a_message_arrives_and_its_answer_is_told(harness: MailerHarness):
    """The answer is one line that may stand in a record."""
    answer = harness.mailer.send(harness.message("a"))
    assert harness.arrived() == ["a"]
    assert answer
    assert answer.isprintable()


@pytest.mark.parametrize("code", ["refused", "unsent"])
def test_a_message_that_was_rejected_did_not_arrive(harness: MailerHarness, code: str):
    """For ever or for now; the next one goes its way."""
    harness.fail(code)
    with pytest.raises(RejectedError) as rejected:
        harness.mailer.send(harness.message("a"))
    assert rejected.value.code == code
    assert rejected.value.message
    assert harness.arrived() == []
    harness.mailer.send(harness.message("b"))
    assert harness.arrived() == ["b"]


@pytest.mark.parametrize(("when", "arrived"), [("lost before", []), ("lost after", ["a"])])
def test_a_message_without_an_answer_may_have_arrived(harness: MailerHarness, when: str, arrived: list[str]):
    """The caller hears the same either way."""
    harness.fail(when)
    with pytest.raises(UnansweredError):
        harness.mailer.send(harness.message("a"))
    assert harness.arrived() == arrived


def test_a_message_goes_out_only_before_its_time_is_over(harness: MailerHarness):
    """Its text names moments: one that comes too late is not handed over, and its sender knows that."""
    with pytest.raises(ConflictError, match="the time for it was over"):
        harness.mailer.send(harness.message("a"), before=datetime(2026, 1, 5, tzinfo=UTC))
    harness.mailer.send(harness.message("b"), before=datetime.now(UTC) + timedelta(days=1))
    assert harness.arrived() == ["b"]


def test_a_message_sent_twice_arrives_twice_under_one_id(harness: MailerHarness):
    """Whether it should is not the mailer's business."""
    for _ in range(2):
        harness.mailer.send(harness.message("a"))
    assert harness.arrived() == ["a", "a"]


def test_messages_may_be_sent_at_the_same_time(harness: MailerHarness):
    """Each by a worker of its own, as a sweep does."""
    names = [f"message-{number}" for number in range(20)]
    with ThreadPoolExecutor(8) as workers:
        list(workers.map(harness.mailer.send, map(harness.message, names)))
    assert sorted(harness.arrived()) == sorted(names)


def test_a_function_without_channels_sends_nothing():
    """And says so, so that nothing counts as told."""
    with pytest.raises(RejectedError, match="unsent: this function has no channel for Mail"):
        NoMailer().send(messages.mail())


def test_the_fake_fails_for_whom_it_is_told_to():
    """By address or id, as often as ordered; mails and posts are told apart."""
    fake = MemoryMailer()
    fake.trouble.order("send", rejected("refused"), about="^ada@", times=2)
    for _ in range(2):
        with pytest.raises(RejectedError, match="refused"):
            fake.send(messages.mail())
    fake.send(messages.mail(to="eve@example.com"))
    fake.send(messages.mail())
    fake.send(messages.post())
    assert [one.to for one in fake.mails()] == ["eve@example.com", "ada@example.com"]
    assert [one.to for one in fake.mails("eve@example.com")] == ["eve@example.com"]
    assert [one.hook for one in fake.posts("ml-chat")] == ["ml-chat"]
    assert fake.posts("other") == []
