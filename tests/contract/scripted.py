"""An HTTP server that says what it was told to say, and keeps what it was asked."""

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import msgspec


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request that came in."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


class Scripted:
    """Answers in the order of its script; the last answer is said for ever."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._script: list[tuple[int, bytes, dict[str, str]]] = []
        self._places: dict[tuple[str, str], tuple[int, bytes, dict[str, str]]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def say(self, body: object, *, status: int = 200, **headers: str) -> None:
        """Add an answer: bytes as they are, anything else as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._script.append((status, data, headers))

    def say_at(self, path: str, body: object, *, token: str = "", status: int = 200) -> None:
        """Always answer so there, for the page of this token: for calls whose order nobody knows."""
        self._places[path, token] = (status, json.dumps(body).encode(), {})

    def refuse(self, status: int, reason: str, message: str = "no") -> None:
        """Add an answer in the words of Google's REST APIs."""
        error = {"code": status, "message": message, "errors": [{"reason": reason, "message": message}]}
        self.say({"error": error}, status=status)

    def _next(self, asked: Asked) -> tuple[int, bytes, dict[str, str]]:
        if placed := self._places.get((asked.path, asked.query.get("pageToken", ""))):
            return placed
        return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlsplit(self.path)
                length = int(self.headers.get("content-length", 0))
                query: dict[str, Any] = {key: values[0] for key, values in parse_qs(url.query).items()}
                asked = Asked(
                    method=self.command,
                    path=url.path,
                    query=query,
                    headers=dict(self.headers),
                    body=self.rfile.read(length),
                )
                scripted.asked.append(asked)
                self._answer(*scripted._next(asked))

            do_POST = do_GET
            do_DELETE = do_GET

            def _answer(self, status: int, data: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for key, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_args: object) -> None:
                pass

        return Handler

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
