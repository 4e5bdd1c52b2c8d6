"""The bucket behind `Store`: what is tried again, and how our own doing is told from another's."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from uuid import uuid4

from spotwarden.gcp.errors import BusyError
from spotwarden.gcp.object_batches import A_BATCH
from spotwarden.gcp.object_bodies import CONTENT, WRITTEN_BY, check_size, shown_content
from spotwarden.gcp.objects import ListedRow, ObjectDoor
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.spacing import WriteSpacing
from spotwarden.ports import DESCRIBED_AT_MOST, ConflictError, Entry, Stored, UnansweredError

_ENTRY = "items(name,generation,updated,size,metadata,crc32c),nextPageToken"
_FOLDER = "prefixes,nextPageToken"


def _new_word() -> str:
    return uuid4().hex


class CloudStorage:
    """`Store` over one bucket. Safe to use from several threads.

    Every method raises `UnansweredError` when `retry_policy` is over. A bucket that does not exist, a missing
    permission and the like rise as google-cloud-storage words them.
    """

    def __init__(
        self,
        *,
        bucket: str,
        retry_policy: RetryPolicy = RetryPolicy(),
        new_word: Callable[[], str] = _new_word,
    ) -> None:
        self._objects = ObjectDoor(bucket=bucket, retry_policy=retry_policy)
        self._retry_policy = retry_policy
        self._new_word = new_word
        self._spacing = WriteSpacing()

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        self._objects.close()

    def entries(
        self, prefix: str, *, glob: str = "", limit: int | None = None, start: str = "", end: str = ""
    ) -> list[Entry]:
        """As `Store.entries`; where both are given, a name must begin with `prefix` and match `glob`."""
        rows = self._objects.rows(
            limit=limit,
            prefix=prefix,
            matchGlob=glob,
            startOffset=start,
            endOffset=end,
            fields=_ENTRY,
        )
        return [_entry(row, described=index < DESCRIBED_AT_MOST) for index, row in enumerate(rows)]

    def each_entry(self, prefix: str) -> Iterator[Entry]:
        """As `Store.each_entry`."""
        for row in self._objects.rows(prefix=prefix, fields=_ENTRY):
            yield _entry(row, described=True)

    def entry(self, name: str) -> Entry | None:
        """As `Store.entry`."""
        found = self._retry_policy.insist(lambda: self._objects.find(name))
        return None if found is None else _entry(found, described=True)

    def folders(self, prefix: str) -> list[str]:
        """As `Store.folders`, in the order of names."""
        pages = self._objects.pages(prefix=prefix, delimiter="/", fields=_FOLDER)
        found = {folder for page in pages for folder in page.prefixes}
        return sorted(folder[len(prefix) : -1] for folder in found)

    def read(
        self, name: str, *, at_most: int = 4 * 1024 * 1024, listed: Entry | None = None
    ) -> Stored | None:
        """As `Store.read`: data, generation, time and metadata are of one moment. Two calls, or one."""
        return self._retry_policy.insist(lambda: self._read_listed(name, at_most, listed))

    def _read_listed(self, name: str, at_most: int, listed: Entry | None) -> Stored | None:
        if listed is None or listed.size > at_most:
            return self._read(name, at_most)
        data = self._objects.download_current(name, listed.generation, at_most)
        if data is None:
            return self._read(name, at_most)
        return Stored(
            data=data, generation=listed.generation, updated=listed.updated, metadata=listed.metadata
        )

    def _read(self, name: str, at_most: int) -> Stored | None:
        found = self._objects.find(name)
        if found is None:
            return None
        check_size(name, found.size, at_most)
        return Stored(
            data=self._objects.download(found, at_most),
            generation=found.generation,
            updated=found.updated,
            metadata=_custom(found.metadata),
        )

    def write(
        self,
        name: str,
        data: bytes,
        *,
        generation: int | None,
        content_type: str = "",
        shown: bool = False,
        spaced: bool = False,
    ) -> int:
        """As `Store.write`; a write whose answer was lost is recognised and not reported as a conflict."""
        write = _Write(self._objects, name, self._new_word(), shown=shown)
        kind = content_type or "application/octet-stream"
        if spaced:
            self._spacing.wait(name)
        try:
            return self._retry_policy.insist(lambda: write.once(data, generation, kind))
        finally:
            self._spacing.note(name)

    def delete(self, name: str, *, generation: int) -> bool:
        """As `Store.delete`; a delete whose answer was lost and after which nothing is left was ours."""
        delete = _Delete(self._objects, name, generation)
        return self._retry_policy.insist(delete.once)

    def delete_all(self, generations: Mapping[str, int]) -> Mapping[str, Exception]:
        """As `Store.delete_all`; what a batch leaves open is asked again, without the rest of it."""
        failed: dict[str, Exception] = {}
        rest = iter(generations.items())
        while some := dict(islice(rest, A_BATCH)):
            deletes = _Deletes(self._objects, some)
            try:
                self._retry_policy.insist(deletes.once)
            except UnansweredError as error:
                deletes.failed |= dict.fromkeys(deletes.left, error)
            failed |= deletes.failed
        return failed


class _Write:
    """A write that may take several tries.

    Its word stands in the object's metadata, so what is found after a try that nobody answered is known for
    ours or not. Equal content would not do: two sweeps may write the same bytes, and both would have won.
    A late try that lands after all cannot hurt: its condition no longer holds.
    """

    def __init__(self, objects: ObjectDoor, name: str, word: str, *, shown: bool) -> None:
        self._objects = objects
        self._name = name
        self._word = word
        self._shown = shown
        self._in_doubt, self._looks = False, False

    def once(self, data: bytes, generation: int | None, kind: str) -> int:
        """Look whether an earlier try was carried out, and if not, try again.

        After one 429 it is tried at once: if that was carried out after all, the next try meets a conflict.
        """
        if self._looks and (ours := self._ours()) is not None:
            return ours
        try:
            return self._objects.upload(
                self._name, data, generation=generation, kind=kind, word=self._word, shown=self._shown
            )
        except UnansweredError as error:
            self._in_doubt, self._looks = True, self._in_doubt or not isinstance(error, BusyError)
            raise
        except ConflictError:
            if (ours := self._ours()) is not None:
                return ours
            raise

    def _ours(self) -> int | None:
        """The generation that an earlier try has made, if it is known to have."""
        if not self._in_doubt:
            return None
        found = self._objects.find(self._name)
        if found is None or found.metadata.get(WRITTEN_BY) != self._word:
            return None
        return found.generation


class _Delete:
    """A delete that may take several tries.

    An object leaves no trace of who deleted it. After a try that nobody answered, *gone* is taken for ours:
    if it was another's, the generation that we wanted gone is gone all the same.
    """

    def __init__(self, objects: ObjectDoor, name: str, generation: int) -> None:
        self._objects = objects
        self._name = name
        self._generation = generation
        self._in_doubt = False

    def once(self) -> bool:
        """Delete, remembering whether a try went unanswered."""
        try:
            return self._objects.delete(self._name, generation=self._generation) or self._in_doubt
        except ConflictError:
            return False
        except UnansweredError:
            self._in_doubt = True
            raise


class _Deletes:
    """Deletes in one batch that may take several tries: each has only what is `left` of the try before."""

    def __init__(self, objects: ObjectDoor, generations: Mapping[str, int]) -> None:
        self._objects = objects
        self.left = dict(generations)
        self.failed: dict[str, Exception] = {}

    def once(self) -> None:
        """Delete what is left; `UnansweredError` where some of it still is."""
        wrong = self._objects.delete_all(self.left)
        open_still = {name: error for name, error in wrong.items() if isinstance(error, UnansweredError)}
        self.failed |= {name: error for name, error in wrong.items() if name not in open_still}
        self.left = {name: self.left[name] for name in open_still}
        for error in open_still.values():
            raise error


def _entry(row: ListedRow, *, described: bool) -> Entry:
    said = row.metadata if described else {}
    return Entry(
        name=row.name,
        generation=row.generation,
        updated=row.updated,
        size=row.size,
        metadata=_custom(said),
        content=shown_content(said, row.crc32c),
    )


def _custom(said: Mapping[str, str]) -> Mapping[str, str]:
    """What its writer has put beside the content; what our own writes put there is none of it."""
    return {key: value for key, value in said.items() if key not in {WRITTEN_BY, CONTENT}}
