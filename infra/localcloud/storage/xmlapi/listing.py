"""Lists of objects of the XML API, of both versions ("List objects": `list-type` 2 goes on by a token)."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from localcloud.clock import rfc3339
from localcloud.errors import ApiError
from localcloud.http import RawRoute
from localcloud.storage.conditions import number
from localcloud.storage.etags import xml_tag
from localcloud.storage.index import load_blob
from localcloud.storage.listing import LARGEST_PAGE, ObjectPage, ObjectQuery, after, read_token, successor
from localcloud.storage.model import Blob
from localcloud.storage.store import Store
from localcloud.storage.xmlapi.documents import OBJECTS, Element, answer, encoded, given

SECOND = "2"


class XmlLists:
    """Lists the live objects of a bucket."""

    def __init__(self, *, store: Store) -> None:
        self._store = store

    def routes(self) -> list[RawRoute]:
        """Where `XmlPaths` sends them."""
        return [RawRoute("/storage/xml/objects/{bucket}", self._list, methods=["GET"])]

    async def _list(self, request: Request) -> Response:
        query, bucket = request.query_params, request.path_params["bucket"]
        if query.get("list-type", SECOND) != SECOND:
            raise ApiError(400, "invalid", f"Invalid argument: list-type is {query['list-type']!r}, not 2.")
        encoding = encoding_type(query)
        page = self._store.listing(bucket, _read(query))
        blobs = [load_blob(row) for row in page.rows]
        prefixes = [("Prefix", encoded(prefix, encoding)) for prefix in page.prefixes]
        head = _second(query, page, encoding) if "list-type" in query else _first(query, page, encoding)
        elements: list[Element] = [
            ("Name", bucket),
            ("Prefix", encoded(query.get("prefix", ""), encoding)),
            *head,
            *given(("Delimiter", encoded(query.get("delimiter", ""), encoding)), ("EncodingType", encoding)),
            ("IsTruncated", "true" if page.token else "false"),
            *(("Contents", _contents(blob, encoding)) for blob in blobs),
            *(("CommonPrefixes", [prefix]) for prefix in prefixes),
        ]
        return answer("ListBucketResult", OBJECTS, elements)


def encoding_type(query: Mapping[str, str]) -> str:
    """The parameter `encoding-type`: `url` or nothing; `ApiError` 400 for anything else."""
    asked = query.get("encoding-type", "")
    if asked not in ("", "url"):
        raise ApiError(400, "invalid", f"Invalid argument: encoding-type is {asked!r}, not url.")
    return asked


def most(query: Mapping[str, str], name: str) -> int:
    """How many entries are asked for at most: up to 1000, the default; `ApiError` 400 for no number."""
    asked = number(query, name)
    return LARGEST_PAGE if asked is None else min(asked, LARGEST_PAGE)


def _read(query: Mapping[str, str]) -> ObjectQuery:
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    token = query.get("continuation-token", "")
    marker = query.get("start-after", "") if "list-type" in query else query.get("marker", "")
    begun = read_token(token) if token else after(marker, prefix, delimiter)
    return ObjectQuery(
        prefix=prefix.encode(),
        delimiter=delimiter.encode(),
        start=max((prefix.encode(), 0), begun),
        end=successor(prefix.encode()) or None,
        limit=most(query, "max-keys"),
    )


def _first(query: Mapping[str, str], page: ObjectPage, encoding: str) -> list[Element]:
    marker = encoded(query.get("marker", ""), encoding)
    more = [("NextMarker", encoded(page.last, encoding))] if page.token else []
    return [("Marker", marker), *more]


def _second(query: Mapping[str, str], page: ObjectPage, encoding: str) -> list[Element]:
    return [
        *given(
            ("StartAfter", encoded(query.get("start-after", ""), encoding)),
            ("ContinuationToken", query.get("continuation-token", "")),
            ("NextContinuationToken", page.token),
        ),
        ("KeyCount", len(page.rows) + len(page.prefixes)),
    ]


def _contents(blob: Blob, encoding: str) -> list[Element]:
    return [
        ("Key", encoded(blob.name, encoding)),
        ("Generation", blob.generation),
        ("MetaGeneration", blob.metageneration),
        ("LastModified", rfc3339(blob.updated)),
        ("ETag", f'"{xml_tag(blob)}"'),
        ("Size", blob.content.size),
    ]
