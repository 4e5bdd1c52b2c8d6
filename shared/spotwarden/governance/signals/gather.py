"""The signals of jobs: the cheapest source first, each other one only where those before it are silent."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

import msgspec
from msgspec.structs import replace

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import each
from spotwarden.engine.turn import read_turn
from spotwarden.governance.signals.contradiction import GOES_ON, ended_at
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.heartbeats import listen, remembered
from spotwarden.governance.signals.outputs import with_known_output, with_output, with_outputs
from spotwarden.governance.signals.records import read_record
from spotwarden.governance.signals.rising import rise
from spotwarden.governance.signals.table import (
    Coverage,
    NodeSignals,
    Signal,
    SignalKind,
    SignalSource,
    SignalTable,
    newest,
)
from spotwarden.governance.signals.text import runs
from spotwarden.layout import Layout, SweepTurn
from spotwarden.model.accelerators import is_tpu
from spotwarden.model.fleet import Machine
from spotwarden.model.load import Buckets, GpuLoads
from spotwarden.ports import UnansweredError
from spotwarden.recovery.folder.folder_list import look_with
from spotwarden.recovery.folder.node_beats import JobBeats

LOOKBACK = timedelta(days=7)
"""How far back a last log line is looked for."""
LOAD_SPAN = timedelta(hours=1)
"""Over how long a CPU or a GPU is said to be at rest, or not."""
AFTER_END = timedelta(minutes=5)
"""Over how long the processors of a job are measured that is said to have ended; its last minutes are not."""

Silent = Callable[[JobRecord], bool]
"""Whether what is known of a job so far shows no progress, so that more is to be asked."""
Machines = Mapping[str, Sequence[Machine]]
"""The VMs of each job."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What Monitoring says of some VMs; `problem` says why that could not be read."""

    since: datetime
    until: datetime
    lines: Mapping[str, datetime] = {}
    cpus: Mapping[str, float] = {}
    gpus: Mapping[str, float] = {}
    parts: frozenset[str] = frozenset()
    problem: str = ""


def progress_of(
    context: SweepContext, records: Iterable[JobRecord], is_silent: Silent
) -> dict[str, JobRecord]:
    """The records with what their programs have told: heartbeats first, then output."""
    layout, store, workers = context.settings.layout, context.cloud.store, context.settings.workers
    known = {record.job: known_progress(layout, record) for record in records}
    suspects = [record for record in known.values() if is_silent(record)]
    heard = each(
        suspects, lambda record: listen(store, layout, record, lambda now: not is_silent(now)), workers
    )
    rise("heartbeats of jobs", heard.failures)
    suspects = [record for record in heard.results if is_silent(record)]
    known |= {record.job: record for record in heard.results}
    return known | with_outputs(context, suspects)


def known_progress(layout: Layout, record: JobRecord) -> JobRecord:
    """The record with what its heartbeats and its output have told before; nothing is read."""
    if record.problem:
        return record
    return with_known_output(layout, remembered(layout, record))


def whole_of(
    context: SweepContext, records: Iterable[JobRecord], machines: Machines, is_silent: Silent
) -> dict[str, JobRecord]:
    """The same with log lines, CPUs and GPUs of those that are still silent: one question for all of them."""
    known = progress_of(context, records, is_silent)
    silent = [record for record in known.values() if is_silent(record)]
    vms = {vm.id: vm for record in silent for vm in machines.get(record.job, ())}
    if not vms:
        return known
    measured = _measured(context, vms, LOAD_SPAN, lines=True)
    return known | {record.job: with_measures(record, measured) for record in silent}


def after_end_of(
    context: SweepContext, records: Collection[JobRecord], machines: Machines
) -> dict[str, JobRecord]:
    """The records of jobs whose VMs run on long after their end, with what these have done since then.

    And of those of which the bucket has nothing left, while their VMs run.
    """
    latest = context.tick.now - GOES_ON - AFTER_END
    over = [
        record
        for record in records
        if (end := ended_at(record)) is not None
        and end <= latest
        and any(map(runs, machines.get(record.job, ())))
    ]
    gone = [
        record
        for record in records
        if not record.exists and not record.problem and any(map(runs, machines.get(record.job, ())))
    ]
    if not over and not gone:
        return {}
    done = each(over, lambda record: _told_after_end(context, record), context.settings.workers)
    rise("heartbeats and outputs of jobs", done.failures)
    vms = {vm.id: vm for record in (*over, *gone) for vm in machines[record.job]}
    measured = _measured(context, vms, AFTER_END, lines=False)
    known = {record.job: with_measures(record, measured) for record in done.results}
    for record in gone:
        nodes = {vm.name: vm.id for vm in machines[record.job]}
        known[record.job] = with_measures(record, measured, nodes)
    return known


def table_of(context: SweepContext, job: str) -> SignalTable:
    """All signals of one job, from every source, whether it is silent or not."""
    store, layout = context.cloud.store, context.settings.layout
    look = partial(look_with, store, layout, JobBeats(store, layout))
    record = read_record(store, layout, job, ids=(), look=look)
    record = with_output(context, listen(store, layout, record, lambda _: False))
    ids = set(record.instances.values())
    machines = {machine.id: machine for machine in context.cloud.compute.fleet(ids=ids).items} if ids else {}
    if machines:
        record = with_measures(record, _measured(context, machines, LOAD_SPAN, lines=True))
    name = layout.build(SweepTurn(function="reap_vms"))
    turn, _generation = read_turn(store, name)
    return record.signals.with_row(ours(record.attempt, turn.swept, turn.steady))


def ours(attempt: int, swept: datetime | None, steady: datetime | None) -> NodeSignals:
    """When our sweeps last looked, and since when they have come regularly."""
    signal = Signal(kind=SignalKind.OURS, source=SignalSource.SWEEPS, at=swept, since=steady)
    return NodeSignals(attempt=max(attempt, 1), signals=(signal,))


def _told_after_end(context: SweepContext, record: JobRecord) -> JobRecord:
    """With its output; a heartbeat that came after the end is read, for it may be of an attempt before."""
    end, came = ended_at(record), newest(record.signals.nodes, SignalKind.ALIVE)
    if end is not None and came is not None and came > end + GOES_ON:
        record = listen(context.cloud.store, context.settings.layout, record, lambda _: False)
    return with_output(context, record)


def with_measures(record: JobRecord, measured: Measured, nodes: Mapping[str, str] | None = None) -> JobRecord:
    """The record with what Monitoring says of its present VMs; what cannot be read is unknown, not silent.

    `nodes` are the VMs' ids by name where the record has none.
    """
    attempt = max(record.attempt, 1)
    rows = [
        NodeSignals(node=node, attempt=attempt, instance_id=instance_id, signals=found)
        for node, instance_id in (record.instances if nodes is None else nodes).items()
        if (found := tuple(_signals_of(instance_id, measured)))
    ]
    if measured.problem:
        unread = Signal(
            kind=SignalKind.LOAD, source=SignalSource.CPU, coverage=Coverage.UNREAD, why=measured.problem
        )
        rows.append(NodeSignals(attempt=attempt, signals=(unread,)))
    return replace(record, signals=record.signals.with_row(*rows))


def _signals_of(instance_id: str, measured: Measured) -> Iterator[Signal]:
    if (at := measured.lines.get(instance_id)) is not None:
        yield Signal(kind=SignalKind.PROGRESS, source=SignalSource.LOG_LINE, at=at)
    for source, loads in ((SignalSource.CPU, measured.cpus), (SignalSource.GPU, measured.gpus)):
        if (load := loads.get(instance_id)) is not None:
            part = source is SignalSource.GPU and instance_id in measured.parts
            yield Signal(
                kind=SignalKind.LOAD,
                source=source,
                at=measured.until,
                since=measured.since,
                value=float(load),
                coverage=Coverage.PART if part else Coverage.WHOLE,
            )


def _measured(
    context: SweepContext, machines: Mapping[str, Machine], span: timedelta, *, lines: bool
) -> Measured:
    """Ask once for all of them."""
    now = context.tick.now
    measured = Measured(since=now - span, until=now)
    try:
        if lines:
            measured = replace(measured, lines=_lines(context, machines))
        cpus = context.cloud.metrics.cpus(now - span, now, ids=set(machines))
        return _with_gpus(context, machines, replace(measured, cpus=cpus), span)
    except UnansweredError as error:
        return replace(measured, problem=str(error))


def _with_gpus(
    context: SweepContext, machines: Mapping[str, Machine], measured: Measured, span: timedelta
) -> Measured:
    """With the busiest GPU or TPU chip of each in percent; one without an agent reports none."""
    having = {instance for instance, machine in machines.items() if machine.gpus}
    if not having:
        return measured
    loads = _accelerators(context, machines, having, Buckets(end=measured.until, step=span, count=1))
    busiest = {instance: max(row.top) for instance in having if (row := loads.rows.get(instance))}
    parts = {
        instance
        for instance in busiest
        if loads.rows[instance].gpus and max(loads.rows[instance].gpus) < machines[instance].gpus
    }
    return replace(
        measured,
        gpus={instance: load for instance, load in busiest.items() if load >= 0},
        parts=frozenset(parts),
        problem=loads.problem,
    )


def _accelerators(
    context: SweepContext, machines: Mapping[str, Machine], having: Collection[str], grid: Buckets
) -> GpuLoads:
    """The loads of these VMs; those with TPUs report under a metric of their own."""
    chips = {instance for instance in having if is_tpu(machines[instance].gpu)}
    gpus, loads = set(having) - chips, GpuLoads(grid=grid)
    if gpus:
        loads = context.cloud.metrics.gpus(grid, ids=gpus)
    if chips and not loads.problem:
        found = context.cloud.metrics.tpus(grid, ids=chips)
        loads = replace(loads, rows={**loads.rows, **found.rows}, problem=found.problem)
    return loads


def _lines(context: SweepContext, machines: Mapping[str, Machine]) -> dict[str, datetime]:
    """The last log line of each: sharply for the time that matters, and whether there ever was one."""
    logged, now = context.cloud.metrics.logged, context.tick.now
    sharp = now - 2 * context.policy.stall.after
    lines = dict(logged(sharp, now, ids=set(machines)))
    others = {
        name: vm.created for name, vm in machines.items() if name not in lines and vm.created is not None
    }
    first = max(min(others.values(), default=now), now - LOOKBACK)
    if first < sharp:
        # A longer question has a coarser answer; no line of these is newer than the sharp one's beginning.
        older = logged(first, sharp, ids=set(others))
        lines |= {item: min(at, sharp) for item, at in older.items()}
    return lines
