"""What `spotwarden run` says of limits, as the job's own `job.toml`."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click
import msgspec

from spotwarden import typed
from spotwarden.cli.launching.asked import LaunchRequest
from spotwarden.engine.policy_file.reading import durations, read_toml
from spotwarden.model.jobfile import MOST, JobFile
from spotwarden.model.precedence import misread
from spotwarden.model.values import written

typed.prepare(JobFile)
_UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`")


def job_file(asked: LaunchRequest) -> str:
    """The text of `job.toml`; "" where nothing was said of any limit.

    Raises:
        UsageError: the budget is no sum, or the developer's own file cannot be followed, alone or with what
            the options say.
    """
    if asked.budget is not None and not asked.budget <= MOST:
        raise click.UsageError(f"--budget: {asked.budget} is not a valid amount")
    said = _said(asked)
    if asked.job_toml is None:
        return said
    own = _own(asked.job_toml)
    # What the options say goes first: in the file it would belong to its last table.
    _hold(said + own, f"{asked.job_toml}, with what the options say,")
    return said + own


def file_of(text: str) -> JobFile:
    """What the text of a `job.toml` says that can be followed."""
    return typed.convert(durations(read_toml(text.encode())), JobFile)


def _own(path: Path) -> str:
    try:
        own = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--job-toml: {path} cannot be read: {error}") from error
    _hold(own, str(path))
    return own


def _hold(text: str, what: str) -> None:
    """Whether it is a job.toml that can be followed, as those who will read it understand it."""
    try:
        file = typed.convert(durations(read_toml(text.encode())), JobFile)
    except (ValueError, msgspec.DecodeError, RecursionError) as error:
        raise click.UsageError(f"--job-toml: {what} is invalid: {_in_plain_words(error)}") from error
    # Any rule's name leads to whatever is wrong with the names, each one's own to its limits.
    for rule in file.rules:
        if slip := misread(rule, file):
            raise click.UsageError(f"--job-toml: {what} is invalid: {slip}")
    _warn_of_half(file.rules.get("early_stop", {}))


def _warn_of_half(early_stop: Mapping[str, Any]) -> None:
    """A metric and its patience only work together; the policy may have the other one."""
    for said, missing in (("metric", "patience"), ("patience", "metric")):
        if early_stop.get(said) and not early_stop.get(missing):
            click.echo(
                f"warning: in [rules.early_stop], {said} works only with {missing}, which isn't in the file",
                err=True,
            )


def _in_plain_words(error: Exception) -> str:
    """What msgspec says of a value, with what to write instead where its own words are about JSON."""
    said, at, place = str(error).partition(" - at ")
    where = f" in {place.strip('`').removeprefix('$.')}" if at else ""
    if "ISO8601 duration" in said or "`duration" in said or said == "Duration is out of range":
        return f"invalid duration{where}; write 90m, 8h or 2d"
    if "matching regex" in said and place == "`$.nodes`":
        return f"invalid range{where}; write the fewest and the most nodes, such as 8:16"
    if unknown := _UNKNOWN.fullmatch(said):
        near = get_close_matches(unknown[1], JobFile.__struct_fields__, n=1)
        meant = f"; did you mean `{near[0]}`?" if near and not at else ""
        return f"unknown setting `{unknown[1]}`{where}{meant}"
    return str(error)


def _said(asked: LaunchRequest) -> str:
    """The options of limits as TOML; "" for none."""
    values = {
        "owner": asked.owner or None,
        "email": asked.owner if "@" in asked.owner else None,
        "max_runtime": asked.max_runtime and written(asked.max_runtime),
        "budget": asked.budget,
        "work": asked.work and written(asked.work),
        "deadline": asked.deadline,
        "places": asked.places or None,
        "machines": asked.machines or None,
        "nodes": f"{asked.least_nodes}:{asked.nodes}" if asked.least_nodes else None,
    }
    if not (given := {name: value for name, value in values.items() if value is not None}):
        return ""
    import tomlkit  # noqa: PLC0415 — only who says a limit waits for it

    return tomlkit.dumps(given)
