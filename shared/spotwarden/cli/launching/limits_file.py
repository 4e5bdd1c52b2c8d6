"""What `spotwarden run` says of limits, as the job's own `job.toml`."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from spotwarden import typed
from spotwarden.cli.launching.asked import LaunchRequest
from spotwarden.engine.policy_file.reading import durations, read_toml
from spotwarden.governance.precedence import misread
from spotwarden.model.jobfile import JobFile
from spotwarden.model.values import written

typed.prepare(JobFile)


def job_file(asked: LaunchRequest) -> str:
    """The text of `job.toml`; "" where nothing was said of any limit.

    Raises:
        UsageError: the developer's own file cannot be followed, alone or with what the options say.
    """
    said = "".join(f"{line}\n" for line in _lines(asked))
    if asked.job_toml is None:
        return said
    own = _own(asked.job_toml)
    # What the options say goes first: in the file it would belong to its last table.
    _hold(said + own, f"{asked.job_toml}, with what the options say,")
    return said + own


def _own(path: Path) -> str:
    try:
        own = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--job-toml: {path} cannot be read: {error}") from error
    _hold(own, str(path))
    return own


def _hold(text: str, what: str) -> None:
    """Whether it is a job.toml that can be followed, as those who will read it understand it."""
    try:
        file = typed.convert(durations(read_toml(text.encode())), JobFile)
    except (ValueError, msgspec.DecodeError, RecursionError) as error:
        raise click.UsageError(f"--job-toml: {what} cannot be followed: {error}") from error
    # Any rule's name leads to whatever is wrong with the names, each one's own to its limits.
    for rule in file.rules:
        if slip := misread(rule, file):
            raise click.UsageError(f"--job-toml: {what} cannot be followed: {slip}")


def _lines(asked: LaunchRequest) -> Iterator[str]:
    if asked.owner:
        yield f"owner = {_text(asked.owner)}"
        if "@" in asked.owner:
            yield f"email = {_text(asked.owner)}"
    if asked.max_runtime is not None:
        yield f'max_runtime = "{written(asked.max_runtime)}"'
    if asked.budget is not None:
        yield f"budget = {asked.budget!r}"
    if asked.work is not None:
        yield f'work = "{written(asked.work)}"'
    if asked.deadline is not None:
        yield f"deadline = {asked.deadline.isoformat()}"
    if asked.places:
        yield f"places = [{', '.join(_text(place) for place in asked.places)}]"


def _text(said: str) -> str:
    """A basic string of TOML: JSON's escapes are among those that it knows."""
    return json.dumps(said, ensure_ascii=False).replace("\x7f", "\\u007f")
