"""Servers that do what they should not: hang, drop, drip, and say whatever a test wants said."""

import socket
import socketserver
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import Self


class Act(Enum):
    """What is done instead of an answer."""

    DROP = "drop"
    HANG = "hang"


Answer = bytes | Act | Callable[["Talk"], None]
"""What comes at a point of the conversation; after a function, which does as it likes, nothing does."""

SMTP: Mapping[str, Answer] = {
    "greeting": b"220 rude.example.com\r\n",
    "EHLO": b"250-rude.example.com\r\n250 SIZE 1000000000\r\n",
    "MAIL": b"250 ok\r\n",
    "RCPT": b"250 ok\r\n",
    "DATA": b"354 go on\r\n",
    "mail": b"250 kept\r\n",
    "QUIT": b"221 bye\r\n",
}


class Rude:
    """A TCP server on loopback that holds each conversation as a script says, until it is closed."""

    def __init__(self, script: Callable[["Talk"], None], *, window: int = 0) -> None:
        self.heard: list[bytes] = []
        self.over = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self, script), bind_and_activate=False)
        self._server.window = window
        self._server.server_bind()
        self._server.server_activate()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def keep(self, what: bytes) -> None:
        """Remember what was heard."""
        with self._lock:
            self.heard.append(what)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


class Talk:
    """One connection, from the server's side."""

    def __init__(self, server: Rude, handler: socketserver.StreamRequestHandler) -> None:
        self.server = server
        self.body = b""
        self._handler = handler

    @property
    def connection(self) -> socket.socket:
        """The bare connection."""
        found: socket.socket = self._handler.connection
        return found

    def say(self, what: bytes) -> None:
        """Say it at once."""
        self._handler.wfile.write(what)

    def hear(self) -> bytes:
        """A line; b"" when the other side has gone."""
        line = self._handler.rfile.readline()
        self.server.keep(line)
        return line

    def hear_count(self, count: int) -> bytes:
        """So many bytes."""
        return self._handler.rfile.read(count)

    def hear_mail(self) -> bytes:
        """A mail up to its dot, without it."""
        lines: list[bytes] = []
        while (line := self._handler.rfile.readline()) not in {b".\r\n", b""}:
            lines.append(line)
        return b"".join(lines)

    def drip(self, what: bytes) -> None:
        """Say it byte by byte, a hundred of them a second."""
        for one in what:
            if self.server.over.wait(0.01):
                return
            self.say(bytes([one]))

    def hang(self) -> None:
        """Say nothing for as long as the test lasts."""
        self.server.over.wait()

    def give(self, answer: Answer) -> bool:
        """Answer; False when the conversation is over after it."""
        if isinstance(answer, bytes):
            self.say(answer)
            return True
        if answer is Act.HANG:
            self.hang()
        elif not isinstance(answer, Act):
            answer(self)
        return False


def smtp(**said: Answer) -> Callable[[Talk], None]:
    """A mail server that takes all; what differs is said by verb, or as `greeting` and `mail`."""
    answers = {**SMTP, **said}

    def script(talk: Talk) -> None:
        going = talk.give(answers["greeting"])
        while going and (line := talk.hear()):
            verb = line[:4].decode("latin-1").upper()
            answer = answers.get(verb, b"502 never heard of it\r\n")
            going = talk.give(answer) and verb != "QUIT"
            if verb == "DATA" and isinstance(answer, bytes) and answer.startswith(b"354"):
                talk.server.keep(talk.hear_mail())
                going = talk.give(answers["mail"])

    return script


def http(answer: Answer) -> Callable[[Talk], None]:
    """A web server that hears one request, head and body, and answers it so."""

    def script(talk: Talk) -> None:
        length = 0
        while (line := talk.hear()) not in {b"\r\n", b""}:
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        talk.body = talk.hear_count(length)
        talk.server.keep(talk.body)
        talk.give(answer)

    return script


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = True
    request_queue_size = 128
    window = 0

    def server_bind(self) -> None:
        if self.window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.window)
        super().server_bind()


def _handler(server: Rude, script: Callable[[Talk], None]) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            # Who gives up hangs up, and that is the test's business, not this thread's.
            with suppress(OSError):
                script(Talk(server, self))

    return Handler
