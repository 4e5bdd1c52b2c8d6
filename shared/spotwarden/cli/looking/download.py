"""`spotwarden download`: what a job has produced, into a local folder."""

import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import click
import msgspec

from spotwarden.cli.bars import amount, bar
from spotwarden.cli.completing import job_names
from spotwarden.cli.context import Context, open_context
from spotwarden.cli.interrupted import so_far
from spotwarden.cli.looking.landing import Landed, Landing, UnsafePathError, insist, safe
from spotwarden.cli.table import plain
from spotwarden.engine.fan_out import Each, each
from spotwarden.layout import job_problem
from spotwarden.layout.outputs import file_path
from spotwarden.notify.templates.text import count
from spotwarden.ports import HeldObject, Transfers, UnansweredError

FOLDERS = {"output": "output/", "logs": "metadata/logs/", "metrics": "metadata/metrics/"}
"""What is fetched into which folder, and where it stands below the job's."""
TELL = 20
"""Of so many files it is told why they could not be fetched."""


class DownloadRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One object, and the path that it is to have below the folder."""

    path: str
    held: HeldObject


class FailedDownload(msgspec.Struct, frozen=True, kw_only=True):
    """One that did not arrive, and why."""

    name: str
    why: str


@click.command()
@click.argument("job", shell_complete=job_names)
@click.argument(
    "folder", metavar="[FOLDER]", required=False, type=click.Path(file_okay=False, path_type=Path)
)
@click.option(
    "--include",
    "includes",
    multiple=True,
    metavar="GLOB",
    help="Only files that match; * also matches slashes.",
)
@click.option("--exclude", "excludes", multiple=True, metavar="GLOB", help="Skip files that match.")
@click.option("--logs", "with_logs", is_flag=True, help="Also download the logs in the bucket.")
@click.option("--metrics", "with_metrics", is_flag=True, help="Also download the metric curves.")
@click.option("--dry-run", is_flag=True, help="List what would be downloaded; do nothing.")
def download(
    job: str,
    folder: Path | None,
    *,
    includes: tuple[str, ...],
    excludes: tuple[str, ...],
    with_logs: bool,
    with_metrics: bool,
    dry_run: bool,
) -> None:
    """Download a job's output into FOLDER/output.

    Files that are already here, with the same size and checksum, are skipped. An interrupted download
    resumes. Files get their names only when they are complete. Nothing is written outside FOLDER, and
    nothing in it is deleted. If a file fails, the others are downloaded, and the exit status is 1.

    \b
    Examples:
      spotwarden download my-job
      spotwarden download my-job results --include '*.pt' --exclude 'tmp/*'
      spotwarden download my-job --logs --metrics
    """
    if problem := job_problem(job):
        raise click.ClickException(problem)
    context = open_context()
    files = context.files()
    kinds = ["output", *(["logs"] if with_logs else []), *(["metrics"] if with_metrics else [])]
    requests, failed = [], []
    for request in _requests(context, files, job, kinds):
        if isinstance(request, FailedDownload):
            failed.append(request)
        elif _is_wanted(request, includes, excludes):
            requests.append(request)
    if not requests and not failed:
        raise click.ClickException(_nothing(context, job, chosen=bool(includes or excludes)))
    target = folder or Path(job)
    if dry_run:
        _say_what(requests, target)
    else:
        so_far(f"files in {target} are kept. To get the rest, run the command again")
        landed, more = fetch(requests, target, files, context.settings.workers)
        failed += more
        _sum_up(landed, target)
    _raise(failed)


def fetch(
    requests: Sequence[DownloadRequest], folder: Path, files: Transfers, workers: int
) -> tuple[list[Landed], list[FailedDownload]]:
    """Fetch all of them, several at a time; one that fails stops no other."""
    landing = Landing(folder, files)
    failed: list[FailedDownload] = []

    def guarded(request: DownloadRequest, do: Callable[[], Landed | None]) -> Landed | None:
        try:
            return do()
        except UnsafePathError as error:
            failed.append(FailedDownload(name=request.held.name, why=str(error)))
        except (UnansweredError, OSError) as error:
            failed.append(FailedDownload(name=request.held.name, why=f"{error}"))
        return None

    def there(request: DownloadRequest) -> Landed | None:
        return guarded(
            request,
            lambda: Landed(path=request.path) if landing.is_there(request.path, request.held) else None,
        )

    known = _all(each(requests, there, workers))
    done = {landed.path for landed in known} | {failure.name for failure in failed}
    missing = [request for request in requests if request.path not in done and request.held.name not in done]
    if not missing:
        return known, failed
    with bar(
        f"fetching {count(len(missing), 'file')}", sum(request.held.size for request in missing)
    ) as moved:

        def land(request: DownloadRequest) -> Landed | None:
            return guarded(request, lambda: insist(landing, files, request.path, request.held, moved))

        return [*known, *_all(each(missing, land, workers))], failed


def _all(done: Each[Landed]) -> list[Landed]:
    """Everything that came of it; what no file is to blame for ends the command."""
    if done.failures:
        raise done.failures[0]
    return done.results


def _requests(
    context: Context, files: Transfers, job: str, kinds: Sequence[str]
) -> Iterator[DownloadRequest | FailedDownload]:
    """Every object that could be fetched; what has a name that no file should have is none."""
    root = context.settings.layout.folder(job)
    taken: set[str] = set()
    for kind in kinds:
        prefix = root + FOLDERS[kind]
        for held in files.held(prefix):
            rest = held.name.removeprefix(prefix)
            if rest.endswith("/") and not held.size:
                continue  # what a browser makes so that a folder is seen
            rest = os.fsdecode(file_path(rest)) if kind == "output" else rest
            try:
                path = f"{kind}/{safe(rest)}"
            except UnsafePathError as error:
                yield FailedDownload(name=held.name, why=str(error))
                continue
            if path in taken:
                yield FailedDownload(name=held.name, why="another object has its path")
                continue
            taken.add(path)
            yield DownloadRequest(path=path, held=held)


def _is_wanted(request: DownloadRequest, includes: Sequence[str], excludes: Sequence[str]) -> bool:
    kind, _, rest = request.path.partition("/")
    if kind != "output":
        return True
    if any(fnmatchcase(rest, exclude) for exclude in excludes):
        return False
    return not includes or any(fnmatchcase(rest, include) for include in includes)


def _nothing(context: Context, job: str, *, chosen: bool) -> str:
    where = f"gs://{context.settings.bucket}"
    if not context.cloud.store.entries(context.settings.layout.folder(job), limit=1):
        return f"unknown job {job!r} in {where}. To list jobs: spotwarden jobs"
    return f"no output of {job} matches" if chosen else f"{job} has no output yet in {where}"


def _say_what(requests: Sequence[DownloadRequest], folder: Path) -> None:
    for request in requests:
        click.echo(plain(f"{folder / request.path}  {amount(request.held.size)}"))


def _sum_up(landed: Sequence[Landed], folder: Path) -> None:
    fetched = [file for file in landed if file.fetched]
    there = len(landed) - len(fetched)
    known = f"; {there} were there already" if there else ""
    click.echo(
        f"{count(len(fetched), 'file')}, {amount(sum(item.moved for item in fetched))}, in {folder}{known}"
    )


def _raise(failed: Sequence[FailedDownload]) -> None:
    if failed:
        told = [plain(f"  {failure.name}: {failure.why}") for failure in failed[:TELL]]
        more = [f"  and {len(failed) - TELL} more"] if len(failed) > TELL else []
        raise click.ClickException(
            "\n".join([f"{count(len(failed), 'file')} could not be fetched:", *told, *more])
        )
