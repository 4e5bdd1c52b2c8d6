"""Which open jobs have changed since they were last looked at, by listings alone: nothing of them is read."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b

from spotwarden.engine.fan_out import each
from spotwarden.governance.signals.listings import FEW, JOBS_A_PAGE
from spotwarden.ports import Entry
from spotwarden.recovery.folder.folder_list import rows_of
from spotwarden.report.store import ReportStore

LISTED_AT_MOST = 400_000
"""Rows of the listing of all folders: those of 10,000 jobs, of which each has some thirty."""


def read_states(
    shelf: ReportStore, jobs: Collection[str], folders: int, workers: int
) -> dict[str, Sequence[Entry]]:
    """The metadata of each of these jobs, as it is listed. One without any is left out.

    One listing covers all folders of the bucket; a few of many are listed one by one, in fewer calls. So are
    all where that listing does not end: any job VM may write any number of logs in a job's name.
    """
    store, layout = shelf.store, shelf.layout
    if len(jobs) > max(FEW, folders / JOBS_A_PAGE):
        entries = store.entries(layout.prefix, glob=layout.all_metadata(), limit=LISTED_AT_MOST)
        if len(entries) < LISTED_AT_MOST:
            return states(entries, layout.prefix, jobs)
    done = each(sorted(jobs), lambda job: rows_of(store, layout, job)[0], workers)
    if done.failures:
        raise ExceptionGroup("the folders of open jobs could not be listed", done.failures)
    return states((entry for entries in done.results for entry in entries), layout.prefix, jobs)


def states(entries: Iterable[Entry], prefix: str, jobs: Collection[str]) -> dict[str, Sequence[Entry]]:
    """The rows of each of these jobs; what is listed of a job is in a folder of its name."""
    wanted, start = frozenset(jobs), len(prefix)
    by_job: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        job = entry.name[start : entry.name.find("/", start)]
        if job in wanted:
            by_job[job].append(entry)
    return dict(by_job)


def digest(entries: Iterable[Entry]) -> str:
    """These rows of a listing in short; the time counts too, for it alone tells of new metadata."""
    rows = sorted(entries, key=lambda entry: entry.name)
    said = "\n".join(f"{row.name} {row.generation} {row.updated.timestamp()}" for row in rows)
    return blake2b(said.encode(), digest_size=8).hexdigest()


def token(digest: str, *facts: Collection[str]) -> str:
    """What is compared from tick to tick: the listing, and what else the job's row tells."""
    return "-".join((digest, *(" ".join(sorted(fact)) for fact in facts)))


def summaries(shelf: ReportStore) -> Mapping[str, int]:
    """The generation of each summary that is kept, by its name."""
    return {entry.name: entry.generation for entry in shelf.store.entries(f"{shelf.layout.report()}jobs/")}
