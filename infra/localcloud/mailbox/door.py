"""The SMTP server: it takes mail for anybody, unless it was told to make trouble."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import msgspec
from aiosmtpd.smtp import SMTP, Envelope, Session

from localcloud.access import owner
from localcloud.listener import HOST
from localcloud.place import Place


class Trouble(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is wrong with the server.

    While it is `down` nobody listens; it wants no mail for those in `refuses`; of the next `mute` mails it
    takes each, and hangs up without having said so. That it has taken a mail it says `late_seconds` later.
    """

    down: bool = False
    refuses: tuple[str, ...] = ()
    mute: int = 0
    late_seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class _Smtp(SMTP):
    """Speaks with the owner's programs only, and with no browser."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._stranger = owner().refusal_of(transport)
        super().connection_made(transport)

    async def _handle_client(self) -> None:
        if self._stranger:
            await self._hang_up(f"554 5.7.1 {self._stranger}")
        else:
            await super()._handle_client()

    async def smtp_POST(self, _argument: str | None) -> None:
        """Hang up: a web page can send the commands of a mail as the body of a form."""
        await self._hang_up("421 4.7.0 this is not a web server")

    smtp_GET = smtp_HEAD = smtp_PUT = smtp_OPTIONS = smtp_POST

    async def _hang_up(self, reply: str) -> None:
        await self.push(reply)
        if self.transport is not None:
            self.transport.close()


class MailDoor:
    """Listens at one port for as long as it is open; `keep` gets each mail and to whom it goes."""

    def __init__(self, keep: Callable[[bytes, Sequence[str]], None]) -> None:
        self._keep = keep
        self._place: Place | None = None
        self._server: asyncio.Server | None = None
        self.trouble = Trouble()

    @property
    def port(self) -> int:
        """The port, whether somebody listens there just now or not."""
        if self._place is None:
            raise RuntimeError("the mailbox is not open")
        return self._place.port

    async def open(self) -> None:
        """Listen on loopback."""
        self._place = Place()
        await self._listen()

    async def close(self) -> None:
        """Listen no more, and leave the port to others."""
        self._hush()
        if self._place is not None:
            self._place.close()

    async def suffer(self, trouble: Trouble) -> None:
        """Have this trouble from now on, and no other."""
        was_down, self.trouble = self.trouble.down, trouble
        if trouble.down:
            self._hush()
        elif was_down:
            await self._listen()

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, options: list[Any]
    ) -> str:
        """Take a recipient or refuse him."""
        if address in self.trouble.refuses:
            return "550 5.1.1 no such user here"
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:
        """Keep a mail."""
        content = envelope.content
        self._keep(content if isinstance(content, bytes) else b"", envelope.rcpt_tos)
        if self.trouble.mute and server.transport is not None:
            self.trouble = msgspec.structs.replace(self.trouble, mute=self.trouble.mute - 1)
            server.transport.abort()  # type: ignore[attr-defined]  # aiosmtpd types it as any transport
        await asyncio.sleep(self.trouble.late_seconds)
        return "250 kept, not delivered"

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Smtp(self, hostname="localcloud", enable_SMTPUTF8=True), HOST, self.port
        )

    def _hush(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
