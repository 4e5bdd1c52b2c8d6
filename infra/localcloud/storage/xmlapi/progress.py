"""Lists of the multipart uploads of a bucket that are under way, and of the parts of one of them."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from localcloud.clock import rfc3339
from localcloud.http import RawRoute
from localcloud.storage.conditions import number
from localcloud.storage.listing import ObjectQuery, Place, after, list_page, successor
from localcloud.storage.model import MultipartUpload, UploadPart
from localcloud.storage.store import Store
from localcloud.storage.xmlapi.documents import UPLOADS, Element, answer, encoded, given
from localcloud.storage.xmlapi.listing import encoding_type, most
from localcloud.storage.xmlapi.multipart import find_upload, part_tag


class XmlProgress:
    """Tells how far multipart uploads are."""

    def __init__(self, *, store: Store) -> None:
        self._store = store

    def routes(self) -> list[RawRoute]:
        """Where `XmlPaths` sends them."""
        return [
            RawRoute("/storage/xml/uploads/{bucket}", self._uploads, methods=["GET"]),
            RawRoute("/storage/xml/parts/{bucket}/{object}", self._parts, methods=["GET"]),
        ]

    async def _uploads(self, request: Request) -> Response:
        query, bucket = request.query_params, request.path_params["bucket"]
        encoding = encoding_type(query)
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        marker, upload_marker = query.get("key-marker", ""), query.get("upload-id-marker", "")
        asked = ObjectQuery(
            prefix=prefix.encode(),
            delimiter=delimiter.encode(),
            start=max((prefix.encode(), 0), self._after(marker, upload_marker, prefix, delimiter)),
            end=successor(prefix.encode()) or None,
            versions=True,
            limit=most(query, "max-uploads"),
        )
        self._store.buckets.get(bucket)
        page = list_page(lambda start, end: self._store.index.multiparts.scan(bucket, start, end), asked)
        uploads = [msgspec.json.decode(row, type=MultipartUpload) for row in page.rows]
        at_row = bool(uploads) and uploads[-1].name == page.last
        following: list[Element] = [
            ("NextKeyMarker", encoded(page.last, encoding)),
            ("NextUploadIdMarker", uploads[-1].id if at_row else ""),
        ]
        elements: list[Element] = [
            ("Bucket", bucket),
            ("KeyMarker", encoded(marker, encoding)),
            ("UploadIdMarker", upload_marker),
            *(following if page.token else ()),
            *given(("Delimiter", encoded(delimiter, encoding)), ("EncodingType", encoding)),
            ("Prefix", encoded(prefix, encoding)),
            ("MaxUploads", asked.limit),
            ("IsTruncated", "true" if page.token else "false"),
            *(("Upload", _upload(upload, encoding)) for upload in uploads),
            *(("CommonPrefixes", [("Prefix", encoded(name, encoding))]) for name in page.prefixes),
        ]
        return answer("ListMultipartUploadsResult", UPLOADS, elements)

    def _after(self, marker: str, upload_marker: str, prefix: str, delimiter: str) -> Place:
        """After the upload that is named, else after all of that name."""
        upload = self._store.index.multiparts.upload(upload_marker)
        if upload is not None and upload.name == marker:
            return upload.name.encode(), upload.number + 1
        return after(marker, prefix, delimiter)

    async def _parts(self, request: Request) -> Response:
        query, upload = request.query_params, find_upload(self._store, request)
        encoding, limit = encoding_type(query), most(query, "max-parts")
        marker = number(query, "part-number-marker") or 0
        found = self._store.index.multiparts.parts(upload.id, after=marker, limit=limit + 1)
        shown = found[:limit]
        more = len(found) > limit
        elements: list[Element] = [
            ("Bucket", upload.bucket),
            ("Key", encoded(upload.name, encoding)),
            ("UploadId", upload.id),
            *given(("EncodingType", encoding)),
            ("StorageClass", upload.fields.get("storageClass", "STANDARD")),
            ("PartNumberMarker", marker),
            *([("NextPartNumberMarker", shown[-1].number)] if more and shown else ()),
            ("MaxParts", limit),
            ("IsTruncated", "true" if more else "false"),
            *(("Part", _part(part)) for part in shown),
        ]
        return answer("ListPartsResult", UPLOADS, elements)


def _upload(upload: MultipartUpload, encoding: str) -> list[Element]:
    return [
        ("Key", encoded(upload.name, encoding)),
        ("UploadId", upload.id),
        ("StorageClass", upload.fields.get("storageClass", "STANDARD")),
        ("Initiated", rfc3339(upload.created)),
    ]


def _part(part: UploadPart) -> list[Element]:
    return [
        ("PartNumber", part.number),
        ("LastModified", rfc3339(part.written)),
        ("ETag", f'"{part_tag(part)}"'),
        ("Size", part.content.size),
    ]
