"""What a job works on: folders and files of this machine, of a bucket, or of another job."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from spotwarden.layout import InputName, Layout, NotInLayoutError, Output, job_problem

_NAMED = re.compile(r"(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]*)=(?P<what>.+)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_ADDRESS = re.compile(r"gs://[a-z0-9][a-z0-9._-]{1,220}/\S+")


class LaunchInput(msgspec.Struct, frozen=True, kw_only=True):
    """One input: the program finds it in `$SPOTWARDEN_INPUT/<name>`.

    `local` is a file or folder of this machine, which is sent first; None for what the bucket has.
    """

    name: str
    address: str = ""
    local: Path | None = None


def inputs_of(
    said: tuple[str, ...], jobs: tuple[str, ...], job: str, bucket: str, layout: Layout
) -> list[LaunchInput]:
    """What `--input` and `--input-job` say, each with the address that the VM fetches.

    Raises:
        UsageError: there is no such file, two would be called the same, or a name cannot be.
    """
    found = [*(_input(part, job, bucket, layout) for part in said), *_from_jobs(jobs, bucket, layout)]
    for match in found:
        if sum(other.name == match.name for other in found) > 1:
            raise click.UsageError(f"two inputs would be named {match.name!r}; rename one: --input NAME=PATH")
    return found


def _input(said: str, job: str, bucket: str, layout: Layout) -> LaunchInput:
    match = _NAMED.fullmatch(said) if not Path(said).exists() else None
    name, what = (match["name"], match["what"]) if match else ("", said)
    if what.startswith("gs://"):
        if not _ADDRESS.fullmatch(what):
            raise click.UsageError(
                f"--input {what!r} is not a valid address; write gs://BUCKET/NAME, without spaces"
            )
        return LaunchInput(name=_checked(name or what.rstrip("/").rpartition("/")[2], said), address=what)
    path = Path(what)
    if not path.exists():
        raise click.UsageError(
            f"--input {what!r}: there is no such file or folder here, and it is not a gs:// address"
        )
    name = _checked(name or path.resolve().name, said)
    address = f"gs://{bucket}/{layout.build(InputName(job=job, path=name))}"
    return LaunchInput(name=name, address=f"{address}/" if path.is_dir() else address, local=path)


def _checked(name: str, said: str) -> str:
    if not _NAME.fullmatch(name):
        raise click.UsageError(
            f"--input {said!r}: {name!r} can't be its name on the VM (letters, digits, '.', '_', '-'); "
            "choose one: --input NAME=PATH"
        )
    return name


def _from_jobs(jobs: tuple[str, ...], bucket: str, layout: Layout) -> Iterator[LaunchInput]:
    for job in jobs:
        if problem := job_problem(job):
            raise click.UsageError(f"--input-job: {problem}")
        below = layout.build(Output(job=job, path="x")).removesuffix("x")
        yield LaunchInput(name=job, address=f"gs://{bucket}/{below}")


def name_of(job: str, launch_input: LaunchInput, path: str, layout: Layout) -> str:
    """The object for a file of a local input; `path` is its way below the folder, "" for the input itself."""
    whole = f"{launch_input.name}/{path}" if path else launch_input.name
    try:
        return layout.build(InputName(job=job, path=whole))
    except NotInLayoutError as error:
        raise click.ClickException(
            f"{launch_input.local}/{path} cannot be an object: {error.reason}"
        ) from error
