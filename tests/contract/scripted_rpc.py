"""A gRPC server that says what it was told to say, and keeps what it was asked."""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import grpc
from google.protobuf.message import Message

WORKERS = 4
POOL = "scripted-rpc"
"""How its own threads are called."""


class ScriptedRpc(grpc.GenericRpcHandler):
    """Answers any method in the order of its script; the last answer is said for ever."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bytes]] = []
        self.metadata: list[Mapping[str, str]] = []
        self.seconds: list[float] = []
        """How long each caller would wait."""
        self._script: list[bytes | tuple[grpc.StatusCode, str] | None] = []
        self._over = threading.Event()
        self._pool = ThreadPoolExecutor(WORKERS, POOL)
        self._server = grpc.server(self._pool, handlers=[self], options=[("grpc.so_reuseport", 0)])
        self._port = self._server.add_insecure_port("127.0.0.1:0")

    @property
    def url(self) -> str:
        """Where it listens, as an endpoint is given."""
        return f"http://127.0.0.1:{self._port}"

    def say(self, answer: Any) -> None:
        """Add an answer: bytes as they are, or a message, also one of Google's wrapped ones."""
        if isinstance(answer, bytes):
            self._script.append(answer)
        elif isinstance(answer, Message):
            self._script.append(answer.SerializeToString())
        else:
            self._script.append(type(answer).serialize(answer))

    def refuse(self, code: grpc.StatusCode, message: str = "no") -> None:
        """Add a refusal."""
        self._script.append((code, message))

    def hush(self) -> None:
        """Refuse whatever is still asked, for good: nobody is to ask again."""
        self._over.set()
        self._script = [(grpc.StatusCode.INVALID_ARGUMENT, "the test is over")]

    def hang(self) -> None:
        """Add a call that is never answered."""
        self._script.append(None)

    def requests(self, kind: Any) -> list[Any]:
        """What was asked, as messages of this wrapped type."""
        return [kind.deserialize(request) for _, request in self.asked]

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        """The handler of a call: requests and answers are bytes."""

        def behave(request: bytes, context: grpc.ServicerContext) -> bytes:
            self.asked.append((details.method, request))
            self.seconds.append(context.time_remaining())
            self.metadata.append({key: str(value) for key, value in context.invocation_metadata()})
            answer = self._script.pop(0) if len(self._script) > 1 else self._script[0]
            if answer is None:
                self._over.wait()
                return b""
            if isinstance(answer, tuple):
                context.abort(*answer)
            return answer

        return grpc.unary_unary_rpc_method_handler(behave)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._server.stop(None).wait()
        self._pool.shutdown()
