"""The table of signals as people read it: one row a signal, and one for what was never seen."""

from collections.abc import Iterator

import msgspec

from spotwarden.governance.signals.table import (
    Coverage,
    NodeSignals,
    Signal,
    SignalKind,
    SignalSource,
    SignalTable,
)
from spotwarden.model.moment import Moment

EARLIER = "earlier"
"""An attempt before the present one, where nobody has said which."""
_ORDER = list(SignalKind)
_EXPECTED = (
    Signal(kind=SignalKind.ALIVE, source=SignalSource.HEARTBEAT),
    Signal(kind=SignalKind.PROGRESS, source=SignalSource.REPORTED),
)
"""What a node gives with the job kit: where it does not, that is said."""


class SignalRow(msgspec.Struct, frozen=True, kw_only=True):
    """One signal: of which attempt and node, and what it showed when. `at` is None for one never seen."""

    attempt: int
    node: str
    instance_id: str
    kind: SignalKind
    source: SignalSource
    at: Moment | None
    since: Moment | None
    value: str
    coverage: Coverage
    why: str


def rows(table: SignalTable) -> tuple[SignalRow, ...]:
    """The newest attempt first, then by node, those of the whole job at the end."""
    newest = max((row.attempt for row in table.nodes), default=0)
    found = [row for known in table.nodes for row in _rows(known, present=known.attempt == newest)]
    return tuple(
        sorted(
            found,
            key=lambda row: (-row.attempt, not row.node, row.node, _ORDER.index(row.kind), row.source.value),
        )
    )


def _rows(row: NodeSignals, *, present: bool) -> Iterator[SignalRow]:
    seen = {signal.kind for signal in row.signals}
    missing = (signal for signal in _EXPECTED if present and row.node and signal.kind not in seen)
    for signal in (*row.signals, *missing):
        yield SignalRow(
            attempt=row.attempt,
            node=row.node,
            instance_id=row.instance_id,
            kind=signal.kind,
            source=signal.source,
            at=signal.at,
            since=signal.since,
            value=_value(signal),
            coverage=signal.coverage,
            why=signal.why,
        )


def _value(signal: Signal) -> str:
    if signal.value is None:
        return ""
    if isinstance(signal.value, str):
        return signal.value
    return f"{signal.value:.1f}%" if signal.kind is SignalKind.LOAD else f"{signal.value:g}"
