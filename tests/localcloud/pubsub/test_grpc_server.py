"""The gRPC port: it listens where it was told, answers errors as statuses, lets faults befall calls."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.wrappers_pb2 import StringValue

from localcloud.errors import ApiError
from localcloud.faults import Faults, Rule
from localcloud.grpc_server import GrpcServer
from localcloud.rpc import Method, RpcError, grpc_handlers

SERVICE = "google.pubsub.v1.Echo"


def answer(request: Any) -> Any:
    """The request itself, or the error that it asks for."""
    match request.value:
        case "not found":
            raise RpcError("NOT_FOUND", "no such thing")
        case "precondition":
            raise RpcError("FAILED_PRECONDITION", "not in this state")
        case "plain":
            raise ApiError(409, "alreadyExists", "taken")
        case _:
            return request


async def count(requests: AsyncIterator[Any], _context: Any) -> AsyncIterator[Any]:
    """One answer for each request, until there is one to refuse."""
    async for request in requests:
        yield answer(request)


STREAM = grpc.stream_stream_rpc_method_handler(
    count, request_deserializer=StringValue.FromString, response_serializer=StringValue.SerializeToString
)


def server(**kwargs: Any) -> GrpcServer:
    """A server of one unary and one streaming method."""
    echo = Method(service=SERVICE, name="Echo", request=StringValue, answer=StringValue, call=answer)
    return GrpcServer(grpc_handlers([echo], [(SERVICE, "Count", STREAM)]), **kwargs)


async def say(target: str, text: str, method: str = "Echo") -> str:
    """What the unary method answers."""
    async with grpc.aio.insecure_channel(target) as channel:
        call = channel.unary_unary(
            f"/{SERVICE}/{method}",
            request_serializer=StringValue.SerializeToString,
            response_deserializer=StringValue.FromString,
        )
        return (await call(StringValue(value=text))).value


async def stream(target: str, *texts: str) -> list[str]:
    """What the streaming method answers."""
    async with grpc.aio.insecure_channel(target) as channel:
        call = channel.stream_stream(
            f"/{SERVICE}/Count",
            request_serializer=StringValue.SerializeToString,
            response_deserializer=StringValue.FromString,
        )
        return [each.value async for each in call(iter([StringValue(value=text) for text in texts]))]


def test_it_listens_on_a_free_port_of_loopback():
    """A port of 0 means any; the real one is told."""

    async def story() -> None:
        async with server() as running:
            assert running.port > 0
            assert running.target == f"127.0.0.1:{running.port}"
            assert await say(running.target, "hello") == "hello"

    asyncio.run(story())


def test_a_port_that_is_taken_is_an_error():
    """Two servers never share one."""

    async def story() -> None:
        async with server() as first:
            with pytest.raises(OSError, match=f"gRPC port {first.port} is taken"):
                await server(port=first.port).start()

    asyncio.run(story())


def test_a_stopped_server_can_be_started_again_on_its_port():
    """Stopping twice does no harm."""

    async def story() -> None:
        running = await server().start()
        port = running.port
        for _ in range(2):
            await running.stop(grace=timedelta(0))
        async with server(port=port) as again:
            assert await say(again.target, "x") == "x"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("text", "code", "details"),
    [
        ("not found", grpc.StatusCode.NOT_FOUND, "no such thing"),
        ("precondition", grpc.StatusCode.FAILED_PRECONDITION, "not in this state"),
        ("plain", grpc.StatusCode.ALREADY_EXISTS, "taken"),
    ],
)
def test_an_error_becomes_its_status(text: str, code: grpc.StatusCode, details: str):
    """With its message, in calls and in streams."""

    async def story() -> None:
        async with server() as running:
            for work in (say(running.target, text), stream(running.target, "fine", text)):
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await work
                assert (refused.value.code(), refused.value.details()) == (code, details)

    asyncio.run(story())


def test_a_method_that_is_not_there_is_unimplemented():
    """As gRPC has it."""

    async def story() -> None:
        async with server() as running:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await say(running.target, "x", method="Shout")
            assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED

    asyncio.run(story())


def test_a_fault_befalls_calls_and_streams_of_its_service():
    """A rule for Pub/Sub hits; one for another service does not."""

    async def story() -> None:
        faults = Faults()
        faults.add(Rule(service="monitoring", status=503))
        faults.add(Rule(service="pubsub", status=429, message="slow down", count=2))
        async with server(faults=faults) as running:
            # The stream says nothing: a client still at its first message takes a refusal for its own error.
            for work in (say(running.target, "x"), stream(running.target)):
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await work
                assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
                assert refused.value.details() == "slow down"
            assert await say(running.target, "x") == "x"

    asyncio.run(story())
