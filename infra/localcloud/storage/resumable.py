"""Resumable uploads ("Resumable uploads" and "Perform resumable uploads", Cloud Storage).

A session is a row and a file; it survives a restart of the server. What arrived stays, even of a request that
was cut off, and `Range` says how much that is.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from localcloud.errors import ApiError
from localcloud.http import Json, read_json
from localcloud.storage.checksums import Claims
from localcloud.storage.conditions import number
from localcloud.storage.content import ContentSink
from localcloud.storage.intent import Intent
from localcloud.storage.links import StorageLinks, wants_full
from localcloud.storage.model import Blob, Session
from localcloud.storage.ranges import Piece, check_size, read_content_range
from localcloud.storage.store import Store

RESUME_INCOMPLETE = 308
CLIENT_CLOSED_REQUEST = 499
"""What Cloud Storage answers to a cancelled upload."""


@dataclass
class _Open:
    """The file of a session in this process; `turn` counts requests, so a newer one can take over."""

    sink: ContentSink
    turn: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Resumable:
    """Starts, continues, reports and cancels resumable uploads."""

    def __init__(self, *, store: Store, links: StorageLinks) -> None:
        self._store = store
        self._links = links
        self._opened: dict[str, _Open] = {}
        self._opening = asyncio.Lock()

    async def start(self, request: Request) -> Response:
        """Begin a session; its URL is in `Location`."""
        session = Session(
            id=secrets.token_urlsafe(24),
            bucket=request.path_params["bucket"],
            file=self._store.vault.new().name,
            total=number(request.headers, "x-upload-content-length"),
            query=dict(request.query_params),
            body=await read_json(request),
            content_type=request.headers.get("x-upload-content-type", ""),
            created=self._store.now(),
        )
        intent = self._intent(session)
        self._store.check(intent.bucket, intent.name, intent.conditions)
        self._store.index.put_session(session)
        location = self._links.session(session.bucket, session.id)
        return Response(headers={"location": location, "x-guploader-uploadid": session.id})

    async def put(self, request: Request) -> Response:
        """Take a piece, or tell how far the upload is; answer with the object once it is complete."""
        session = self._session(request)
        length = number(request.headers, "content-length")
        piece = read_content_range(request.headers.get("content-range", ""), length)
        if session.done is not None:
            return self._shown(session, session.done)
        check_size(piece)
        opened = await self._open(session)
        if piece.start is not None:
            await _append(opened, piece.start, request.stream())
        async with opened.lock:
            return await self._answer(request, piece, opened)

    async def cancel(self, request: Request) -> Response:
        """Drop a session and what arrived of it."""
        session = self._session(request)
        opened = await self._open(session)
        async with opened.lock:
            opened.turn += 1
            self._opened.pop(session.id, None)
            self._store.index.drop_session(session.id)
            if session.done is None:
                await opened.sink.abandon()
        return Response(status_code=CLIENT_CLOSED_REQUEST)

    def _session(self, request: Request) -> Session:
        session = self._store.index.session(request.query_params.get("upload_id", ""))
        if session is None or session.bucket != request.path_params["bucket"]:
            raise ApiError(
                404, "notFound", "There is no such upload; it ended, was cancelled or never began."
            )
        return session

    async def _open(self, session: Session) -> _Open:
        async with self._opening:
            if session.id not in self._opened:
                path = self._store.vault.path(session.file)
                self._opened[session.id] = _Open(sink=await ContentSink.reopen(path))
            return self._opened[session.id]

    async def _answer(self, request: Request, piece: Piece, opened: _Open) -> Response:
        """Answer once the piece is there; the caller holds the lock."""
        session = self._session(request)  # as it is now: a request that was given up may have completed it
        if session.done is not None:
            return self._shown(session, session.done)
        total = _total(session, piece, opened.sink)
        if total != opened.sink.size:
            return await _incomplete(opened.sink, request.headers)
        content, intent = await opened.sink.finish(), self._intent(session)
        self._store.limits.check(intent.bucket, intent.name)  # what came too soon may be sent again
        opened.turn += 1  # from here on the file belongs to an object: whoever still sends must not append
        self._opened.pop(session.id, None)
        claims = Claims.read(request.headers, session.body)
        try:
            blob = intent.complete(
                self._store, content, claims, within=lambda blob: self._end(session.id, blob)
            )
        except ApiError:  # as in Cloud Storage, an upload that was refused at its end cannot go on
            self._store.index.drop_session(session.id)
            raise
        return self._shown(session, blob)

    def _intent(self, session: Session) -> Intent:
        return Intent.read(
            bucket=session.bucket,
            query=session.query,
            body=session.body,
            content_type=session.content_type,
            number=self._store.number,
        )

    def _shown(self, session: Session, blob: Blob) -> Response:
        return Json(self._links.blob(blob, full=wants_full(session.query, session.body)))

    def _end(self, session_id: str, blob: Blob) -> None:
        if session := self._store.index.session(session_id):
            self._store.index.put_session(replace(session, done=blob))


async def _append(opened: _Open, start: int, stream: AsyncIterator[bytes]) -> None:
    """Append what the session does not have yet; what arrived before a cut stays."""
    if start > opened.sink.size:
        message = f"The upload has {opened.sink.size} bytes, this piece begins at {start}: bytes are missing."
        raise ApiError(400, "invalid", message, location="Content-Range")
    opened.turn += 1
    turn, position = opened.turn, start
    async for data in stream:
        async with opened.lock:
            if opened.turn != turn:
                raise ApiError(503, "backendError", "A newer request goes on with this upload.")
            fresh = data[max(opened.sink.size - position, 0) :]
            await opened.sink.write(fresh)
        position += len(data)


def _total(session: Session, piece: Piece, sink: ContentSink) -> int | None:
    """The size of the whole upload, if it is known."""
    open_end = piece.start is not None and piece.end is None and piece.total is None
    total = sink.size if open_end else piece.total
    if None not in (total, session.total) and total != session.total:
        message = f"The upload was announced with {session.total} bytes, but it has {total}."
        raise ApiError(400, "invalid", message, location="Content-Range")
    return total


async def _incomplete(sink: ContentSink, asked: Headers) -> Response:
    await sink.flush()  # what we say we have, we must still have after a crash
    headers = {"range": f"bytes=0-{sink.size - 1}"} if sink.size else {}
    if asked.get("x-guploader-no-308") == "yes":  # Go's clients take 308 for a redirection
        return Response(headers={**headers, "x-http-status-code-override": str(RESUME_INCOMPLETE)})
    return Response(status_code=RESUME_INCOMPLETE, headers=headers)
