"""Faults that a client orders by a header, as of Google's storage testbench."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from localcloud.cloud import LocalCloud, Options
from localcloud.errors import ApiError
from localcloud.faults.retry_tests import Instruction, RetryTests

KIB = 1024
OBJECT = "/storage/v1/b/data/o/a"

Work = Callable[[httpx.AsyncClient], Awaitable[Any]]


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Work], Any]:
    """Plays a client's part beside a whole local cloud that has the bucket `data` with `a` of 300 KiB."""

    async def beside(work: Work) -> Any:
        async with (
            LocalCloud(Options(project="demo", state=tmp_path, machines=False)) as cloud,
            httpx.AsyncClient(base_url=cloud.endpoints.http, trust_env=False) as client,
        ):
            await client.post("/storage/v1/b?project=demo", json={"name": "data"})
            content = b"x" * 300 * KIB
            await client.post("/upload/storage/v1/b/data/o?uploadType=media&name=a", content=content)
            return await work(client)

    return lambda work: asyncio.run(beside(work))


async def ordered(client: httpx.AsyncClient, method: str, *instructions: str) -> dict[str, str]:
    """The header of a new retry test."""
    answer = await client.post("/retry_test", json={"instructions": {method: instructions}})
    assert answer.status_code == 200, answer.text
    return {"x-retry-test-id": answer.json()["id"]}


async def read(answer: httpx.Response, into: bytearray) -> None:
    """Read an answer, and keep what came of it."""
    async for data in answer.aiter_bytes():
        into.extend(data)


async def completed(client: httpx.AsyncClient, header: dict[str, str]) -> bool:
    """Whether nothing of a retry test is left."""
    return bool((await client.get(f"/retry_test/{header['x-retry-test-id']}")).json()["completed"])


def test_calls_are_hit_in_the_order_of_the_instructions(play):
    """Only those of the method, and only with the header; then all is well."""

    async def work(client: httpx.AsyncClient) -> None:
        header = await ordered(client, "storage.objects.get", "return-503", "return-reset-connection")
        assert (await client.get(OBJECT)).status_code == 200
        assert (await client.get("/storage/v1/b/data", headers=header)).status_code == 200
        assert (await client.get(OBJECT, headers=header)).status_code == 503
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(OBJECT, headers=header)
        assert await completed(client, header)
        assert (await client.get(OBJECT, headers=header)).status_code == 200

    play(work)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("storage.serviceaccount.get", "/storage/v1/projects/demo/serviceAccount"),
        ("storage.bucket_acl.list", "/storage/v1/b/data/acl"),
        ("storage.default_object_acl.list", "/storage/v1/b/data/defaultObjectAcl"),
        ("storage.object_acl.list", "/storage/v1/b/data/o/a/acl"),
        ("storage.hmacKey.list", "/storage/v1/projects/demo/hmacKeys"),
        ("storage.hmacKey.get", "/storage/v1/projects/demo/hmacKeys/GOOG1E"),
        ("storage.buckets.getIamPolicy", "/storage/v1/b/data/iam"),
    ],
)
def test_a_method_is_called_as_the_testbench_calls_it(play, method, path):
    """Some have other names in the discovery document."""

    async def work(client: httpx.AsyncClient) -> None:
        header = await ordered(client, method, "return-502")
        assert (await client.get(path, headers=header)).status_code == 502
        assert await completed(client, header)

    play(work)


@pytest.mark.parametrize(("instruction", "arrive"), [("", 4), ("-after-256K", 256 * KIB)])
def test_a_broken_stream_ends_before_its_length(play, instruction, arrive):
    """So many bytes were sent, and the connection is cut."""

    async def work(client: httpx.AsyncClient) -> None:
        header = await ordered(client, "storage.objects.get", f"return-broken-stream{instruction}")
        got = bytearray()
        async with client.stream("GET", f"{OBJECT}?alt=media", headers=header) as answer:
            with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
                await read(answer, got)
        assert len(got) <= arrive
        assert await completed(client, header)
        again = await client.get(f"{OBJECT}?alt=media", headers=header)
        assert len(again.content) == 300 * KIB

    play(work)


def test_an_upload_that_is_interrupted_keeps_what_arrived(play):
    """The client is told 503, asks how far it is, and goes on."""

    async def work(client: httpx.AsyncClient) -> None:
        header = await ordered(client, "storage.objects.insert", "return-503-after-256K")
        begun = await client.post("/upload/storage/v1/b/data/o?uploadType=resumable&name=b", headers=header)
        session, content = begun.headers["location"], bytes(512 * KIB)
        whole = {**header, "content-range": f"bytes 0-{len(content) - 1}/{len(content)}"}
        assert (await client.put(session, content=content, headers=whole)).status_code == 503
        assert await completed(client, header)
        far = await client.put(session, headers={"content-range": "bytes */524288"})
        assert (far.status_code, far.headers["range"]) == (308, f"bytes=0-{256 * KIB - 1}")
        rest = {"content-range": f"bytes {256 * KIB}-{len(content) - 1}/{len(content)}"}
        assert (await client.put(session, content=content[256 * KIB :], headers=rest)).status_code == 200

    play(work)


def test_a_piece_that_does_not_reach_so_far_is_taken(play):
    """The instruction waits for the one that does."""

    async def work(client: httpx.AsyncClient) -> None:
        header = await ordered(client, "storage.objects.insert", "return-503-after-512K")
        begun = await client.post("/upload/storage/v1/b/data/o?uploadType=resumable&name=b", headers=header)
        piece = {**header, "content-range": f"bytes 0-{256 * KIB - 1}/{1024 * KIB}"}
        taken = await client.put(begun.headers["location"], content=bytes(256 * KIB), headers=piece)
        assert taken.status_code == 308
        assert not await completed(client, header)

    play(work)


def test_what_is_not_known_is_refused(play):
    """A test that was never made or is deleted, an instruction, another transport."""

    async def work(client: httpx.AsyncClient) -> None:
        assert (await client.get(OBJECT, headers={"x-retry-test-id": "nothing"})).status_code == 404
        header = await ordered(client, "storage.objects.get", "return-503")
        listed = (await client.get("/retry_tests")).json()["retry_test"]
        assert [test["instructions"] for test in listed] == [{"storage.objects.get": ["return-503"]}]
        assert (await client.delete(f"/retry_test/{header['x-retry-test-id']}")).status_code == 200
        assert (await client.get(OBJECT, headers=header)).status_code == 404
        stall = {"instructions": {"storage.objects.get": ["stall-for-2s-after-256K"]}}
        refused = await client.post("/retry_test", json=stall)
        assert refused.status_code == 501
        assert "stall-for-2s-after-256K" in refused.text
        streams = {"instructions": {"storage.objects.get": ["return-503"]}, "transport": "GRPC"}
        assert (await client.post("/retry_test", json=streams)).status_code == 501
        assert (await client.post("/retry_test", json={"instructions": {}})).status_code == 400

    play(work)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("return-401", Instruction(status=401)),
        ("return-503-after-8192K", Instruction(status=503, after=8192 * KIB)),
        ("return-reset-connection", Instruction()),
        ("return-broken-stream", Instruction(broken_after=4)),
        ("return-broken-stream-after-1K", Instruction(broken_after=KIB)),
    ],
)
def test_an_instruction_is_read(text, read):
    """As the testbench writes them."""
    assert Instruction.read(text) == read


@pytest.mark.parametrize("text", ["return-200", "return-503-after-1M", "return-nothing", ""])
def test_an_instruction_that_is_not_done_is_named(text):
    """When it is ordered, not when it is due."""
    with pytest.raises(ApiError, match=f"the instruction {text}"):
        RetryTests().add({"storage.buckets.get": [text]})
