"""Jobs that go on as they did: a heartbeat of the job kit brings their row up to date, and nothing is read.

A job that runs has something new at every tick: its heartbeat, a few more minutes in the meter. To list it
and to write its summary for that alone would be most of what all functions cost. So with the first tick of
an hour all of it is taken in, and in between what its heartbeat says.
"""

from collections.abc import Mapping
from datetime import datetime

from msgspec.structs import replace

from spotwarden.governance.signals.folders import BEATS
from spotwarden.layout import Heartbeat
from spotwarden.model.standing import Standing
from spotwarden.recovery.folder.folder_list import JobFolder
from spotwarden.recovery.folder.heartbeats import progress_in
from spotwarden.recovery.folder.job_folder import telling
from spotwarden.recovery.folder.node_beats import NodeBeat
from spotwarden.report.figures.beats import advanced, measures_with
from spotwarden.report.gather import timed
from spotwarden.report.model.kept import IndexEntry, ReportIndex

RUNNING = "running"


def is_hourly(index: ReportIndex | None, now: datetime) -> bool:
    """Whether this tick takes in everything: the first of an hour, and those after one that did not."""
    return index is None or index.part or index.anew or hour(index.at) != hour(now)


def hour(moment: datetime) -> datetime:
    """When its hour began."""
    return moment.replace(minute=0, second=0, microsecond=0)


def goes_on(entry: IndexEntry, heard: Mapping[Heartbeat, NodeBeat], now: datetime) -> bool:
    """Whether the job ran, and each node says by a fresh heartbeat of this attempt that its program runs."""
    fresh = {
        name.node
        for name, found in heard.items()
        if found.beat.status == RUNNING
        and found.beat.attempt == entry.row.attempts
        and now - found.entry.updated < BEATS
    }
    return entry.row.standing is Standing.RUNNING and len(fresh) >= max(1, entry.row.nodes)


def rested(entry: IndexEntry, folder: JobFolder, heard: str) -> IndexEntry | None:
    """The entry of a job that goes on, as its heartbeats say; None where another heartbeat tells more.

    It was looked at in this hour, and its folder is as it was then, but for what its program has said: that
    is `heard`.
    """
    object_name = telling(folder)
    if object_name is None or object_name not in folder.beats:
        return None
    if heard == entry.heard:
        return entry
    came = folder.things[object_name].updated
    beat = timed(folder.beats[object_name], came)
    row = replace(
        entry.row,
        advance=advanced(beat, progress_in(beat, came)),
        metrics=measures_with(entry.row.metrics, beat),
    )
    return replace(entry, row=row, heard=heard)
