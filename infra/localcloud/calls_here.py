"""Calls to servers of this machine over kept connections: most pushes are."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from localcloud.answer import PIECE, HttpAnswer, whole_or_none

HERE = ("127.0.0.1", "localhost")

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def is_here(url: str, headers: Mapping[str, str]) -> bool:
    """Whether this is a plain call to this machine that can be written as it stands."""
    texts = (url, *headers, *headers.values())
    if " " in url or not all(text.isascii() and text.isprintable() for text in texts):
        return False
    return url.startswith(tuple(f"http://{host}:" for host in HERE)) and "#" not in url


class CallsHere:
    """Makes such calls, `most` at a time."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._kept: defaultdict[str, list[Connection]] = defaultdict(list)

    async def call(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """The status of the answer, once it has come whole.

        Raises:
            NoAnswerError: nobody answered.
            ValueError: the port is none.
        """
        parts = urlsplit(url)
        async with self._free:
            with whole_or_none():
                reader, writer = await self._connection(parts)
                try:
                    writer.write(_head(method, parts, headers, len(body)) + body)
                    answer = HttpAnswer(reader, has_body=method != "HEAD")
                    await answer.begin()
                    async for _ in answer.pieces():
                        pass
                except BaseException:
                    writer.close()
                    raise
            if answer.is_kept:
                self._kept[parts.netloc].append((reader, writer))
            else:
                writer.close()
            return answer.status

    async def _connection(self, parts: SplitResult) -> Connection:
        kept = self._kept[parts.netloc]
        while kept:
            reader, writer = kept.pop()
            if not (reader.at_eof() or writer.is_closing()):
                return reader, writer
            writer.close()
        return await asyncio.open_connection(parts.hostname, parts.port, limit=PIECE)

    async def close(self) -> None:
        """Drop the kept connections."""
        writers = [writer for connections in self._kept.values() for _, writer in connections]
        self._kept.clear()
        for writer in writers:
            writer.close()
        for writer in writers:
            with suppress(OSError):
                await writer.wait_closed()


def _head(method: str, parts: SplitResult, headers: Mapping[str, str], size: int) -> bytes:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    said = {"host": parts.netloc, **headers, "content-length": str(size)}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii")
