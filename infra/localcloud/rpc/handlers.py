"""Methods as handlers of a gRPC server, without generated stubs."""

import inspect
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import grpc
from google.protobuf.message import Message

from localcloud.rpc.method import Method


def grpc_handlers(
    methods: Iterable[Method], streams: Iterable[tuple[str, str, Any]] = ()
) -> list[grpc.GenericRpcHandler]:
    """The handlers, one per service.

    `streams` adds calls that stream both ways, each as the service's name, the method's and its handler.
    """
    tables: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for method in methods:
        tables[method.service][method.name] = _handler(method)
    for service, name, handler in streams:
        tables[service][name] = handler
    return [grpc.method_handlers_generic_handler(service, table) for service, table in tables.items()]


def _handler(method: Method) -> Any:
    return grpc.unary_unary_rpc_method_handler(
        _behaviour(method.call),
        request_deserializer=method.request.FromString,
        response_serializer=serialized,
    )


def serialized(answer: Message | bytes) -> bytes:
    """An answer on the wire; a service that lists very much hands in bytes."""
    return answer if isinstance(answer, bytes) else answer.SerializeToString()


def _behaviour(call: Callable[[Any], Any]) -> Callable[[Any, Any], Awaitable[Any]]:
    async def behave(request: Message, _context: object) -> Any:
        answer = call(request)
        return await answer if inspect.isawaitable(answer) else answer

    return behave
