"""Whose connections are answered: those of the user that runs the local cloud."""

import asyncio
import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import cache

from localcloud.access.sockets import Address, InetDiag, ProcNet, Table

TOKEN_BYTES = 16
BEFORE_TOKEN = "/~"  # noqa: S105 - what stands before it in a path
_NOWHERE: Address = ("0.0.0.0", 0)  # noqa: S104 - nobody listens there: it is who is gone already


class Owner:
    """Looks up who is at the other end of a connection.

    Without a `table` that cannot be told: then whoever knows the `token` of this run is the owner.
    """

    def __init__(self, table: Table | None, *, uid: int) -> None:
        self._table = table
        self._uid = uid
        self.token = "" if table else secrets.token_urlsafe(TOKEN_BYTES)

    @property
    def prefix(self) -> str:
        """The first part of the path in every URL that carries the token; "" where there is none."""
        return f"{BEFORE_TOKEN}{self.token}" if self.token else ""

    def refusal(self, theirs: Address, ours: Address) -> str:
        """Why this connection is not answered, in a sentence; "" where it is the owner's, or nobody can tell.

        One whose other end is closed belongs to nobody any more: whoever opened it cannot be told, so it is
        refused. Root is another user, too: what runs as root may act for somebody else.
        """
        if self._table is None:
            return ""
        try:
            other = self._table.other(theirs, ours)
        except OSError as error:
            return f"Whose this connection is cannot be told just now: {error}."
        if other is None or not other.inode:
            return "Whose this connection was cannot be told any more: its other end is closed."
        if other.uid != self._uid:
            return f"This local cloud serves the user {self._uid} alone, not the user {other.uid}."
        return ""

    def refusal_of(self, transport: asyncio.BaseTransport) -> str:
        """The same for a connection that was just accepted."""
        theirs = transport.get_extra_info("peername") or _NOWHERE
        return self.refusal(theirs, transport.get_extra_info("sockname"))


@cache
def owner() -> Owner:
    """The owner of this process, with the best table that this machine has."""
    if sys.platform != "linux":
        return Owner(None, uid=os.getuid())
    return Owner(best_table(), uid=os.getuid())


def best_table(kinds: tuple[Callable[[], Table], ...] = (InetDiag, ProcNet)) -> Table | None:
    """The first of these that knows a connection of our own; None where none does."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server, closing(socket.socket()) as client:
        client.connect(server.getsockname())
        return next(_true(kinds, client.getsockname(), server.getsockname()), None)


def _true(kinds: tuple[Callable[[], Table], ...], theirs: Address, ours: Address) -> Iterator[Table]:
    for kind in kinds:
        with suppress(OSError, ValueError, IndexError):
            table = kind()
            other = table.other(theirs, ours)
            if other and other.inode and other.uid == os.getuid():
                yield table
