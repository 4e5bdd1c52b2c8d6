"""The table of signals: what was last seen of each node of each attempt, by which source, and when.

Every rule reads this table and looks at nothing else. Alive is not progress, and what one attempt has done
says nothing about another.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from enum import Enum

import msgspec
from msgspec.structs import replace

from spotwarden.model.moment import Moment


class SignalKind(Enum):
    """What a signal shows. `OURS` is about ourselves: from when on our sweeps have come regularly."""

    ALIVE = "alive"
    PROGRESS = "progress"
    LOAD = "load"
    ENDED = "ended"
    OURS = "ours"


class SignalSource(Enum):
    """Where a signal comes from.

    `HEARTBEAT` with `PROGRESS` is a heartbeat that a training loop writes itself: that it came is progress.
    `REPORTED` is what a heartbeat says that comes whether there is progress or not.
    """

    HEARTBEAT = "heartbeat"
    REPORTED = "progress in a heartbeat"
    STEP = "step"
    CHECKPOINT = "checkpoint"
    METRIC = "metric"
    OUTPUT = "output"
    LOG_LINE = "log line"
    CPU = "CPU"
    GPU = "GPU"
    STATUS_CODE = "status code"
    SWEEPS = "our sweeps"


class Coverage(Enum):
    """How much of what there is to see was seen: `PART` where some GPUs did not report."""

    WHOLE = "whole"
    PART = "part"
    UNREAD = "could not be read"


class Signal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One signal: what its source last showed `at` that moment, or of the time from `since` to `at`.

    `value` is a step, a checkpoint, a status code or percent of the busiest processor; `why` says what could
    not be read. `named` is true where who wrote it named the VM's own id, which its job's record has.
    """

    kind: SignalKind
    source: SignalSource
    at: Moment | None = None
    since: Moment | None = None
    value: float | str | None = None
    coverage: Coverage = Coverage.WHOLE
    why: str = ""
    named: bool = False


class NodeSignals(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The signals of one node in one attempt; of the whole job where `node` is "".

    `attempt` is 0 for an earlier one, where nobody has said which. `instance_id` is "" where no record names
    the node.
    """

    node: str = ""
    attempt: int = 0
    instance_id: str = ""
    signals: tuple[Signal, ...] = ()


class SignalTable(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The signals of one job. `longest_gap` is the longest time that it was without progress so far."""

    nodes: tuple[NodeSignals, ...] = ()
    longest_gap: timedelta | None = None

    def of(self, attempt: int) -> tuple[NodeSignals, ...]:
        """The rows of one attempt, those of the whole job in it included."""
        return tuple(row for row in self.nodes if row.attempt == attempt)

    def with_row(self, *rows: NodeSignals) -> "SignalTable":
        """The table with these signals: newer ones of a source take the place of older ones."""
        nodes = {_key(row): row for row in self.nodes}
        for row in rows:
            known = nodes.get(_key(row))
            kept = _kept(known.signals, row.signals) if known else ()
            nodes[_key(row)] = replace(row, signals=(*kept, *row.signals))
        return replace(self, nodes=tuple(nodes.values()))

    def without(self, nodes: Collection[str], source: SignalSource) -> "SignalTable":
        """The table without the signals of this source about these nodes, in whichever attempt."""
        left = tuple(
            replace(row, signals=tuple(signal for signal in row.signals if signal.source is not source))
            if row.node in nodes
            else row
            for row in self.nodes
        )
        return replace(self, nodes=tuple(row for row in left if row.signals))

    def with_gap(self, gap: timedelta | None) -> "SignalTable":
        """The table with this gap, where it is longer than any before."""
        if gap is None or (self.longest_gap is not None and gap <= self.longest_gap):
            return self
        return replace(self, longest_gap=gap)


def _key(row: NodeSignals) -> tuple[str, int]:
    return row.node, row.attempt


def _kept(known: Iterable[Signal], newer: Collection[Signal]) -> tuple[Signal, ...]:
    replaced = {(signal.kind, signal.source) for signal in newer}
    return tuple(signal for signal in known if (signal.kind, signal.source) not in replaced)


def signals(
    rows: Iterable[NodeSignals], kind: SignalKind, *sources: SignalSource
) -> Iterator[tuple[NodeSignals, Signal]]:
    """The signals of a kind, each with its row; only those of these sources where any are named."""
    for row in rows:
        for signal in row.signals:
            if signal.kind is kind and (not sources or signal.source in sources):
                yield row, signal


def newest(rows: Iterable[NodeSignals], kind: SignalKind, *sources: SignalSource) -> datetime | None:
    """When the newest of them came; None where there is none."""
    return max((signal.at for _, signal in signals(rows, kind, *sources) if signal.at), default=None)


def unread(rows: Iterable[NodeSignals]) -> str:
    """Why something could not be read; "" where all that was asked for was."""
    found = (signal.why for row in rows for signal in row.signals if signal.coverage is Coverage.UNREAD)
    return next(found, "")
