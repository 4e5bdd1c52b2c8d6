"""How many mails a function gets out.

    python tests/bench/mail_throughput.py [MAILS]

A real mail server (aiosmtpd) in another thread, STARTTLS with the certificate checked, and a log-in for each
connection; on loopback, and over a line that takes 10 ms each way. One connection for each message, as in the
product, beside one that is kept for all. The processor's time is that of the sending thread.
"""

import asyncio
import logging
import smtplib
import ssl
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from spotwarden.model.message import Mail
from spotwarden.notify.channels import ChannelSettings, open_mailer
from spotwarden.notify.channels.mime import to_bytes
from spotwarden.notify.channels.model import Sender
from spotwarden.ports import Mailer
from tests.notify.channels.mail_server import PASSWORD, USER, MailServer, authority_file
from tests.notify.channels.messages import mail

ONE_WAY_SECONDS = 0.01
MESSAGE = mail(text="Please look.\n" * 40, html="<p>Please look.</p>\n" * 300)
US = Sender(address=USER)


def main(count: int) -> None:
    """Print a row for each way to send."""
    logging.getLogger("mail.log").setLevel(logging.CRITICAL)
    messages = [msgspec.structs.replace(MESSAGE, message_id=f"{number}@x") for number in range(count)]
    print(f"{f'mails of {len(to_bytes(MESSAGE, US)):,} bytes':48}  ms each  CPU ms each  mails a second")
    with tempfile.TemporaryDirectory() as folder, MailServer(starttls=True, login=True) as server:
        authority = authority_file(Path(folder))
        for line, port in (("loopback", server.port), ("20 ms there and back", Line(server.port).port)):
            mailer = product(port, authority)
            mailer.send(MESSAGE)
            tell(f"{line}, a connection each", count, partial(in_turn, mailer, messages))
            tell(f"{line}, one for all", count, partial(kept, messages, port, authority))
            tell(f"{line}, a connection each, 16 workers", count, partial(at_once, mailer, messages))
        assert len(server.taken) == 2 * (3 * count + 1)


def in_turn(mailer: Mailer, messages: Sequence[Mail]) -> None:
    """Each by itself, one after the other."""
    for message in messages:
        mailer.send(message)


def tell(what: str, count: int, work: Callable[[], object]) -> None:
    """One row of the table."""
    began, busy = time.perf_counter(), time.thread_time()
    work()
    spent, busy = time.perf_counter() - began, time.thread_time() - busy
    cpu = "" if "workers" in what else f"{busy / count * 1e3:.1f}"
    print(f"{what:48} {spent / count * 1e3:8.1f} {cpu:>12} {count / spent:15.0f}")


def product(port: int, authority: str) -> Mailer:
    """The product's own channel."""
    settings = {
        "SPOTWARDEN_SMTP": f"smtp://{USER}@localhost:{port}",
        "SPOTWARDEN_SMTP_PASSWORD": PASSWORD,
        "SPOTWARDEN_MAIL_FROM": USER,
        "SPOTWARDEN_SMTP_CA": authority,
    }
    return open_mailer(ChannelSettings.read(settings))


def at_once(mailer: Mailer, messages: list[Mail]) -> None:
    """Send with as many workers as a function has by default."""
    with ThreadPoolExecutor(16) as workers:
        list(workers.map(mailer.send, messages))


def kept(messages: list[Mail], port: int, authority: str) -> None:
    """What it would be with one connection that is kept."""
    with smtplib.SMTP("localhost", port, local_hostname="example.com") as connection:
        connection.starttls(context=ssl.create_default_context(cafile=authority))
        connection.login(USER, PASSWORD)
        for message in messages:
            connection.sendmail(USER, [message.to], to_bytes(message, US))


class Line:
    """A line to a port on which every byte is on its way for a while."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True).start()
        self._ready.wait()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = int(server.sockets[0].getsockname()[1])
        self._ready.set()
        await server.serve_forever()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        await asyncio.gather(_carry(reader, back), _carry(there, writer))


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    loop = asyncio.get_running_loop()
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            loop.call_later(ONE_WAY_SECONDS, writer.write, data)
    loop.call_later(ONE_WAY_SECONDS, writer.close)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
