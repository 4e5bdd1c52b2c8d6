"""Lists of objects of the XML API, of both versions."""

import re
from itertools import pairwise
from xml.sax.saxutils import unescape

import httpx
import pytest

NAMES = ("a/1", "a/2", "b & <c>", "d", "ü")


async def fill(client: httpx.AsyncClient, names: tuple[str, ...] = NAMES) -> None:
    """Make these objects instead of the one that there is."""
    await client.delete("/data/a/%C3%A9%201")
    for name in names:
        query = {"uploadType": "media", "name": name}
        made = await client.post("/upload/storage/v1/b/data/o", params=query, content=b"content")
        assert made.status_code == 200


async def listed(client: httpx.AsyncClient, **query: str) -> str:
    """A list as it comes."""
    answer = await client.get("/data", params={name.replace("_", "-"): text for name, text in query.items()})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/xml; charset=UTF-8")
    return answer.text


def found(text: str, tag: str) -> list[str]:
    """What the elements of this tag hold, as text."""
    return [unescape(held) for held in re.findall(f"<{tag}>([^<]*)</{tag}>", text)]


def test_an_object_is_told_as_the_xml_api_tells_it(play):
    """Its entity tag is the MD5 hash in hex, in quotation marks, as in the header of the object itself."""

    async def work(client: httpx.AsyncClient) -> None:
        await fill(client, ("d",))
        text = await listed(client)
        assert text.startswith(
            "<?xml version='1.0' encoding='UTF-8'?>"
            "<ListBucketResult xmlns='http://doc.s3.amazonaws.com/2006-03-01'>"
            "<Name>data</Name><Prefix/><Marker/><IsTruncated>false</IsTruncated><Contents><Key>d</Key>"
        )
        [tag], [generation] = found(text, "ETag"), found(text, "Generation")
        assert (tag, found(text, "Size")) == ('"9a0364b9e99bb480dd25e1f0284c8555"', ["7"])
        told = await client.get("/data/d")
        assert (told.headers["etag"], told.headers["x-goog-generation"]) == (tag, generation)
        assert (await client.get("/data/d", headers={"if-none-match": tag})).status_code == 304

    play(work)


def test_an_object_without_an_md5_hash_has_another_tag(play):
    """Of a composite it begins with a minus, and is no hash."""

    async def work(client: httpx.AsyncClient) -> None:
        await fill(client, ("d",))
        sources = {"sourceObjects": [{"name": "d"}, {"name": "d"}]}
        made = (await client.post("/storage/v1/b/data/o/d/compose", json=sources)).json()
        assert found(await listed(client), "ETag") == [f'"-{made["etag"]}"']

    play(work)


@pytest.mark.parametrize("version", [{}, {"list_type": "2"}])
@pytest.mark.parametrize(
    ("query", "keys", "prefixes"),
    [
        ({}, ["a/1", "a/2", "b & <c>", "d", "ü"], []),
        ({"prefix": "a/"}, ["a/1", "a/2"], []),
        ({"delimiter": "/"}, ["b & <c>", "d", "ü"], ["a/"]),
        ({"prefix": "a/", "delimiter": "/"}, ["a/1", "a/2"], []),
        ({"encoding_type": "url"}, ["a/1", "a/2", "b%20%26%20%3Cc%3E", "d", "%C3%BC"], []),
        ({"max_keys": "0"}, [], []),
    ],
)
def test_a_list_is_narrowed_and_folded(play, version, query, keys, prefixes):
    """By prefix and delimiter, in the order of names."""

    async def work(client: httpx.AsyncClient) -> None:
        await fill(client)
        text = await listed(client, **version, **query)
        assert found(text, "Key") == keys
        assert re.findall("<CommonPrefixes><Prefix>([^<]*)</Prefix></CommonPrefixes>", text) == prefixes
        if version:
            assert found(text, "KeyCount") == [str(len(keys) + len(prefixes))]

    play(work)


@pytest.mark.parametrize(
    ("version", "marker", "following"),
    [({}, "marker", "NextMarker"), ({"list_type": "2"}, "continuation_token", "NextContinuationToken")],
)
@pytest.mark.parametrize("delimiter", ["", "/"])
def test_pages_follow_each_other_without_a_gap(play, version, marker, following, delimiter):
    """Also where a page ends with a prefix."""

    async def work(client: httpx.AsyncClient) -> list[str]:
        await fill(client)
        seen, at = list[str](), {}
        while True:
            text = await listed(client, **version, **at, max_keys="1", delimiter=delimiter)
            seen += found(text, "Key") + found(text, "Prefix")
            if found(text, "IsTruncated") == ["false"]:
                return seen
            at = {marker: found(text, following)[0]}

    whole = ["a/", "b & <c>", "d", "ü"] if delimiter else list(NAMES)
    assert play(work) == whole
    assert all(before < then for before, then in pairwise(whole))


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ({"marker": "a/1"}, ["a/2", "b & <c>", "d", "ü"]),
        ({"list_type": "2", "start_after": "b"}, ["b & <c>", "d", "ü"]),
        ({"list_type": "2", "start_after": "a/1", "prefix": "a/"}, ["a/2"]),
    ],
)
def test_a_list_begins_after_a_name(play, query, keys):
    """That name is not in it."""

    async def work(client: httpx.AsyncClient) -> None:
        await fill(client)
        assert found(await listed(client, **query), "Key") == keys

    play(work)


@pytest.mark.parametrize(
    "query",
    [
        {"list-type": "3"},
        {"encoding-type": "base64"},
        {"max-keys": "many"},
        {"list-type": "2", "continuation-token": "x"},
    ],
)
def test_what_makes_no_sense_is_refused_in_xml(play, query):
    """400, with a code, its meaning and what was wrong."""

    async def work(client: httpx.AsyncClient) -> None:
        answer = await client.get("/data", params=query)
        assert answer.status_code == 400
        assert answer.headers["content-type"] == "application/xml; charset=UTF-8"
        assert found(answer.text, "Code") == ["InvalidArgument"]
        assert found(answer.text, "Details") != []

    play(work)
