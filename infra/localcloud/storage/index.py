"""What the service knows, in SQLite: one row a bucket, a generation, a resumable upload, a notification.

Names are kept as UTF-8 bytes, so that SQLite's order is the API's. Write-ahead logging lets a commit
survive the death of the process at any instruction.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from localcloud.storage.model import Blob, Bucket, Session, StorageSubscription
from localcloud.storage.multiparts import Multiparts

SCHEMA = """
CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS bucket (name TEXT PRIMARY KEY, row BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS blob (
    bucket TEXT, name BLOB, generation INTEGER, live INTEGER NOT NULL, file TEXT NOT NULL, row BLOB NOT NULL,
    PRIMARY KEY (bucket, name, generation)
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS blob_live ON blob (bucket, name) WHERE live;
CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, file TEXT NOT NULL, row BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS subscription (
    bucket TEXT, id TEXT, row BLOB NOT NULL, PRIMARY KEY (bucket, id)
);
"""

AFTER_ALL = b"\xff"
"""Higher than every name: no UTF-8 text has this byte."""

Row = TypeVar("Row")


class StateInUseError(RuntimeError):
    """The state folder belongs to a local cloud that is running."""


class Index:
    """The tables of one state folder. Every call is complete when it returns."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, timeout=0, check_same_thread=False)
        try:
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(SCHEMA)
            self.multiparts = Multiparts(self._db)
        except sqlite3.OperationalError as error:
            self._db.close()
            if "locked" not in str(error):
                raise
            message = (
                f"{path.parent} is in use by another local cloud: stop that one or choose another folder."
            )
            raise StateInUseError(message) from error

    def close(self) -> None:
        """Let go of the files."""
        self._db.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what is done in this block happen as a whole or not at all."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def next_number(self, counter: str, least: int) -> int:
        """The next value of a counter: at least `least`, and higher than every one before, for ever."""
        row = self._db.execute(
            "INSERT INTO counter VALUES (?1, ?2) "
            "ON CONFLICT DO UPDATE SET value = max(value + 1, ?2) RETURNING value",
            (counter, least),
        ).fetchone()
        return int(row[0])

    def next_generation(self, now: datetime) -> int:
        """A generation for an object or bucket: microseconds of the epoch, made unique and increasing."""
        return self.next_number("generation", int(now.timestamp() * 1_000_000))

    # Buckets

    def buckets(self) -> list[Bucket]:
        """Every bucket, by name."""
        return self._all(Bucket, "SELECT row FROM bucket ORDER BY name")

    def bucket(self, name: str) -> Bucket | None:
        """The bucket of that name."""
        return self._one(Bucket, "SELECT row FROM bucket WHERE name = ?", name)

    def put_bucket(self, bucket: Bucket) -> None:
        """Write a bucket, new or changed."""
        self._db.execute("INSERT OR REPLACE INTO bucket VALUES (?, ?)", (bucket.name, _dump(bucket)))

    def drop_bucket(self, name: str) -> None:
        """Forget a bucket, its notifications, and the multipart uploads to it."""
        self._db.execute("DELETE FROM bucket WHERE name = ?", (name,))
        self.multiparts.drop_bucket(name)
        self._db.execute("DELETE FROM subscription WHERE bucket = ?", (name,))

    # Objects

    def live(self, bucket: str, name: str) -> Blob | None:
        """The live generation of an object."""
        query = "SELECT row FROM blob WHERE bucket = ? AND name = ? AND live"
        return self._one(Blob, query, bucket, _key(name))

    def version(self, bucket: str, name: str, generation: int) -> Blob | None:
        """One generation of an object, live or not."""
        query = "SELECT row FROM blob WHERE bucket = ? AND name = ? AND generation = ?"
        return self._one(Blob, query, bucket, _key(name), generation)

    def put_blob(self, blob: Blob) -> None:
        """Write a generation, new or changed."""
        row = (
            blob.bucket,
            _key(blob.name),
            blob.generation,
            not blob.deleted,
            blob.content.file,
            _dump(blob),
        )
        self._db.execute("INSERT OR REPLACE INTO blob VALUES (?, ?, ?, ?, ?, ?)", row)

    def drop_blob(self, blob: Blob) -> None:
        """Forget a generation."""
        query = "DELETE FROM blob WHERE bucket = ? AND name = ? AND generation = ?"
        self._db.execute(query, (blob.bucket, _key(blob.name), blob.generation))

    def scan(
        self, bucket: str, start: tuple[bytes, int], end: bytes | None = None, *, versions: bool = False
    ) -> Iterator[tuple[bytes, int, bytes]]:
        """Name, generation and encoded row, from `start` (name, generation) to before the name `end`."""
        query = "SELECT name, generation, row FROM blob WHERE bucket = ?1 AND (name, generation) >= (?2, ?3)"
        query += " AND name < ?4" + ("" if versions else " AND live") + " ORDER BY name, generation"
        yield from self._db.execute(query, (bucket, *start, end or AFTER_ALL))

    def blobs(self) -> Iterator[Blob]:
        """Every generation of every object."""
        for (row,) in self._db.execute("SELECT row FROM blob"):
            yield load_blob(row)

    def totals(self) -> dict[str, tuple[int, int]]:
        """For each bucket that is not empty: how many live objects, how many bytes."""
        query = "SELECT bucket, count(*), sum(row ->> '$.content.size') FROM blob WHERE live GROUP BY bucket"
        return {bucket: (count, size) for bucket, count, size in self._db.execute(query)}

    # Resumable uploads

    def session(self, session_id: str) -> Session | None:
        """The upload of that id."""
        return self._one(Session, "SELECT row FROM session WHERE id = ?", session_id)

    def put_session(self, session: Session) -> None:
        """Write an upload, new or changed; once done it has no file of its own any more."""
        file = "" if session.done else session.file
        self._db.execute(
            "INSERT OR REPLACE INTO session VALUES (?, ?, ?)", (session.id, file, _dump(session))
        )

    def drop_session(self, session_id: str) -> None:
        """Forget an upload."""
        self._db.execute("DELETE FROM session WHERE id = ?", (session_id,))

    def sessions(self) -> list[Session]:
        """Every upload, done or not."""
        return self._all(Session, "SELECT row FROM session")

    def files(self) -> Iterator[str]:
        """Every content file that a row names."""
        for (file,) in self._db.execute("SELECT file FROM blob UNION SELECT file FROM session"):
            yield file
        yield from self.multiparts.files()

    # Notifications

    def subscriptions(self, bucket: str) -> list[StorageSubscription]:
        """The notification configurations of a bucket, oldest first."""
        query = "SELECT row FROM subscription WHERE bucket = ? ORDER BY CAST(id AS INTEGER)"
        return self._all(StorageSubscription, query, bucket)

    def put_subscription(self, subscription: StorageSubscription) -> None:
        """Write a notification configuration."""
        row = (subscription.bucket, subscription.id, _dump(subscription))
        self._db.execute("INSERT INTO subscription VALUES (?, ?, ?)", row)

    def drop_subscription(self, bucket: str, subscription_id: str) -> bool:
        """Forget a notification configuration; False when there was none."""
        query = "DELETE FROM subscription WHERE bucket = ? AND id = ?"
        return self._db.execute(query, (bucket, subscription_id)).rowcount > 0

    def _all(self, kind: type[Row], query: str, *values: object) -> list[Row]:
        return [msgspec.json.decode(row, type=kind) for (row,) in self._db.execute(query, values)]

    def _one(self, kind: type[Row], query: str, *values: object) -> Row | None:
        found = self._db.execute(query, values).fetchone()
        return None if found is None else msgspec.json.decode(found[0], type=kind)


def load_blob(row: bytes) -> Blob:
    """Decode what `scan` yields."""
    return msgspec.json.decode(row, type=Blob)


def _dump(value: object) -> bytes:
    return msgspec.json.encode(value)


def _key(name: str) -> bytes:
    return name.encode()
