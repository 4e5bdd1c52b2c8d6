"""What `spotwarden run` was asked for: read, checked, and put into words that a create script can hold."""

import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import click
import msgspec

from spotwarden.cli.launching.inputs import LaunchInput
from spotwarden.cli.launching.machines import MachineType
from spotwarden.layout import job_problem
from spotwarden.model.slices import LONGEST_NAME

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAG = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_TAG_VALUE = re.compile(r"[a-z0-9_-]{0,63}")
_RESERVED = ("spotwarden", "goog")
TAGS_AT_MOST = 60
"""Compute Engine takes 64 labels (Google: "Label resources"); ours are among them."""


class LaunchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was said; "" and None where nothing was."""

    job: str
    command: tuple[str, ...]
    machine: MachineType
    nodes: int = 1
    least_nodes: int = 0
    zone: str = ""
    region: str = ""
    image: str = ""
    image_family: str = ""
    image_project: str = ""
    container: str = ""
    container_flags: str = ""
    code: Path | None = None
    inputs: tuple[LaunchInput, ...] = ()
    input_jobs: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    setup: str = ""
    metrics: Mapping[str, str] = {}
    tags: Mapping[str, str] = {}
    on_demand: bool = False
    handover: bool = False
    disk_gb: int | None = None
    service_account: str = ""
    keep_vm: bool = False
    flags: tuple[str, ...] = ()
    owner: str = ""
    max_runtime: timedelta | None = None
    budget: float | None = None
    work: timedelta | None = None
    deadline: datetime | None = None
    places: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    job_toml: Path | None = None


def check_job(job: str, nodes: int, *, of_slice: bool = False) -> None:
    """Whether the job and all its nodes can be called so; `UsageError` says why not."""
    if problem := job_problem(job):
        raise click.UsageError(f"--job: {problem}")
    if of_slice and len(job) > LONGEST_NAME:
        raise click.UsageError(f"--job: the name of a TPU slice may have {LONGEST_NAME} characters at most")
    if nodes > 1 and (problem := job_problem(f"{job}-{nodes}")):
        raise click.UsageError(f"--job: its VMs would be named {job}-1 to {job}-{nodes}: {problem}")


def pairs(option: str, said: Iterable[str]) -> dict[str, str]:
    """What `NAME=VALUE` says, several times; the last one of a name counts."""
    found = {}
    for part in said:
        name, sign, value = part.partition("=")
        if not sign or not name:
            raise click.UsageError(f"{option} {part!r}: write it as NAME=VALUE")
        found[name] = value
    return found


def environment(said: Iterable[str]) -> dict[str, str]:
    """Variables for the program; a name alone takes what it is in this shell."""
    known = [part if "=" in part else f"{part}={_here(part)}" for part in said]
    found = pairs("--env", known)
    for name, value in found.items():
        if not _VARIABLE.fullmatch(name):
            raise click.UsageError(f"--env: {name!r} is not a valid variable name")
        if "\n" in value or "\0" in value:
            raise click.UsageError(f"--env {name}: the value must be one line; put longer ones into a file")
    return found


def _here(name: str) -> str:
    if name not in os.environ:
        raise click.UsageError(f"--env {name}: it isn't set here; write {name}=VALUE")
    return os.environ[name]


def tags(said: Iterable[str]) -> dict[str, str]:
    """Words by which jobs are found again: labels of the VMs, so they may be what labels are."""
    found = pairs("--tag", said)
    for name, value in found.items():
        if not _TAG.fullmatch(name) or not _TAG_VALUE.fullmatch(value):
            raise click.UsageError(
                f"--tag {name}={value}: a tag is a VM label: a-z, 0-9, '_', '-', at most 63, "
                "the name from a letter on"
            )
        if name.startswith(_RESERVED):
            raise click.UsageError(f"--tag {name}: names that begin with {' or '.join(_RESERVED)} are taken")
    if len(found) > TAGS_AT_MOST:
        raise click.UsageError(f"{len(found)} tags are more than {TAGS_AT_MOST}")
    return found


def metrics(said: Iterable[str]) -> dict[str, str]:
    """What is read out of the log: `NAME=PATTERN`, where the first group of the pattern is the number."""
    found = pairs("--metric", said)
    for name, pattern in found.items():
        if not _VARIABLE.fullmatch(name):
            raise click.UsageError(f"--metric {name!r}: a metric's name is letters, digits and '_'")
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise click.UsageError(f"--metric {name}: {pattern!r} is not a valid pattern: {error}") from error
        if "(?" in pattern or not groups:
            raise click.UsageError(
                f"--metric {name}: write the number as a group, such as {name}=([^ ,]+), and no (?…)"
            )
    return found
