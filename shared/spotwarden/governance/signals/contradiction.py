"""Whether a job that is said to have ended goes on all the same: then nobody knows, and nothing is done.

Every VM of a job may write its status, and one of an attempt before may do so late.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.motion import OWN, at_rest_below, present
from spotwarden.governance.signals.table import (
    Coverage,
    NodeSignals,
    Signal,
    SignalKind,
    SignalSource,
    signals,
)
from spotwarden.model.attempt import AttemptState
from spotwarden.model.fleet import Machine
from spotwarden.model.policy import Policy
from spotwarden.model.spans import moment

GOES_ON = timedelta(minutes=5)
"""A sign that comes so long after the end of its job is of no program that was just ending."""


def ended_at(record: JobRecord) -> datetime | None:
    """When the job is said to have come to its end by itself; None where it is not, or was closed."""
    if record.status_code is not None:
        return record.ended
    return record.updated if record.state is AttemptState.ENDED else None


def contradiction(record: JobRecord, machines: Sequence[Machine], policy: Policy) -> str:
    """What the present attempt has shown after its end, in words; "" where nothing contradicts it.

    A log line does not, for a VM's own services go on writing them. A processor at work does only where all
    of the time that it was measured in is after the end.
    """
    end = ended_at(record)
    return next(_contradictions(record, machines, policy, end + GOES_ON), "") if end is not None else ""


def _contradictions(
    record: JobRecord, machines: Sequence[Machine], policy: Policy, late: datetime
) -> Iterator[str]:
    rows = present(record)
    for row, signal in signals(rows, SignalKind.ALIVE):
        if signal.at is not None and signal.at > late:
            yield f"a {_named(row, signal)} came later, at {moment(signal.at)}"
    for row, signal in signals(rows, SignalKind.PROGRESS, *OWN):
        if signal.at is not None and signal.at > late:
            yield f"its {_named(row, signal)} is newer, from {moment(signal.at)}"
    yield from (f"{busy} since" for busy in _busy(record, machines, policy, late))


def at_work(record: JobRecord, machines: Sequence[Machine], policy: Policy) -> str:
    """Which processor of its VMs works, or may, in words; "" where all are known to rest."""
    return next(_busy(record, machines, policy), "")


def _busy(
    record: JobRecord, machines: Sequence[Machine], policy: Policy, late: datetime | None = None
) -> Iterator[str]:
    known = {machine.id: machine for machine in machines}
    for row, signal in signals(present(record), SignalKind.LOAD):
        if signal.coverage is Coverage.UNREAD:
            yield f"we couldn't check ({signal.why}) whether its VMs have been busy"
        elif (late is None or _since(signal, late)) and works(
            signal, known.get(row.instance_id), policy, policy.stall.cpu_at_rest
        ):
            yield f"the {_named(row, signal)} has been busy, at {signal.value:.1f}%,"


def works(signal: Signal, machine: Machine | None, policy: Policy, cpu_at_rest: float) -> bool:
    """Whether the processor of this signal is at work."""
    if not isinstance(signal.value, float):
        return False
    if signal.source is SignalSource.GPU:
        return signal.value >= policy.idle.threshold
    return signal.value >= at_rest_below(machine, cpu_at_rest)


def _since(signal: Signal, late: datetime) -> bool:
    return signal.since is not None and signal.since >= late


def _named(row: NodeSignals, signal: Signal) -> str:
    return f"{signal.source.value} of {row.node}" if row.node else signal.source.value
