"""Multipart uploads of the XML API: begun, sent in parts, listed, completed and aborted."""

import re
from typing import Any

import httpx
import pytest

from localcloud.storage.xmlapi import multipart

OBJECT = "/data/new/%C3%A9%201"
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
LARGE = 5 << 20


def found(text: str, tag: str) -> list[str]:
    """What the elements of this tag hold."""
    return re.findall(f"<{tag}>([^<]*)</{tag}>", text)


async def begin(client: httpx.AsyncClient, path: str = OBJECT, **headers: str) -> str:
    """The id of a new upload."""
    begun = await client.post(f"{path}?uploads", headers={k.replace("_", "-"): v for k, v in headers.items()})
    assert (begun.status_code, NAMESPACE in begun.text) == (200, True), begun.text
    return found(begun.text, "UploadId")[0]


async def send(client: httpx.AsyncClient, upload: str, number: object, data: bytes, **more: str) -> Any:
    """Send a part."""
    headers = {name.replace("_", "-"): value for name, value in more.items()}
    query = {"partNumber": str(number), "uploadId": upload}
    return await client.put(OBJECT, params=query, content=data, headers=headers)


async def complete(client: httpx.AsyncClient, upload: str, parts: list[tuple[int, str]]) -> httpx.Response:
    """Complete an upload of these numbers and tags."""
    told = "".join(f"<Part><PartNumber>{n}</PartNumber><ETag>{tag}</ETag></Part>" for n, tag in parts)
    body = f"<CompleteMultipartUpload>{told}</CompleteMultipartUpload>"
    return await client.post(OBJECT, params={"uploadId": upload}, content=body)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Status and code."""
    return answer.status_code, found(answer.text, "Code")[0]


def test_parts_become_one_object_with_the_metadata_of_its_beginning(play, monkeypatch: pytest.MonkeyPatch):
    """In the order of their numbers, whichever came first; with a CRC32C and no MD5."""
    monkeypatch.setattr(multipart, "SMALLEST_PART", 10)

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(
            client,
            content_type="text/x-weights",
            cache_control="private",
            x_goog_meta_step="17",
            x_goog_storage_class="NEARLINE",
            x_goog_custom_time="2026-11-23T00:00:00Z",
        )
        last = (await send(client, upload, 7, b"end")).headers["etag"]
        first = (await send(client, upload, 2, b"0123456789")).headers["etag"]
        assert first == '"781e5e245d69b566979b86e28d23f2c7"'
        assert (await client.get(OBJECT)).status_code == 404
        done = await complete(client, upload, [(2, first), (7, last.strip('"'))])
        assert (done.status_code, found(done.text, "Key")) == (200, ["new/é 1"])
        got = await client.get(OBJECT)
        assert (got.content, got.headers["etag"]) == (b"0123456789end", found(done.text, "ETag")[0])
        told = (await client.get("/storage/v1/b/data/o/new%2F%C3%A9%201")).json()
        assert "md5Hash" not in told
        assert told["crc32c"] in done.headers["x-goog-hash"]
        wanted = {"contentType": "text/x-weights", "cacheControl": "private", "storageClass": "NEARLINE"}
        assert wanted.items() <= told.items()
        assert (told["metadata"], told["customTime"]) == ({"step": "17"}, "2026-11-23T00:00:00Z")
        assert refusal(await complete(client, upload, [(2, first)])) == (404, "NoSuchUpload")

    play(work)


def test_a_part_that_is_sent_again_takes_the_place_of_the_first(play, tmp_path):
    """What is not named at the end is not in the object; no file of a part stays."""

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(client)
        old = (await send(client, upload, 1, b"x" * 10)).headers["etag"]
        tag = (await send(client, upload, 1, b"y" * 10)).headers["etag"]
        await send(client, upload, 2, b"z" * 10)
        assert refusal(await complete(client, upload, [(1, old)])) == (400, "InvalidPart")
        assert (await complete(client, upload, [(1, tag)])).status_code == 200
        assert (await client.get(OBJECT)).content == b"y" * 10

    play(work)
    assert len([*(tmp_path / "storage/content").iterdir()]) == 2


def test_an_aborted_upload_leaves_nothing(play, tmp_path):
    """204, and then it is not there any more."""

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(client)
        await send(client, upload, 1, b"x")
        assert (await client.delete(OBJECT, params={"uploadId": upload})).status_code == 204
        assert refusal(await client.delete(OBJECT, params={"uploadId": upload})) == (404, "NoSuchUpload")
        assert refusal(await send(client, upload, 2, b"x")) == (404, "NoSuchUpload")
        assert found(await _text(client, "/data?uploads"), "Key") == []

    play(work)
    assert len([*(tmp_path / "storage/content").iterdir()]) == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "MalformedXML"),
        ("<CompleteMultipartUpload/>", "MalformedXML"),
        ("<CompleteMultipartUpload><Part><ETag>a</ETag></Part></CompleteMultipartUpload>", "MalformedXML"),
        ("<Other><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part></Other>", "MalformedXML"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><CompleteMultipartUpload/>", "MalformedXML"),
        ("{}", "MalformedXML"),
        ("[2:a][1:b]", "InvalidPartOrder"),
        ("[1:a][1:a]", "InvalidPartOrder"),
        ("[3:a]", "InvalidPart"),
        ("[1:781e5e245d69b566979b86e28d23f2c8]", "InvalidPart"),
        (f"[{'9' * 5000}:a]", "MalformedXML"),
    ],
)
def test_a_completion_that_cannot_be_is_refused_and_the_upload_goes_on(play, body, code):
    """With the code of what is wrong; the parts stay."""
    pattern, part = r"\[(\d+):(\w+)\]", r"<Part><PartNumber>\1</PartNumber><ETag>\2</ETag></Part>"
    if body.startswith("["):
        body = f"<CompleteMultipartUpload>{re.sub(pattern, part, body)}</CompleteMultipartUpload>"

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(client)
        tag = (await send(client, upload, 1, b"0123456789")).headers["etag"]
        await send(client, upload, 2, b"0123456789")
        refused = await client.post(OBJECT, params={"uploadId": upload}, content=body)
        assert refusal(refused) == (400, code), refused.text
        assert (await complete(client, upload, [(1, tag)])).status_code == 200

    play(work)


def test_more_parts_than_an_upload_can_have_are_refused(play):
    """10,000; and each number is one from 1 to that."""

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(client)
        for number in (0, 10_001, "x", ""):
            assert refusal(await send(client, upload, number, b"x")) == (400, "InvalidArgument")
        assert (await send(client, upload, 10_000, b"x")).status_code == 200
        many = [(number, "x") for number in range(1, 10_002)]
        assert refusal(await complete(client, upload, many)) == (400, "InvalidArgument")

    play(work)


def test_each_part_but_the_last_has_five_mebibytes(play):
    """One byte fewer is refused."""

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(client)
        small = (await send(client, upload, 1, bytes(LARGE - 1))).headers["etag"]
        enough = (await send(client, upload, 2, bytes(LARGE))).headers["etag"]
        last = (await send(client, upload, 3, b"x")).headers["etag"]
        all_three = [(1, small), (2, enough), (3, last)]
        assert refusal(await complete(client, upload, all_three)) == (400, "EntityTooSmall")
        assert (await complete(client, upload, all_three[1:])).status_code == 200

    play(work)


def test_a_part_that_is_too_large_is_refused(play, monkeypatch: pytest.MonkeyPatch, tmp_path):
    """Nothing of it stays."""
    monkeypatch.setattr(multipart, "LARGEST_PART", 10)

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(client)
        assert refusal(await send(client, upload, 1, bytes(11))) == (400, "EntityTooLarge")
        assert (await send(client, upload, 1, bytes(10))).status_code == 200

    play(work)
    assert len([*(tmp_path / "storage/content").iterdir()]) == 2


@pytest.mark.parametrize("header", ["content_md5", "x_goog_hash"])
def test_a_part_that_was_damaged_on_its_way_is_refused(play, header):
    """As its hash says; the client asks for these three elements."""
    claim = {"content_md5": "AAAAAAAAAAAAAAAAAAAAAA==", "x_goog_hash": "crc32c=AAAAAA=="}[header]

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(client)
        refused = await send(client, upload, 1, b"0123456789", **{header: claim})
        assert refusal(refused) == (400, "BadDigest")
        assert found(refused.text, "Message")
        assert "match calculated" in found(refused.text, "Details")[0]
        assert "<Part>" not in await _text(client, f"{OBJECT}?uploadId={upload}")

    play(work)


def test_the_parts_of_an_upload_are_listed_in_pages(play):
    """By number; each with its size and tag."""

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(client)
        for number in (3, 1, 2):
            await send(client, upload, number, b"x" * number)
        text = await _text(client, f"{OBJECT}?uploadId={upload}&max-parts=2")
        assert (found(text, "PartNumber"), found(text, "Size")) == (["1", "2"], ["1", "2"])
        assert (found(text, "IsTruncated"), found(text, "NextPartNumberMarker")) == (["true"], ["2"])
        rest = await _text(client, f"{OBJECT}?uploadId={upload}&part-number-marker=2")
        assert (found(rest, "PartNumber"), found(rest, "IsTruncated")) == (["3"], ["false"])

    play(work)


def test_the_uploads_of_a_bucket_are_listed_in_pages(play):
    """By name, those of one name in the order of their beginnings; names are folded."""

    async def work(client: httpx.AsyncClient) -> None:
        ids = [await begin(client, f"/data/{name}") for name in ("b", "a/1", "a/2", "b")]
        whole = await _text(client, "/data?uploads")
        assert found(whole, "UploadId") == [ids[1], ids[2], ids[0], ids[3]]
        assert found(await _text(client, "/data?uploads&prefix=a/"), "Key") == ["a/1", "a/2"]
        seen, more = list[str](), ""
        while True:
            page = await _text(client, f"/data?uploads&max-uploads=1&delimiter=/{more}")
            assert len(found(page, "UploadId")) <= 1
            seen += found(page, "UploadId") or re.findall("<CommonPrefixes><Prefix>(.*?)</Prefix>", page)
            if found(page, "IsTruncated") == ["false"]:
                break
            key, upload = found(page, "NextKeyMarker"), found(page, "NextUploadIdMarker")
            more = f"&key-marker={key[0]}" + (f"&upload-id-marker={upload[0]}" if upload else "")
        assert seen == ["a/", ids[0], ids[3]]

    play(work)


def test_an_upload_is_of_its_object_alone(play):
    """And its id is needed: a stranger's page cannot guess it."""

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(client)
        query = {"partNumber": "1", "uploadId": upload}
        assert refusal(await client.put("/data/other", params=query, content=b"x")) == (404, "NoSuchUpload")
        assert refusal(await client.get(f"{OBJECT}?uploadId=x")) == (404, "NoSuchUpload")

    play(work)


@pytest.mark.parametrize("header", ["x-goog-acl", "x-goog-encryption-key", "x-goog-object-lock-mode"])
def test_a_header_that_is_not_done_is_refused_by_its_name(play, header):
    """501, before anything is begun."""

    async def work(client: httpx.AsyncClient) -> None:
        refused = await client.post(f"{OBJECT}?uploads", headers={header: "x"})
        assert (refusal(refused), header in refused.text) == ((501, "NotImplemented"), True)
        assert found(await _text(client, "/data?uploads"), "Key") == []

    play(work)


def test_a_bucket_goes_with_the_uploads_to_it(play, tmp_path):
    """Uploads under way do not keep it, and leave no file."""

    async def work(client: httpx.AsyncClient) -> None:
        upload = await begin(client)
        await send(client, upload, 1, b"x")
        await client.delete("/data/a/%C3%A9%201")
        assert (await client.delete("/storage/v1/b/data")).status_code == 204
        await client.post("/storage/v1/b?project=demo", json={"name": "data"})
        assert found(await _text(client, "/data?uploads"), "Key") == []

    play(work)
    assert [*(tmp_path / "storage/content").iterdir()] == []


async def _text(client: httpx.AsyncClient, path: str) -> str:
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text
