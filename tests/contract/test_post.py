"""What a post office promises: in memory, by mail and by web hook."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import pytest

from spotwarden.model.letter import Message
from spotwarden.notify.channels import ChannelSettings, open_post
from spotwarden.ports import NoPost, Post, RejectedError, UnansweredError
from tests.fakes.post import MemoryPost
from tests.fakes.trouble import Failure, rejected, unanswered
from tests.notify.channels import letters
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


class Office(Protocol):
    """A post office with the hand of fate, for letters that differ in their id."""

    post: Post

    def letter(self, identifier: str) -> Message:
        """A letter with this id."""

    def fail(self, how: str) -> None:
        """Have the next letter go wrong: `refused`, `unsent`, `lost before` or `lost after` it was taken."""

    def arrived(self) -> list[str]:
        """The ids of what was taken, in that order."""


class FakeOffice:
    """In memory."""

    def __init__(self) -> None:
        self.post = MemoryPost()

    def letter(self, identifier: str) -> Message:
        """As `Office.letter`."""
        return letters.mail(message_id=identifier)

    def fail(self, how: str) -> None:
        """As `Office.fail`."""
        failure: Failure = FAILURES[how]
        self.post.trouble.order("send", failure)

    def arrived(self) -> list[str]:
        """As `Office.arrived`."""
        return [one.message_id for one in self.post.mails()]


class RealOffice:
    """Over a server that does as it is told, each conversation anew."""

    def __init__(self) -> None:
        self.next: str = ""
        self._arrived: list[str] = []
        self.server = Rude(self._serve)

    def fail(self, how: str) -> None:
        """As `Office.fail`."""
        self.next = how

    def arrived(self) -> list[str]:
        """As `Office.arrived`."""
        return self._arrived

    def _serve(self, talk: Talk) -> None:
        how, self.next = self.next, ""
        taken = how in {"", "lost after"}
        self._converse(talk, how, lambda identifier: self._arrived.append(identifier) if taken else None)

    def _converse(self, talk: Talk, how: str, keep: "Keep") -> None:
        raise NotImplementedError


class Keep(Protocol):
    """Notes that a letter was taken."""

    def __call__(self, identifier: str, /) -> None:
        """Note it."""


class MailOffice(RealOffice):
    """By SMTP."""

    def __init__(self) -> None:
        super().__init__()
        url = f"smtp+plain://127.0.0.1:{self.server.port}"
        environ = {"SPOTWARDEN_SMTP": url, "SPOTWARDEN_MAIL_FROM": "robot@example.com"}
        self.post = open_post(ChannelSettings.read(environ))

    def letter(self, identifier: str) -> Message:
        """As `Office.letter`."""
        return letters.mail(message_id=identifier)

    def _converse(self, talk: Talk, how: str, keep: Keep) -> None:
        answers = {"mail": b"250 kept\r\n", **BY_MAIL[how]}

        def take(talk: Talk) -> None:
            talk.say(b"354 go on\r\n")
            data = talk.hear_mail()
            keep(data.partition(b"Message-ID: <")[2].partition(b">")[0].decode())
            talk.give(answers["mail"])

        smtp(DATA=take, **answers)(talk)


class HookOffice(RealOffice):
    """By a web hook."""

    def __init__(self) -> None:
        super().__init__()
        row = {"shape": "slack", "url": f"http://127.0.0.1:{self.server.port}/"}
        environ = {"SPOTWARDEN_HOOKS": json.dumps({"ml-chat": row})}
        self.post = open_post(ChannelSettings.read(environ))

    def letter(self, identifier: str) -> Message:
        """As `Office.letter`."""
        return letters.post(id=identifier, body=json.dumps(identifier).encode())

    def _converse(self, talk: Talk, how: str, keep: Keep) -> None:
        def answer(talk: Talk) -> None:
            keep(json.loads(talk.body))
            talk.give(BY_HOOK[how])

        http(answer)(talk)


@pytest.fixture(params=[FakeOffice, MailOffice, HookOffice], ids=["fake", "mail", "hook"])
def office(request: pytest.FixtureRequest) -> Iterator[Office]:
    """A post office in which all is well, until a test says otherwise."""
    opened = request.param()
    if isinstance(opened, RealOffice):
        with opened.server:
            yield opened
    else:
        yield opened


def test_a_letter_arrives_and_its_answer_is_told(office: Office):
    """The answer is one line that may stand in a record."""
    answer = office.post.send(office.letter("a"))
    assert office.arrived() == ["a"]
    assert answer
    assert answer.isprintable()


@pytest.mark.parametrize("code", ["refused", "unsent"])
def test_a_letter_that_was_rejected_did_not_arrive(office: Office, code: str):
    """For ever or for now; the next one goes its way."""
    office.fail(code)
    with pytest.raises(RejectedError) as rejected:
        office.post.send(office.letter("a"))
    assert rejected.value.code == code
    assert rejected.value.message
    assert office.arrived() == []
    office.post.send(office.letter("b"))
    assert office.arrived() == ["b"]


@pytest.mark.parametrize(("when", "arrived"), [("lost before", []), ("lost after", ["a"])])
def test_a_letter_without_an_answer_may_have_arrived(office: Office, when: str, arrived: list[str]):
    """The caller hears the same either way."""
    office.fail(when)
    with pytest.raises(UnansweredError):
        office.post.send(office.letter("a"))
    assert office.arrived() == arrived


def test_a_letter_sent_twice_arrives_twice_under_one_id(office: Office):
    """Whether it should is not the post's business."""
    for _ in range(2):
        office.post.send(office.letter("a"))
    assert office.arrived() == ["a", "a"]


def test_letters_may_be_sent_at_the_same_time(office: Office):
    """Each by a worker of its own, as a sweep does."""
    names = [f"letter-{number}" for number in range(20)]
    with ThreadPoolExecutor(8) as workers:
        list(workers.map(office.post.send, map(office.letter, names)))
    assert sorted(office.arrived()) == sorted(names)


def test_a_function_without_channels_sends_nothing():
    """And says so, so that nothing counts as told."""
    with pytest.raises(RejectedError, match="unsent: this function has no channel for Mail"):
        NoPost().send(letters.mail())


def test_the_fake_fails_for_whom_it_is_told_to():
    """By address or id, as often as ordered; mails and posts are told apart."""
    fake = MemoryPost()
    fake.trouble.order("send", rejected("refused"), about="^ada@", times=2)
    for _ in range(2):
        with pytest.raises(RejectedError, match="refused"):
            fake.send(letters.mail())
    fake.send(letters.mail(to="eve@example.com"))
    fake.send(letters.mail())
    fake.send(letters.post())
    assert [one.to for one in fake.mails()] == ["eve@example.com", "ada@example.com"]
    assert [one.to for one in fake.mails("eve@example.com")] == ["eve@example.com"]
    assert [one.hook for one in fake.posts("ml-chat")] == ["ml-chat"]
    assert fake.posts("other") == []
