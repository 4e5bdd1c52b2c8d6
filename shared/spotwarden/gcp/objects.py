"""One try of each call on a bucket; `storage` decides what to try again.

Small objects, and lists of them, are asked for as the API's reference has it ("JSON API overview"). What
google-cloud-storage puts around a call takes more processor time than all the rest of it; whole files
(`transfers`) go through it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec
from google.api_core.exceptions import BadRequest, NotFound, PreconditionFailed

from spotwarden import typed
from spotwarden.gcp.authorized import Answered, Authorized
from spotwarden.gcp.errors import call_error, unanswered
from spotwarden.gcp.object_batches import came_of, in_one_call
from spotwarden.gcp.object_bodies import PACKED, in_one_body, whole_content
from spotwarden.gcp.rest import agent, kept_service
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.ports import BrokenError, ConflictError, UnansweredError

GOOGLE = "https://storage.googleapis.com"
EMULATOR = "STORAGE_EMULATOR_HOST"
"""Where another server stands than Google's, as its own libraries read it; it is asked without a token."""

Kind = TypeVar("Kind")
_FIELDS = "name,generation,updated,size,metadata,crc32c"


class ListedRow(msgspec.Struct, frozen=True):
    """One object, as far as it was asked for."""

    name: str
    generation: int = 0
    updated: datetime = datetime.min.replace(tzinfo=UTC)
    size: int = 0
    metadata: Mapping[str, str] = {}
    crc32c: str | None = None


class _Written(msgspec.Struct, frozen=True):
    generation: int


class ListedPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of a list: objects, and folders where such were asked for."""

    items: Sequence[ListedRow] = ()
    prefixes: Sequence[str] = ()
    next_page_token: str = ""


typed.prepare(ListedRow, ListedPage, _Written, strict=False)


class ObjectDoor:
    """One bucket. Safe to use from several threads; `close` gives its connections back."""

    def __init__(self, *, bucket: str, retry_policy: RetryPolicy) -> None:
        self.bucket = bucket
        self._retry_policy = retry_policy
        self._objects = f"/storage/v1/b/{quote(bucket, safe='')}/o"

    @cached_property
    def _service(self) -> Authorized:
        emulator = os.environ.get(EMULATOR, "").rstrip("/")
        return kept_service(emulator or GOOGLE, agent(os.environ), anonymous=bool(emulator))

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        if "_service" in self.__dict__:
            self._service.close()

    def pages(self, *, limit: int | None = None, **query: str) -> Iterator[ListedPage]:
        """A list, each page asked for again while it is not answered; at most so many objects in all."""
        left, token = limit, ""
        while True:
            asked = {**query, "maxResults": str(left)} if left is not None else query
            path = self._path(self._objects, **asked, pageToken=token)
            ask = partial(self._asked, "GET", path, timeout=self._retry_policy.answer)
            page = _decoded(self._retry_policy.insist(ask), ListedPage)
            yield page
            token = page.next_page_token
            left = None if left is None else left - len(page.items)
            if not token or (left is not None and left <= 0):
                return

    def rows(self, *, limit: int | None = None, **query: str) -> Iterator[ListedRow]:
        """The objects of a list, as `pages`."""
        for page in self.pages(limit=limit, **query):
            yield from page.items

    def find(self, name: str) -> ListedRow | None:
        """The object's metadata; None where there is no such object."""
        try:
            answer = self._asked("GET", self._path(self._of(name), fields=_FIELDS))
        except NotFound as error:
            _raise_without_bucket(error)
            return None
        return _decoded(answer, ListedRow)

    def download(self, found: ListedRow, at_most: int) -> bytes:
        """The content of the generation that was found.

        Raises:
            BrokenError: it unpacks to more than `at_most` bytes, or it cannot be read at all: it is
                encrypted with a key that only its writer has.
            UnansweredError: the generation is there no more, or its bytes arrived damaged.
        """
        try:
            return self._content(found.name, at_most, generation=str(found.generation))
        except NotFound as error:
            raise UnansweredError(f"{found.name} changed while it was read") from error

    def _content(self, name: str, at_most: int, **only: str) -> bytes:
        path = self._path(f"/download{self._of(name)}", alt="media", **only)
        try:
            answer = self._asked("GET", path, headers=PACKED, at_most=at_most)
        except BadRequest as error:
            raise BrokenError(f"{name} cannot be read: {error}") from error
        return whole_content(name, answer, at_most)

    def download_current(self, name: str, generation: int, at_most: int) -> bytes | None:
        """The content of this generation, as long as it is the current one; None where it is not any more.

        Raises:
            BrokenError, UnansweredError: as `download`.
        """
        try:
            return self._content(name, at_most, ifGenerationMatch=str(generation))
        except (NotFound, PreconditionFailed) as error:
            _raise_without_bucket(error)
            return None

    def upload(
        self, name: str, data: bytes, *, generation: int | None, kind: str, word: str, shown: bool = False
    ) -> int:
        """Write, marked with `word`, and return the new generation; `ConflictError`."""
        body, headers = in_one_body(name, data, kind=kind, word=word, shown=shown)
        path = self._path(
            f"/upload{self._objects}",
            uploadType="multipart",
            fields="generation",
            ifGenerationMatch="" if generation is None else str(generation),
        )
        with _conditional(name, generation):
            answer = self._asked("POST", path, headers=headers, body=body)
        return _decoded(answer, _Written).generation

    def delete(self, name: str, *, generation: int) -> bool:
        """Delete; False where there is nothing to delete, `ConflictError` where it is newer."""
        try:
            with _conditional(name, generation):
                self._asked("DELETE", self._path(self._of(name), ifGenerationMatch=str(generation)))
        except NotFound as error:
            _raise_without_bucket(error)
            return False
        return True

    def _of(self, name: str) -> str:
        return f"{self._objects}/{quote(name, safe='')}"

    def _path(self, path: str, **query: str) -> str:
        given = {key: value for key, value in query.items() if value}
        return f"{path}?{urlencode({**given, 'prettyPrint': 'false'})}"

    def _asked(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        at_most: int | None = None,
        timeout: timedelta | None = None,
    ) -> Answered:
        """An answer that is a success; every other rises as google-cloud-storage words it."""
        connect, _ = self._retry_policy.timeouts
        patience = (connect, (timeout or self._retry_policy.small_answer).total_seconds())
        with unanswered():
            answer = self._service.request(method, path, body, headers or {}, patience, at_most=at_most)
            if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
                asked = f"{method} {self._service.url}{path.partition('?')[0]}"
                raise call_error(asked, answer.status, answer.content)
        return answer

    def delete_all(self, generations: Mapping[str, int]) -> Mapping[str, Exception]:
        """Delete at most `A_BATCH` generations in one call; gives by name what went wrong with it.

        Raises:
            UnansweredError: nobody knows what became of any of them.
        """
        paths = [
            self._path(self._of(name), ifGenerationMatch=str(generation))
            for name, generation in generations.items()
        ]
        body, headers = in_one_call(paths)
        answer = self._asked(
            "POST", "/batch/storage/v1", headers=headers, body=body, timeout=self._retry_policy.answer
        )
        problems = zip(generations, came_of(answer, len(paths)), strict=True)
        return {name: problem for name, problem in problems if problem is not None}


def _decoded(answer: Answered, kind: type[Kind]) -> Kind:
    """An answer in JSON; one that is cut short is no answer. Google writes numbers of 64 bits as text."""
    try:
        return typed.decode(answer.content, kind, strict=False)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        raise UnansweredError(f"the answer is cut short or not JSON: {error}") from error


@contextmanager
def _conditional(name: str, generation: int | None) -> Iterator[None]:
    try:
        yield
    except PreconditionFailed as error:
        raise ConflictError(f"{name} is not at generation {generation}") from error


def _raise_without_bucket(error: NotFound | PreconditionFailed) -> None:
    """A bucket that is not there must not look like a bucket without objects."""
    if "bucket does not exist" in error.message:
        raise error
