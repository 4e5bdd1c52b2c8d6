"""The gRPC port: serves generic handlers on loopback, with the faults of the day and errors as statuses."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Self

import grpc
import grpc.aio

from localcloud.access import Owner, owner
from localcloud.access.gate import NO_TOKEN
from localcloud.errors import ApiError
from localcloud.faults import Faults
from localcloud.http import HOST, STOP_GRACE
from localcloud.limits import CallLimits
from localcloud.permissions import Account, call_as
from localcloud.rpc import code_of

SERVICES: Mapping[str, str] = {
    "google.pubsub.v1": "pubsub",
    "google.iam.v1": "pubsub",
    "google.monitoring.v3": "monitoring",
}
"""The name that fault rules give to a gRPC package."""

TOKEN = "x-spotwarden-token"  # noqa: S105 - its name
"""The metadata in which a call carries the token of the run, where there has to be one."""

# Above the services' own limits (10 MB a publish), so that it is they who say what is too much.
MOST_BYTES = 64 * 1024 * 1024


class GrpcServer:
    """Serves handlers inside the running loop. A port of 0 means any that is free.

    With an `account` every call is taken for one of its own. Every call is subject to `limits`; `enter` runs
    before it.
    """

    def __init__(
        self,
        handlers: Sequence[grpc.GenericRpcHandler],
        *,
        port: int = 0,
        faults: Faults | None = None,
        account: Account | None = None,
        user: Owner | None = None,
        limits: CallLimits | None = None,
        enter: Callable[[], None] = lambda: None,
    ) -> None:
        self._enter = enter
        self._limits = limits or CallLimits.none()
        self._handlers = handlers
        self._owner = user or owner()
        self._account = account
        self._port = port
        self._faults = faults or Faults()
        self._server: grpc.aio.Server | None = None

    @property
    def port(self) -> int:
        """The port it really listens on; before `start` the one asked for."""
        return self._port

    @property
    def target(self) -> str:
        """Host and port, as `PUBSUB_EMULATOR_HOST` and `grpc.insecure_channel` take them."""
        return f"{HOST}:{self._port}"

    async def start(self) -> Self:
        """Listen; when this returns, a client can connect.

        Raises:
            OSError: the port is taken or not ours to use.
        """
        sizes = [
            ("grpc.max_receive_message_length", MOST_BYTES),
            ("grpc.max_send_message_length", MOST_BYTES),
        ]
        # Two servers that share a port would each get half of the calls.
        server = grpc.aio.server(
            interceptors=[_Around(self._faults, self._admit, self._stranger, self._limits)],
            options=[*sizes, ("grpc.so_reuseport", 0)],
        )
        server.add_generic_rpc_handlers(tuple(self._handlers))
        try:
            self._port = server.add_insecure_port(self.target)
        except RuntimeError as error:
            raise OSError(f"the gRPC port {self._port} is taken or not allowed: {error}") from error
        await server.start()
        self._server = server
        return self

    async def stop(self, *, grace: timedelta = STOP_GRACE) -> None:
        """Refuse new calls, let running ones finish for at most `grace`, then end them; idle, do nothing."""
        if self._server is not None:
            await self._server.stop(grace.total_seconds())
            self._server = None

    def _admit(self) -> None:
        call_as(self._account)
        self._enter()

    def _stranger(self, context: grpc.aio.ServicerContext[Any, Any]) -> str:
        """Why this call is not answered, "" where it is: its peer is `ipv4:127.0.0.1:PORT`."""
        told = dict(context.invocation_metadata() or ())
        if self._owner.token and told.get(TOKEN) != self._owner.token:
            return NO_TOKEN
        host, _, port = context.peer().removeprefix("ipv4:").rpartition(":")
        return self._owner.refusal((host, int(port)), (HOST, self._port))

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_exc: object) -> None:
        await self.stop()


class _Around(grpc.aio.ServerInterceptor):
    """Puts the fault rules around every call, and turns an `ApiError` into its status."""

    def __init__(
        self,
        faults: Faults,
        admit: Callable[[], None],
        stranger: Callable[[Any], str],
        limits: CallLimits,
    ) -> None:
        self._limits = limits
        self._stranger = stranger
        self._faults = faults
        self._admit = admit

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: grpc.HandlerCallDetails
    ) -> Any:
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        _, service, method = handler_call_details.method.split("/")
        name = SERVICES.get(service.rpartition(".")[0], "")
        if handler.unary_unary:
            return _rebuilt(handler, self._unary(name, method, handler.unary_unary))
        return _rebuilt(handler, self._stream(name, method, handler.stream_stream))

    async def _refuse_strangers(self, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        # Each call anew: C core tells nobody of connections, and a port soon has another's.
        if why := self._stranger(context):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, why)

    def _unary(self, service: str, method: str, behave: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
        async def around(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
            await self._refuse_strangers(context)
            try:
                about = resource(request)
                async with self._limits.around(method), self._faults.around(service, method, about):
                    self._admit()
                    answer = await behave(request, context)
            except ApiError as error:
                await context.abort(code_of(error), error.message)
            return answer

        return around

    def _stream(
        self, service: str, method: str, behave: Callable[..., AsyncIterator[Any]]
    ) -> Callable[..., Any]:
        async def around(
            requests: AsyncIterator[Any], context: grpc.aio.ServicerContext[Any, Any]
        ) -> AsyncIterator[Any]:
            await self._refuse_strangers(context)
            try:
                async with self._faults.around(service, method):
                    self._admit()
                    async for answer in behave(requests, context):
                        yield answer
            except ApiError as error:
                await context.abort(code_of(error), error.message)

        return around


_RESOURCE_FIELDS: Iterable[str] = ("name", "topic", "subscription", "parent", "project", "resource")


def resource(request: Any) -> str:
    """The name of what a request is about, or empty; fault rules match it as the path of a call."""
    for field in _RESOURCE_FIELDS:
        value = getattr(request, field, None)
        if isinstance(value, str) and value:
            return value
        nested = getattr(value, "name", "")
        if isinstance(nested, str) and nested:
            return nested
    return ""


def _rebuilt(handler: Any, behave: Callable[..., Any]) -> Any:
    build = (
        grpc.unary_unary_rpc_method_handler if handler.unary_unary else grpc.stream_stream_rpc_method_handler
    )
    return build(
        behave,
        request_deserializer=handler.request_deserializer,
        response_serializer=handler.response_serializer,
    )
