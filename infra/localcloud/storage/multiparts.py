"""Multipart uploads of the XML API that are under way, and their parts: two tables of the index."""

import sqlite3
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from localcloud.storage.model import Content, MultipartUpload, UploadPart

SCHEMA = """
CREATE TABLE IF NOT EXISTS multipart (
    bucket TEXT, name BLOB, number INTEGER, id TEXT UNIQUE NOT NULL, row BLOB NOT NULL,
    PRIMARY KEY (bucket, name, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS part (
    upload TEXT, number INTEGER, file TEXT NOT NULL, row BLOB NOT NULL, PRIMARY KEY (upload, number)
) WITHOUT ROWID;
"""

_AFTER_ALL = b"\xff"
Row = TypeVar("Row")


class Multiparts:
    """The tables. Every call is complete when it returns, or with the transaction that it is part of."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database
        self._db.executescript(SCHEMA)

    def upload(self, upload_id: str) -> MultipartUpload | None:
        """The upload of that id."""
        return self._one(MultipartUpload, "SELECT row FROM multipart WHERE id = ?", upload_id)

    def put_upload(self, upload: MultipartUpload) -> None:
        """Write a new upload."""
        row = (upload.bucket, upload.name.encode(), upload.number, upload.id, msgspec.json.encode(upload))
        self._db.execute("INSERT INTO multipart VALUES (?, ?, ?, ?, ?)", row)

    def drop_upload(self, upload_id: str) -> None:
        """Forget an upload and its parts."""
        self._db.execute("DELETE FROM multipart WHERE id = ?", (upload_id,))
        self._db.execute("DELETE FROM part WHERE upload = ?", (upload_id,))

    def drop_bucket(self, bucket: str) -> None:
        """Forget every upload to a bucket."""
        query = "DELETE FROM part WHERE upload IN (SELECT id FROM multipart WHERE bucket = ?)"
        self._db.execute(query, (bucket,))
        self._db.execute("DELETE FROM multipart WHERE bucket = ?", (bucket,))

    def scan(
        self, bucket: str, start: tuple[bytes, int], end: bytes | None = None
    ) -> Iterator[tuple[bytes, int, bytes]]:
        """Name, number and encoded row of the uploads to a bucket, as `Index.scan` has those of objects."""
        query = "SELECT name, number, row FROM multipart WHERE bucket = ?1 AND (name, number) >= (?2, ?3)"
        query += " AND name < ?4 ORDER BY name, number"
        yield from self._db.execute(query, (bucket, *start, end or _AFTER_ALL))

    def part(self, upload_id: str, number: int) -> UploadPart | None:
        """One part."""
        query = "SELECT row FROM part WHERE upload = ? AND number = ?"
        return self._one(UploadPart, query, upload_id, number)

    def parts(self, upload_id: str, *, after: int = 0, limit: int = -1) -> list[UploadPart]:
        """The parts of an upload after that number, in their order."""
        query = "SELECT row FROM part WHERE upload = ? AND number > ? ORDER BY number LIMIT ?"
        rows = self._db.execute(query, (upload_id, after, limit))
        return [msgspec.json.decode(row, type=UploadPart) for (row,) in rows]

    def put_part(self, part: UploadPart) -> None:
        """Write a part, new or in place of one."""
        row = (part.upload, part.number, part.content.file, msgspec.json.encode(part))
        self._db.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?)", row)

    def drop_lost(self, intact: Callable[[Content], bool]) -> None:
        """Forget the parts whose content a crash has lost."""
        rows = self._db.execute("SELECT row FROM part").fetchall()
        for part in (msgspec.json.decode(row, type=UploadPart) for (row,) in rows):
            if not intact(part.content):
                query = "DELETE FROM part WHERE upload = ? AND number = ?"
                self._db.execute(query, (part.upload, part.number))

    def files(self, bucket: str = "") -> Iterator[str]:
        """Every content file of a part, or of those for one bucket."""
        query = (
            "SELECT part.file FROM part JOIN multipart ON part.upload = multipart.id "
            "WHERE ?1 IN ('', multipart.bucket)"
        )
        for (file,) in self._db.execute(query, (bucket,)):
            yield file

    def _one(self, kind: type[Row], query: str, *values: object) -> Row | None:
        found = self._db.execute(query, values).fetchone()
        return None if found is None else msgspec.json.decode(found[0], type=kind)
