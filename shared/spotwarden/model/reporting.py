"""The pure functions that make the report, as whoever reads and writes is told them."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from spotwarden.model.case import Case
from spotwarden.model.heartbeat import Beat
from spotwarden.model.policy import Policy
from spotwarden.report.model.fleet import Pending
from spotwarden.report.model.kept import Gathered, Line, News, Record, Rules, Sources, Summary
from spotwarden.report.model.trust import Deed


class Reporting(msgspec.Struct, frozen=True, kw_only=True):
    """What is made of what has been read.

    `line` are the heartbeats of a node in an attempt, of a file of this generation; `deeds` those of one
    object of the audit, by its name, day and entry.
    """

    line: Callable[[str, int, Iterable[Beat], int], Line]
    deeds: Callable[[str, str, str, Sequence[Record]], tuple[Deed, ...]]
    merged: Callable[[Gathered, News], Gathered]
    summary: Callable[[Sources, Gathered, Rules], Summary]
    pending: Callable[[Iterable[Case], Policy], tuple[Pending, ...]]
