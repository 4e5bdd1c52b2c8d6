"""One try of each call on a bucket, through google-cloud-storage; `storage` decides what to try again.

Google's own retries are off for all that writes: after a lost answer they would send the same condition
again and report our own success as somebody else's.
"""

import base64
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any

import google_crc32c
import msgspec
from google.api_core.exceptions import BadRequest, NotFound, PreconditionFailed, from_http_response
from google.cloud import storage
from google.cloud.storage.exceptions import DataCorruption

from spotwarden import typed
from spotwarden.gcp.errors import is_unanswered, unanswered
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.session import settle
from spotwarden.ports import SHOWN_AT_MOST, BrokenError, ConflictError, UnansweredError

Blob = Any
"""`google.cloud.storage.Blob`; the library publishes no types."""

WRITTEN_BY = "spotwarden-write"
"""Custom metadata of each object we write: a word that only that one write knows."""

CONTENT = "spotwarden-content"
"""The same of what listings are to show: the object's own text."""
A_BATCH = 100
"""Calls that Cloud Storage takes in one batch (Google: "Batching requests")."""


class ListedRow(msgspec.Struct, frozen=True):
    """One object as a listing shows it, as far as it was asked for.

    The library's own object for it takes ten times as long, and copies its metadata at each question.
    """

    name: str
    generation: int = 0
    updated: datetime | None = None
    size: int = 0
    metadata: Mapping[str, str] = {}
    crc32c: str | None = None


typed.prepare(ListedRow)


class ObjectDoor:
    """One bucket. Safe to use from several threads; `close` gives its connections back."""

    def __init__(self, *, project: str, bucket: str, retry_policy: RetryPolicy) -> None:
        self._project = project
        self._bucket_name = bucket
        self._retry_policy = retry_policy

    @cached_property
    def _client(self) -> storage.Client:
        client = storage.Client(project=self._project)
        settle(client._http, client.api_endpoint)  # noqa: SLF001 - it offers no other way to its session
        return client

    def blob(self, name: str, generation: int | None = None) -> Blob:
        """The library's own object of this name; nothing is asked."""
        return self._client.bucket(self._bucket_name).blob(name, generation=generation)

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        if "_client" in self.__dict__:
            self._client.close()

    def rows(self, **how: object) -> Any:
        """A listing of `ListedRow`, each page asked for again while it is not answered."""
        rows = self._client.list_blobs(
            self._bucket_name,
            timeout=self._retry_policy.timeouts,
            retry=self._retry_policy.retry(is_unanswered),
            **how,
        )
        rows.item_to_value = _listed
        return rows

    def find(self, name: str) -> Blob | None:
        """The object's metadata; None where there is no such object."""
        blob = self.blob(name)
        try:
            with unanswered():
                blob.reload(timeout=self._retry_policy.timeouts, retry=None)
        except NotFound as error:
            _raise_without_bucket(error)
            return None
        return blob

    def download(self, blob: Blob, at_most: int) -> bytes:
        """The content of the generation that `blob` was found at.

        Raises:
            BrokenError: it unpacks to more than `at_most` bytes, or it cannot be read at all: it is
                encrypted with a key that only its writer has.
            UnansweredError: the generation is there no more, or its bytes arrived damaged.
        """
        try:
            return self._content(blob, at_most)
        except NotFound as error:
            raise UnansweredError(f"{blob.name} changed while it was read") from error

    def _content(self, blob: Blob, at_most: int, **only: int) -> bytes:
        sink = _Sink(blob.name, at_most)
        try:
            with unanswered():
                blob.download_to_file(sink, timeout=self._retry_policy.timeouts, retry=None, **only)
        except BadRequest as error:
            raise BrokenError(f"{blob.name} cannot be read: {error.message}") from error
        except DataCorruption as error:
            raise UnansweredError(f"{blob.name} arrived damaged: {error}") from error
        return sink.getvalue()

    def download_current(self, name: str, generation: int, at_most: int) -> bytes | None:
        """The content of this generation, as long as it is the current one; None where it is not any more.

        Raises:
            BrokenError, UnansweredError: as `download`.
        """
        try:
            return self._content(self.blob(name), at_most, if_generation_match=generation)
        except (NotFound, PreconditionFailed) as error:
            _raise_without_bucket(error)
            return None

    def upload(
        self, name: str, data: bytes, *, generation: int | None, kind: str, word: str, shown: bool = False
    ) -> int:
        """Write, marked with `word`, and return the new generation; `ConflictError`."""
        blob = self.blob(name)
        blob.metadata = {WRITTEN_BY: word, **(_beside(data) if shown else {})}
        with _conditional(name, generation):
            blob.upload_from_string(
                data,
                content_type=kind,
                if_generation_match=generation,
                timeout=self._retry_policy.timeouts,
                retry=None,
            )
        return int(blob.generation)

    def delete(self, name: str, *, generation: int) -> bool:
        """Delete; False where there is nothing to delete, `ConflictError` where it is newer."""
        try:
            with _conditional(name, generation):
                self.blob(name).delete(
                    if_generation_match=generation, timeout=self._retry_policy.timeouts, retry=None
                )
        except NotFound as error:
            _raise_without_bucket(error)
            return False
        return True

    def delete_all(self, generations: Mapping[str, int]) -> Mapping[str, Exception]:
        """Delete at most `A_BATCH` generations in one call; gives by name what went wrong with it.

        Raises:
            UnansweredError: nobody knows what became of any of them.
        """
        try:
            with unanswered(), self._client.batch(raise_exception=False) as batch:
                for name, generation in generations.items():
                    self.blob(name).delete(
                        if_generation_match=generation, timeout=self._retry_policy.timeouts, retry=None
                    )
        except ValueError as error:
            raise UnansweredError(f"the answer to a batch of deletes cannot be read: {error}") from error
        answers = batch._responses  # noqa: SLF001 - where its documentation has them read
        return {
            name: problem
            for name, answer in zip(generations, answers, strict=True)
            if (problem := _went_wrong(answer)) is not None
        }


def _listed(_rows: object, item: Mapping[str, Any]) -> ListedRow:
    """A row as Google writes it; numbers of 64 bits come as text."""
    return typed.convert(item, ListedRow, strict=False)


def _went_wrong(answer: Any) -> Exception | None:
    """Why one part of a batch of deletes was not carried out; None where it was, or is gone or newer."""
    if answer.ok or answer.status_code == HTTPStatus.PRECONDITION_FAILED:
        return None
    error = from_http_response(answer)
    if is_unanswered(error):
        return UnansweredError(f"{type(error).__name__}: {error}")
    gone = isinstance(error, NotFound) and "bucket does not exist" not in error.message
    return None if gone else error


class _Sink(io.BytesIO):
    """Takes in at most so many bytes; a compressed object says nothing of what it unpacks to."""

    def __init__(self, name: str, at_most: int) -> None:
        super().__init__()
        self._name = name
        self._at_most = at_most

    def write(self, data: bytes) -> int:  # type: ignore[override]  # bytes are all that is written to it
        """Take the bytes in; `BrokenError` where they are too many."""
        check_size(self._name, self.tell() + len(data), self._at_most)
        return super().write(data)


def check_size(name: str, size: int, at_most: int) -> None:
    """Refuse an object of more than `at_most` bytes with `BrokenError`."""
    if size > at_most:
        raise BrokenError(f"{name} has {size} bytes or more; at most {at_most} are read")


def _beside(data: bytes) -> dict[str, str]:
    """The content as metadata, if it is short and text."""
    if len(data) > SHOWN_AT_MOST:
        return {}
    try:
        return {CONTENT: data.decode()}
    except UnicodeDecodeError:
        return {}


def shown_content(said: Mapping[str, str], checksum: str | None) -> bytes | None:
    """What an object's metadata shows of its content; None where it shows none, or another's.

    Metadata can be changed without the object: so it must have the object's checksum.
    """
    text = said.get(CONTENT)
    if text is None:
        return None
    data: bytes = text.encode()
    same = base64.b64encode(google_crc32c.value(data).to_bytes(4, "big")).decode() == checksum
    return data if same else None


@contextmanager
def _conditional(name: str, generation: int | None) -> Iterator[None]:
    try:
        with unanswered():
            yield
    except PreconditionFailed as error:
        raise ConflictError(f"{name} is not at generation {generation}") from error


def _raise_without_bucket(error: NotFound | PreconditionFailed) -> None:
    """A bucket that is not there must not look like a bucket without objects."""
    if "bucket does not exist" in error.message:
        raise error
