"""Who is at the other end of a connection."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from localcloud.access.peers import Owner, best_table
from localcloud.access.sockets import Address, InetDiag, Other, ProcNet, Table

ME = os.getuid()
NOBODY = 65534
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's tables")
needs_root = pytest.mark.skipif(ME != 0, reason="only root can be another user")


@pytest.fixture(params=[InetDiag, ProcNet])
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    """Each of the tables."""
    table = request.param()
    yield table
    if isinstance(table, InetDiag):
        table.close()


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """Somebody who listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@needs_linux
def test_a_connection_of_ours_is_ours(table: Table, server: socket.socket):
    """Its user and an inode, whichever table is asked."""
    with socket.create_connection(server.getsockname()) as client:
        other = table.other(client.getsockname(), server.getsockname())
        assert other == Other(uid=ME, inode=os.fstat(client.fileno()).st_ino)


@needs_linux
def test_a_program_that_speaks_ipv6_is_found_as_well(table: Table, server: socket.socket):
    """It connects to `::ffff:127.0.0.1`, as Java does."""
    port = server.getsockname()[1]
    with socket.socket(socket.AF_INET6) as client:
        client.connect(("::ffff:127.0.0.1", port))
        other = table.other(("127.0.0.1", client.getsockname()[1]), ("127.0.0.1", port))
        assert other == Other(uid=ME, inode=os.fstat(client.fileno()).st_ino)


@needs_linux
def test_a_client_that_has_sent_all_it_wants_is_still_there(table: Table, server: socket.socket):
    """It closed one direction and waits for the answer."""
    with socket.create_connection(server.getsockname()) as client:
        client.shutdown(socket.SHUT_WR)
        assert table.other(client.getsockname(), server.getsockname()) is not None


@needs_linux
def test_a_closed_end_is_nobodys(table: Table, server: socket.socket):
    """The kernel says user 0 of what no process has open any more: that is not root."""
    client = socket.create_connection(server.getsockname())
    address = client.getsockname()
    client.close()
    other = table.other(address, server.getsockname())
    assert other is None or other.inode == 0
    assert Owner(table, uid=0).refusal(address, server.getsockname()).startswith("Whose this connection was")


@needs_linux
def test_whoever_listens_at_the_other_port_is_not_the_client(table: Table, server: socket.socket):
    """Without such a connection the kernel would tell of the listener."""
    with socket.create_server(("127.0.0.1", 0)) as another:
        assert table.other(another.getsockname(), server.getsockname()) is None


@needs_linux
@needs_root
def test_a_connection_of_another_user_is_known_as_that(table: Table, server: socket.socket):
    """By its number."""
    code = (
        "import socket, sys\n"
        f"with socket.create_connection({server.getsockname()!r}) as client:\n"
        "    print(client.getsockname()[1], flush=True)\n"
        "    sys.stdin.read()\n"
    )
    argv = ["setpriv", "--reuid", str(NOBODY), "--clear-groups", sys.executable, "-I", "-S", "-c", code]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        theirs = ("127.0.0.1", int(process.stdout.readline()))
        other = table.other(theirs, server.getsockname())
        assert other is not None
        assert other.uid == NOBODY
        process.communicate()


class Says:
    """A table that says always the same."""

    def __init__(self, answer: Other | OSError | None) -> None:
        self._answer = answer

    def other(self, _theirs: Address, _ours: Address) -> Other | None:
        """What it was made to say."""
        if isinstance(self._answer, OSError):
            raise self._answer
        return self._answer


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Other(uid=1000, inode=7), ""),
        (Other(uid=1001, inode=7), "This local cloud serves the user 1000 alone, not the user 1001."),
        (Other(uid=0, inode=7), "This local cloud serves the user 1000 alone, not the user 0."),
        (Other(uid=1000, inode=0), "Whose this connection was cannot be told any more"),
        (None, "Whose this connection was cannot be told any more"),
        (OSError("no more files"), "Whose this connection is cannot be told just now: no more files."),
    ],
)
def test_only_the_owner_is_answered(answer: Other | OSError | None, says: str):
    """Not root either, and nobody of whom it cannot be told."""
    said = Owner(Says(answer), uid=1000).refusal(("127.0.0.1", 1), ("127.0.0.1", 2))
    assert said.startswith(says)
    assert bool(said) == bool(says)


@needs_linux
def test_netlink_is_asked_where_it_answers():
    """One question for one connection, however many there are; the list of all is the second choice."""
    assert isinstance(best_table(), InetDiag)


def broken() -> Table:
    """A table that cannot be had."""
    raise PermissionError("not here")


@needs_linux
@pytest.mark.parametrize("first", [broken, lambda: Says(None), lambda: Says(Other(uid=ME + 1, inode=7))])
def test_a_table_that_does_not_know_us_is_not_taken(first):
    """It is tried on a connection of our own; where none is left, users cannot be told from each other."""
    assert isinstance(best_table((first, ProcNet)), ProcNet)
    assert best_table((first,)) is None
    assert not Owner(ProcNet(), uid=ME).token
    assert Owner(None, uid=ME).token != Owner(None, uid=ME).token


def test_the_list_is_read_as_proc_5_has_it(tmp_path: Path):
    """A row of an IPv6 program comes from the second file."""
    head = (
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    )
    row = "   0: {} {} 01 00000000:00000000 00:00000000 00000000  {}        0 {} 1 0 20 4 30 10 -1\n"
    here, there = "0100007F:1F95", "0100007F:C350"
    mapped = "0000000000000000FFFF0000"
    (tmp_path / "tcp").write_text(head + row.format(here, there, 1, 11) + row.format(there, here, 1000, 12))
    (tmp_path / "tcp6").write_text(head + row.format(mapped + "0100007F:C351", mapped + here, 1001, 13))
    table = ProcNet(tmp_path)
    ours = ("127.0.0.1", 0x1F95)
    assert table.other(("127.0.0.1", 0xC350), ours) == Other(uid=1000, inode=12)
    assert table.other(("127.0.0.1", 0xC351), ours) == Other(uid=1001, inode=13)
    assert table.other(("127.0.0.1", 0xC352), ours) is None
