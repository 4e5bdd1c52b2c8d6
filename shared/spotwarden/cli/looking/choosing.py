"""Which rows of the experiment table a person wants, and in which order."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import click
import msgspec

from spotwarden.recovery.folder.standing import JobSummary

NEVER = datetime.min.replace(tzinfo=UTC)

SORTS: Mapping[str, Callable[[JobSummary], Any]] = {
    "name": lambda row: row.job,
    # What is newest, longest or has most attempts is what people look for first.
    "started": lambda row: -((row.started or NEVER) - NEVER),
    "runtime": lambda row: -(row.runtime or timedelta(seconds=-1)),
    "attempts": lambda row: -row.attempts,
    "status": lambda row: row.status.value,
    "owner": lambda row: row.owner,
}


class OutputChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted; what is empty leaves all in. A tag is a name, or a name and its value."""

    statuses: frozenset[str] = frozenset()
    owner: str = ""
    tags: tuple[tuple[str, str | None], ...] = ()
    since: datetime | None = None
    sort: str = "name"
    reverse: bool = False
    limit: int | None = None

    def of(self, rows: Iterable[JobSummary]) -> list[JobSummary]:
        """The rows that are wanted, in the order that is; jobs that are alike, by name."""
        found = sorted((row for row in rows if self._wants(row)), key=lambda row: row.job)
        return sorted(found, key=SORTS[self.sort], reverse=self.reverse)

    def cut(self, rows: list[JobSummary]) -> list[JobSummary]:
        """As many as are wanted of them."""
        return rows if self.limit is None else rows[: self.limit]

    def _wants(self, row: JobSummary) -> bool:
        return (
            (not self.statuses or row.status.value in self.statuses)
            and self.owner.lower() in row.owner.lower()
            and (self.since is None or (row.ended or row.started or NEVER) >= self.since or _open(row))
            and all(name in row.tags and value in {None, row.tags[name]} for name, value in self.tags)
        )


def _open(row: JobSummary) -> bool:
    return row.started is not None and row.ended is None


class Tag(click.ParamType[tuple[str, str | None]]):
    """A tag's name, or `name=value`."""

    name = "tag"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str | None]:
        """Read it."""
        if isinstance(value, tuple):
            return value
        name, said, wanted = str(value).partition("=")
        if not name:
            self.fail(f"{value!r} is not a valid tag; write NAME or NAME=VALUE", param, ctx)
        return name, wanted if said else None
