"""The folders of many jobs in a few lists: a page has a thousand rows, and a job some ten."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.fan_out import each
from spotwarden.layout import Layout, NotInLayoutError, ObjectName, StatusCode
from spotwarden.ports import DESCRIBED_AT_MOST, Entry, Store
from spotwarden.recovery.folder.folder_list import ROWS_AT_MOST, JobFolder

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

AFTER_ITS_OBJECTS = "0"
"""Behind a folder's name this comes after all that is in it, and before all that comes after it."""

_FOLDERS: GenerationCache[tuple[str, ...]] = GenerationCache()
"""By prefix; they have no generation."""


class _Part(NamedTuple):
    """Jobs of which each has its folder between that of the first and that of the last; how many have."""

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
        rows = store.entries(
            layout.prefix,
            glob=layout.all_metadata(),
            limit=PART_AT_MOST,
            start=layout.prefix + _in_order(part.jobs[0]),
            end=layout.prefix + part.jobs[-1] + AFTER_ITS_OBJECTS,
        )
        return folders_in(layout, rows, _shown(layout, part.jobs, rows))

    found: dict[str, JobFolder] = {}
    for folders in each(parts, listed, workers).results:
        found |= folders
    return found


def _folders(store: Store, layout: Layout, wanted: frozenset[str]) -> Sequence[str]:
    """The names of all folders, listed again once that costs no more than the jobs that have come since.

    They tell only how many lie between two: a job that has come is listed by name, and one that is gone has
    an empty folder in either list. They stand in the order of the objects in them.
    """
    known = _FOLDERS.get(layout.prefix, 0)
    if known is None or len(wanted.difference(known)) > len(known) // FOLDERS_A_PAGE:
        known = tuple(sorted(store.folders(layout.prefix), key=_in_order))
        if len(known) <= FOLDERS_KEPT:
            _FOLDERS.keep(layout.prefix, 0, known)
    return known


def _in_order(folder: str) -> str:
    """How the names of its objects begin, which a list has in order: `a-b/` comes before `a/`."""
    return f"{folder}/"


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


def _parts(folders: Sequence[str], wanted: frozenset[str]) -> Iterator[_Part]:
    """The jobs among all folders, so that no part has more folders than fit into one list."""
    for first in range(0, len(folders), IN_A_LIST):
        some = folders[first : first + IN_A_LIST]
        places = [place for place, folder in enumerate(some) if folder in wanted]
        if places:
            yield _Part(tuple(some[place] for place in places), places[-1] - places[0] + 1)
