"""The folders of many jobs in a few lists: a page has a thousand rows, and a job some ten."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.fan_out import each
from spotwarden.layout import Layout, NotInLayoutError, ObjectName, StatusCode
from spotwarden.ports import DESCRIBED_AT_MOST, Entry, Store
from spotwarden.recovery.folder_list import ROWS_AT_MOST, JobFolder

FEW = 20
"""So few folders are listed one by one."""
JOBS_A_PAGE = 100
IN_A_LIST = 1_000
"""Folders that one list covers at most: all their rows are held at once."""

PART_AT_MOST = 2 * ROWS_AT_MOST
"""Rows of such a list: a job beyond them, and one whose own rows fill it, is listed by name."""


FOLDERS_A_PAGE = 1_000
FOLDERS_KEPT = 20_000
"""So many names of folders a warm function remembers; they are some two megabytes."""

_FOLDERS: GenerationCache[tuple[str, ...]] = GenerationCache()
"""By prefix; they have no generation."""


class _Part(NamedTuple):
    """Jobs whose names begin alike, and how many folders begin so."""

    start: str
    jobs: tuple[str, ...]
    folders: int

    @property
    def pays(self) -> bool:
        """Whether one list for all of them has fewer pages than one for each."""
        return len(self.jobs) > max(1, self.folders / JOBS_A_PAGE)


def list_together(store: Store, layout: Layout, jobs: Collection[str], workers: int) -> dict[str, JobFolder]:
    """The folders of those of these jobs that one list shows for many; the others are to be listed by name.

    So are those whose list was not answered.
    """
    if len(jobs) <= FEW:
        return {}
    wanted = frozenset(jobs)
    parts = [part for part in _parts(_folders(store, layout, wanted), wanted) if part.pays]

    def listed(part: _Part) -> dict[str, JobFolder]:
        rows = store.entries(layout.prefix + part.start, glob=layout.all_metadata(), limit=PART_AT_MOST)
        return folders_in(layout, rows, _shown(layout, part.jobs, rows))

    found: dict[str, JobFolder] = {}
    for folders in each(parts, listed, workers).results:
        found |= folders
    return found


def _folders(store: Store, layout: Layout, wanted: frozenset[str]) -> Sequence[str]:
    """The names of all folders, listed again once that costs no more than the jobs that have come since.

    They tell only how many begin alike: such a job is listed by name, and one that is gone has an empty
    folder in either list.
    """
    known = _FOLDERS.get(layout.prefix, 0)
    if known is None or len(wanted.difference(known)) > len(known) // FOLDERS_A_PAGE:
        known = tuple(sorted(store.folders(layout.prefix)))
        if len(known) <= FOLDERS_KEPT:
            _FOLDERS.keep(layout.prefix, 0, known)
    return known


def _shown(layout: Layout, jobs: Sequence[str], rows: Sequence[Entry]) -> Sequence[str]:
    """The jobs of which nothing comes after the last row: all, unless the list was cut there."""
    if len(rows) < PART_AT_MOST:
        return jobs
    last = rows[-1].name
    return [job for job in jobs if layout.folder(job) < last and not last.startswith(layout.folder(job))]


def folders_in(layout: Layout, rows: Iterable[Entry], jobs: Collection[str]) -> dict[str, JobFolder]:
    """The folders of these jobs in one list of all their metadata.

    A job whose end is in a row that came without metadata is left out: these say whose end it is.
    """
    things: dict[str, dict[ObjectName, Entry]] = {job: {} for job in jobs}
    start = len(layout.prefix)
    for number, row in enumerate(rows):
        job = row.name[start : row.name.find("/", start)]
        if job not in things:
            continue
        try:
            object_name = layout.parse(row.name)
        except NotInLayoutError:
            continue
        things[job][object_name] = row
        if number >= DESCRIBED_AT_MOST and isinstance(object_name, StatusCode):
            del things[job]
    return {job: JobFolder(found) for job, found in things.items()}


def _parts(folders: Sequence[str], wanted: frozenset[str], start: str = "") -> Iterator[_Part]:
    """All folders by how they begin, so that no part has more than fit into one list."""
    if len(folders) <= IN_A_LIST:
        yield _Part(start, tuple(job for job in folders if job in wanted), len(folders))
        return
    for beginning, same in groupby(folders, key=lambda folder: folder[: len(start) + 1]):
        yield from _parts(list(same), wanted, beginning)
