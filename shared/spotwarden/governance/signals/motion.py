"""Whether a job moves: how long nothing of it has, and for how long that may be so.

Only what the present attempt has shown counts. A gang is as far as the node that moved last: often only the
first one prints.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import msgspec

from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.table import NodeSignals, SignalKind, SignalSource, newest
from spotwarden.governance.signals.text import begun, runs
from spotwarden.model.attempt import AttemptState
from spotwarden.model.fleet import Machine

GAPS = 2
"""A job may be silent for so many times its own longest gap: few epochs are twice as long as all before."""
CORES = re.compile(r"-(\d+)$")
"""How a machine type's name ends that says its CPUs: g2-standard-8."""
OWN = (
    SignalSource.HEARTBEAT,
    SignalSource.REPORTED,
    SignalSource.STEP,
    SignalSource.CHECKPOINT,
    SignalSource.METRIC,
    SignalSource.OUTPUT,
)
"""Signs of progress that only a program gives; log lines may be of the VM's own services."""


class Silence(msgspec.Struct, frozen=True, kw_only=True):
    """Since when nothing has moved, from when on that counts, and how long it may last.

    `mute` is true where the present attempt has never given any sign of progress.
    """

    since: datetime
    counted: datetime
    limit: timedelta
    mute: bool = False


def present(record: JobRecord) -> tuple[NodeSignals, ...]:
    """The rows of the attempt that runs."""
    return record.signals.of(max(record.attempt, 1))


def last_progress(record: JobRecord, *sources: SignalSource) -> datetime | None:
    """When any node of the present attempt last made progress; that a VM is alive is none."""
    return newest(present(record), SignalKind.PROGRESS, *sources)


def longest_silence(record: JobRecord, after: timedelta, most: timedelta) -> timedelta:
    """How long the job may be silent: for `after`, or longer where its own gaps have been, up to `most`."""
    gap = record.signals.longest_gap
    return after if gap is None else max(after, min(GAPS * gap, most))


def silence_of(
    record: JobRecord,
    machines: Sequence[Machine],
    *,
    after: timedelta,
    most: timedelta,
    now: datetime,
    steady: datetime | None = None,
) -> Silence | None:
    """How a job that is open and runs has been silent for too long; None where it is not.

    Nothing counts from before its VMs last began to run, nor from before `steady`.
    """
    ids = set(record.instances.values())
    moments = [
        at
        for machine in machines
        if machine.id in ids and runs(machine) and (at := begun(machine)) is not None
    ]
    if record.status_code is not None or record.state not in {AttemptState.RUNNING, None} or not moments:
        return None
    began = max(moments)
    counted = max(began, steady or began)
    last = last_progress(record)
    limit = longest_silence(record, after, most)
    if now - max(last or counted, counted) < limit:
        return None
    return Silence(
        since=max(last or began, began),
        counted=max(last or counted, counted),
        limit=limit,
        mute=last is None,
    )


def moves(record: JobRecord, *, after: timedelta, most: timedelta, now: datetime) -> bool:
    """Whether its program itself has shown within that time that it gets on, whatever its processors do."""
    last = last_progress(record, *OWN)
    return last is not None and now - last < longest_silence(record, after, most)


def gap_in(moments: Iterable[datetime]) -> timedelta | None:
    """The longest time between two of these moments that follow each other; None where there are not two."""
    return max((later - earlier for earlier, later in pairwise(sorted(moments))), default=None)


def at_rest_below(machine: Machine | None, at_rest: float) -> float:
    """Below which use of its CPUs in percent a VM does nothing: less than half of one of them is none."""
    named = CORES.search(machine.machine_type) if machine else None
    return min(at_rest, 50.0 / int(named[1])) if named and int(named[1]) else at_rest
