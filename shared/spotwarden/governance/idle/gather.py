"""The look of `flag_idle_gpus`: VMs first, then their metrics, and last what their owners say.

A VM that is made or started again while we look then stands on an older list than its metrics, and work that
begins meanwhile is seen; the other way round old metrics would be held against a newer VM. The list of open
jobs comes after the VMs, so that the job of each of them is on it, and job.toml last of all: who asks to keep
a VM while we look is heard.

The look at everything, upon which nothing is done without another one, has more asked side by side: the
bucket beside the metrics of those that may idle, and who works beside the list of VMs. That one only tells
whom to look at closer: what is held against a VM is asked after the list, and one that was started meanwhile
is too young for that.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import beside, each
from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.idle.rule import QUIET, gets_on, grid, limits_of, suspects
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.folders import look_together
from spotwarden.governance.signals.gather import progress_of
from spotwarden.governance.signals.records import read_record
from spotwarden.governance.signals.rising import rise
from spotwarden.governance.signals.slices import with_slices
from spotwarden.governance.signals.whose import attempts_of, ids_of, owned_or_left
from spotwarden.model.accelerators import is_tpu
from spotwarden.model.fleet import Fleet, Machine
from spotwarden.model.governance import Remedy
from spotwarden.model.instance import Status
from spotwarden.model.jobfile import JobFile
from spotwarden.model.load import Buckets, GpuLoads, VmLoad
from spotwarden.model.prices import PriceTable
from spotwarden.model.watch import Watch
from spotwarden.ports import Cloud
from spotwarden.recovery.folder.open_jobs import read_watches
from spotwarden.recovery.kinds.price_file import kept_prices
from spotwarden.recovery.kinds.price_file import only as only_these

T = TypeVar("T")

_GPUS: GenerationCache[bool] = GenerationCache()
"""By project, whether any VM that ran had GPUs when all were last listed."""

MOST_LOST = 200
"""So many VMs that a job has had are asked for at most: further ones ended long ago."""


def gather(context: SweepContext, only: Collection[str]) -> IdleFacts:
    """Everything, or these VMs alone; what costs more than a list is asked of those that may be idle only."""
    buckets = grid(context.policy, context.tick.now)
    with _meanwhile(context, partial(context.cloud.compute.fleet, ids=only)) as listed:
        # What a process needs for the rest is imported while it waits for the VMs.
        context.cloud.open_ahead()
        with _meanwhile(context, partial(_newest, context, buckets, listed, only)) as newest:
            facts, owners = _whose(context, listed.result(), buckets, only)
    if not facts.machines:
        return facts
    chips = _with_lost(facts, [machine.id for machine in facts.machines if is_tpu(machine.gpu)])
    asked = _with_lost(facts, only)
    loads = _of_these(context.cloud, buckets, facts.machines, asked) if only else newest.result()
    facts = _with_tpus(context.cloud, replace(facts, loads=_known(loads, facts)), chips)
    del newest, loads  # of very many VMs their ids and rows are not kept twice
    closer = suspects(facts, context.policy)
    if not closer:
        return facts
    uncounted = frozenset() if only or facts.loads.problem else closer - chips
    with _meanwhile(
        context, lambda: _counted(context.cloud, facts.loads, _with_lost(facts, uncounted))
    ) as counted:
        jobs = {facts.jobs[name] for name in closer if name in facts.jobs}
        records = _records(context, jobs, owners.broken)
    facts = replace(facts, loads=counted.result(), attempts=_attempts(facts, owners.watches, jobs))
    files = {job: _file(record) for job, record in records.items()}
    return replace(
        facts,
        files={job: file for job, file in files.items() if file != JobFile()},
        prices=_prices(context, facts.machines, closer),
        records=_progress(context, records, files),
    )


def _prices(context: SweepContext, machines: Iterable[Machine], closer: Collection[str]) -> PriceTable:
    """What those that may be idle cost: for what is told, not for what is done."""
    quiet = [machine for machine in machines if machine.id in closer]
    if not quiet:
        return PriceTable()
    table = kept_prices(context.settings.prices_file)
    return only_these(table, {item.machine_type for item in quiet}, {candidate.gpu for candidate in quiet})


def _attempts(facts: IdleFacts, watches: Iterable[Watch], jobs: Collection[str]) -> Mapping[str, int]:
    """The attempts of these jobs' VMs."""
    numbers = attempts_of(watch for watch in watches if watch.job in jobs)
    return {machine.id: numbers[machine.id] for machine in facts.machines if machine.id in numbers}


@contextmanager
def _meanwhile(context: SweepContext, ask: Callable[[], T]) -> Iterator[Future[T]]:
    """What is asked while something else is done; one worker asks first."""
    with beside(context.settings.workers, 1) as another:
        yield another.submit(copy_context().run, ask)


def _with_gpus(fleet: Fleet) -> tuple[Machine, ...]:
    return tuple(item for item in fleet.items if item.gpus and item.status is Status.RUNNING)


class _Owners(NamedTuple):
    """The open jobs, and of jobs whose records could not be read, why not."""

    watches: Sequence[Watch]
    broken: Mapping[str, str]


def _whose(
    context: SweepContext, fleet: Fleet, buckets: Buckets, only: Collection[str]
) -> tuple[IdleFacts, _Owners]:
    """The VMs and whose they are."""
    opened = read_watches(context.cloud.store, context.settings.layout, context.settings.workers)
    watches = [watched.watch for watched in opened.watched]
    slices = with_slices(context, fleet, ids_of(watches), only)
    fleet = slices.fleet
    running = [machine for machine in fleet.items if machine.status is Status.RUNNING]
    known = owned_or_left(context, running, slices.written)
    jobs = known.jobs
    machines = _with_gpus(fleet)
    run = frozenset(machine.id for machine in running)
    mine = {jobs[machine.id] for machine in machines if machine.id in jobs}
    facts = IdleFacts(
        machines=machines,
        jobs=jobs if len(machines) == len(running) else _of(jobs, machines),
        loads=GpuLoads(grid=buckets),
        running=len(jobs),
        hidden=fleet.unreachable,
        repaired=frozenset(item.id for item in fleet.items if item.status is Status.REPAIRING),
        lost={watch.job: lost for watch in watches if watch.job in mine and (lost := _lost(watch, run))},
    )
    return facts, _Owners(watches, {**known.broken, **slices.broken})


def _of(jobs: Mapping[str, str], machines: Iterable[Machine]) -> Mapping[str, str]:
    return {machine.id: jobs[machine.id] for machine in machines if machine.id in jobs}


def _newest(context: SweepContext, grid: Buckets, listed: Future[Fleet], only: Collection[str]) -> GpuLoads:
    """The newest buckets of everything, which tell who works; nothing is asked for TPUs alone.

    It is asked while VMs are listed, unless the look before this one has seen none that has GPUs.
    """
    if only:
        return GpuLoads(grid=grid)
    project = context.settings.project
    if listed.done() or _GPUS.get(project, 0) is False:
        some = _GPUS.keep(project, 0, not _has_tpus_only(_with_gpus(listed.result())))
        return _quiet(context.cloud, grid) if some else GpuLoads(grid=grid)
    newest = _quiet(context.cloud, grid)
    _GPUS.keep(project, 0, not _has_tpus_only(_with_gpus(listed.result())))
    return newest


def _quiet(cloud: Cloud, grid: Buckets) -> GpuLoads:
    """As one bucket: who worked in it works, and Monitoring tells half as many points."""
    quiet = Buckets(end=grid.end, step=grid.step * QUIET, count=1)
    newest = cloud.metrics.gpus(quiet, counts=False)
    return replace(newest, grid=grid, rows=_on(grid, newest.rows))


def _of_these(cloud: Cloud, grid: Buckets, machines: Iterable[Machine], ids: Collection[str]) -> GpuLoads:
    """All that is known of the GPUs of these VMs."""
    return GpuLoads(grid=grid) if _has_tpus_only(machines) else cloud.metrics.gpus(grid, ids=ids)


def _has_tpus_only(machines: Iterable[Machine]) -> bool:
    return all(is_tpu(machine.gpu) for machine in machines)


def _with_tpus(cloud: Cloud, facts: IdleFacts, chips: Collection[str]) -> IdleFacts:
    """With the rows of these VMs with TPUs: few enough to ask for all of it at once."""
    if not chips:
        return facts
    found = cloud.metrics.tpus(facts.loads.grid, ids=chips)
    loads = replace(facts.loads, rows={**facts.loads.rows, **found.rows})
    return replace(facts, loads=loads, tpu_problem=found.problem)


def _on(grid: Buckets, rows: Mapping[str, VmLoad]) -> dict[str, VmLoad]:
    """Rows of one bucket, the newest, as rows of the whole grid; those that are equal are kept once."""
    same = {row.top: VmLoad(top=(-1.0,) * (grid.count - QUIET) + row.top * QUIET) for row in rows.values()}
    return {name: same[row.top] for name, row in rows.items()}


def _known(loads: GpuLoads, facts: IdleFacts) -> GpuLoads:
    """The rows of these VMs and of those that their jobs have lost: metrics outlive VMs."""
    ids = chain((machine.id for machine in facts.machines), *facts.lost.values())
    return replace(loads, rows={name: loads.rows[name] for name in ids if name in loads.rows})


def _lost(watch: Watch, running: frozenset[str]) -> tuple[str, ...]:
    """The VMs of a job that are to be there or were, and do not run; of many that were none is asked for."""
    past = watch.past if len(watch.past) <= MOST_LOST else ()
    return tuple(sorted({*watch.instances.values(), *past} - running - {""}))


def _with_lost(facts: IdleFacts, ids: Collection[str]) -> frozenset[str]:
    """These VMs, and those that their jobs have lost."""
    jobs = {facts.jobs[name] for name in ids if name in facts.jobs}
    return frozenset(ids).union(*(facts.lost.get(job, ()) for job in jobs))


def _counted(cloud: Cloud, loads: GpuLoads, closer: Collection[str]) -> GpuLoads:
    """The rows with the counts of points and GPUs of these VMs; the newer answer holds."""
    if not closer:
        return loads
    counted = cloud.metrics.gpus(loads.grid, ids=closer)
    rows = {name: counted.rows[name] for name in closer if name in counted.rows}
    return replace(loads, rows={**loads.rows, **rows}, problem=counted.problem)


def _records(
    context: SweepContext, jobs: Collection[str], broken: Mapping[str, str]
) -> Mapping[str, JobRecord]:
    if not jobs:
        return {}
    store, layout = context.cloud.store, context.settings.layout
    look = look_together(context, jobs)
    done = each(
        sorted(jobs),
        lambda job: read_record(store, layout, job, ids=(), look=look),
        context.settings.workers,
    )
    rise("not every job.toml", done.failures)
    unread = {job: JobRecord(job=job, problem=broken[job]) for job in jobs if job in broken}
    return {**{record.job: record for record in done.results}, **unread}


def _file(record: JobRecord) -> JobFile:
    """What the job's owner says, and who that is: by job.toml, else by the newest attempt."""
    if record.problem:
        # What cannot be read keeps the job's VMs as they are; the others go on.
        return JobFile(problem=f"job.toml of {record.job}: {record.problem}")
    return replace(record.file, owner=record.owner)


def _progress(
    context: SweepContext, records: Mapping[str, JobRecord], files: Mapping[str, JobFile]
) -> Mapping[str, JobRecord]:
    """The signals of jobs whose VMs the rule may stop or delete: one that loads data lets its GPUs idle."""
    policy, now = context.policy, context.tick.now
    held = {job: limits_of(policy, file) for job, file in files.items()}
    asked = [record for job, record in records.items() if held[job].remedy is not Remedy.NONE]
    return progress_of(context, asked, lambda record: not gets_on(record, held[record.job], policy, now))
