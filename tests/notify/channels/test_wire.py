"""Connections that end in time."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import timedelta

import pytest

from spotwarden.notify.channels.wire import MOST, Deadline, dial, reader

SOON = timedelta(milliseconds=100)
LATE = timedelta(seconds=30)


@pytest.fixture
def listening() -> Iterator[tuple[str, int]]:
    """An address where somebody listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()


@pytest.fixture
def dead() -> Iterator[tuple[str, int]]:
    """An address that neither answers nor refuses: its queue is full, so the kernel keeps silent."""
    with ExitStack() as opened:
        server = opened.enter_context(closing(socket.create_server(("127.0.0.1", 0), backlog=0)))
        for _ in range(4):
            waiting = opened.enter_context(closing(socket.socket()))
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch):
    """Has a name stand for these addresses, in this order."""

    def to(*addresses: tuple[str, int]) -> None:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in addresses]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: found)

    return to


def test_an_address_that_is_silent_leaves_time_for_the_next(resolve, dead, listening):
    """It gets half of the time, not all of it."""
    resolve(dead, listening)
    with closing(dial("mail.example.com", 25, Deadline(timedelta(seconds=1)))) as connection:
        assert connection.getpeername() == listening


def test_no_address_that_answers_is_no_connection(resolve, dead):
    """In time, and each was tried."""
    resolve(dead, dead)
    with pytest.raises(TimeoutError):
        dial("mail.example.com", 25, Deadline(SOON))


def test_a_name_without_addresses_is_no_connection(resolve):
    """It says whose they would be."""
    resolve()
    with pytest.raises(OSError, match=r"mail\.example\.com has no address"):
        dial("mail.example.com", 25, Deadline(LATE))


def test_a_deadline_that_has_passed_is_over_until_it_is_renewed():
    """There is never a negative or endless rest."""
    deadline = Deadline(timedelta(0))
    with pytest.raises(TimeoutError):
        deadline.left()
    deadline.renew(LATE)
    assert 0 < deadline.left() <= LATE.total_seconds()


def test_nothing_is_read_after_the_deadline_though_it_is_there():
    """What came too late counts as not come."""
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        theirs.sendall(b"hello\n")
        with pytest.raises(TimeoutError):
            reader(ours, Deadline(timedelta(0))).readline()
        assert reader(ours, Deadline(LATE)).readline() == b"hello\n"


@pytest.mark.parametrize(("size", "whole"), [(MOST, True), (MOST + 100_000, False)])
def test_as_much_is_read_as_anybody_needs_and_no_more(size: int, whole: bool):
    """A server that goes on and on costs a megabyte."""
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs), ExitStack() as stack:
        theirs.setblocking(False)
        incoming = reader(ours, Deadline(LATE))
        left, said = size, 0
        if not whole:
            stack.enter_context(pytest.raises(OSError, match="sends more than"))
        while left:
            left -= theirs.send(b"x" * min(left, 65536))
            said += len(incoming.read1(65536))
        theirs.shutdown(socket.SHUT_WR)
        assert said + len(incoming.read()) == size
