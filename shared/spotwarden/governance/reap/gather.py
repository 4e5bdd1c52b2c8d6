"""The look of `reap_vms`, in an order that matters.

VMs and leftovers first, then the list of open jobs, then the record of each job that one of them points to:
what is written down while we look is in the newer reading, and a VM that was just made is not taken for one
that nobody knows. A job's signs of life come last: one that moves while we look is not taken for stalled.
What a job measures is read only where a limit hangs on it, and only what has changed since it was read.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec
from msgspec.structs import replace

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import each
from spotwarden.engine.log import log
from spotwarden.governance.early_stop.rule import wanted
from spotwarden.governance.reap.launched import had
from spotwarden.governance.signals.facts import JobRecord, ReapFacts
from spotwarden.governance.signals.folders import JobFolders, folders_of
from spotwarden.governance.signals.gather import after_end_of, known_progress, whole_of
from spotwarden.governance.signals.junk import tell_of_junk
from spotwarden.governance.signals.records import read_record
from spotwarden.governance.signals.rising import rise
from spotwarden.governance.signals.slices import SliceFleet, with_slices
from spotwarden.governance.signals.text import labelled_by_others
from spotwarden.governance.signals.trainings import read_training
from spotwarden.governance.signals.whose import folders_of_jobs, ids_of, jobs_named, owned
from spotwarden.governance.stalls.rule import quiet
from spotwarden.layout import job_problem
from spotwarden.model.fleet import Fleet, Leftover
from spotwarden.model.watch import Watch
from spotwarden.ports import BrokenError, UnansweredError
from spotwarden.recovery.folder.folder_list import JobFolder
from spotwarden.recovery.folder.node_beats import LazyBeats
from spotwarden.recovery.folder.open_jobs import read_watches


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """Whose VMs these may be: `sure` by the one rule of ownership, `named` by their name or label alone.

    `broken` says of jobs why their records could not be read.
    """

    sure: Mapping[str, str]
    named: Mapping[str, str]
    broken: Mapping[str, str]


def gather(context: SweepContext, only: Collection[str]) -> ReapFacts:
    """Look at everything, or at the VMs and leftovers of these ids and links alone."""
    compute = context.cloud.compute
    links = {name for name in only if "/" in name}
    ids = set(only) - links
    fleet = compute.fleet(ids=ids) if ids or not only else Fleet()
    found, unlisted = _leftovers(context) if links or not only else (None, ())
    left = None if found is None else tuple(match for match in found if not links or match.link in links)
    opened = read_watches(context.cloud.store, context.settings.layout, context.settings.workers)
    watches = {watched.watch.job: watched.watch for watched in opened.watched}
    slices = with_slices(context, fleet, ids_of(watches.values()), ids)
    fleet = slices.fleet
    claimed = _claimed(context, slices)
    beats = LazyBeats(context.cloud.store, context.settings.layout)
    folders = folders_of(context, beats, opened.watched)
    asked = _asked(context, fleet, claimed, left or (), watches)
    if not only:
        folders.list_ahead(asked, context.settings.workers)
    jobs = _records(context, asked, watches, folders.anew if only else folders.look)
    jobs |= _with_what_they_had(context, jobs, left or ())
    broken = {**opened.broken, **claimed.broken}
    jobs |= {job: JobRecord(job=job, problem=str(why)) for job, why in broken.items() if job in jobs}
    whose = {
        **claimed.sure,
        **{item: job for item, job in claimed.named.items() if _knows(jobs.get(job), item)},
    }
    facts = ReapFacts(
        machines=tuple(
            machine
            for machine in fleet.items
            if machine.id in claimed.sure or machine.id in claimed.named or labelled_by_others(machine)
        ),
        unreachable=fleet.unreachable,
        whose=whose,
        namesakes={candidate: job for candidate, job in claimed.named.items() if candidate not in whose},
        jobs=jobs,
        bare=any(not record.exists for record in jobs.values())
        and not watches
        and not folders_of_jobs(context),
        leftovers=left,
        unlisted=unlisted,
    )
    facts = replace(facts, jobs={**facts.jobs, **_looked_at_again(context, facts, folders, asked, watches)})
    facts = replace(facts, jobs={**facts.jobs, **_listened(context, facts)})
    tell_of_junk(context.tick, beats.heard(), facts.jobs.values())
    return replace(facts, jobs={**facts.jobs, **_measured(context, facts, folders)})


def _leftovers(context: SweepContext) -> tuple[tuple[Leftover, ...] | None, tuple[str, ...]]:
    """What was left behind; while that cannot be listed, VMs are judged all the same."""
    try:
        return context.cloud.compute.leftovers()
    except UnansweredError as problem:
        log(context.tick, "WARNING", f"leftovers of jobs couldn't be listed: {problem}")
        return None, ()


def _claimed(context: SweepContext, slices: SliceFleet) -> Claimed:
    """The job of each VM by its id, else by a request of its chain, else, to be checked, by name or label."""
    fleet = slices.fleet
    known = owned(context, fleet.items, slices.written)
    # What names no job at all is a problem to tell of.
    sure = {
        **known.jobs,
        **{item.id: item.job for item in fleet.items if item.job and job_problem(item.job) is not None},
    }
    others = [machine for machine in fleet.items if machine.id not in sure and not machine.manager]
    folders = folders_of_jobs(context) if others else frozenset()
    named = {other.id: job for other in others for job in jobs_named(other.name) if job in folders}
    # A label is no more than a name.
    named |= {other.id: other.job for other in others if other.job and job_problem(other.job) is None}
    return Claimed(sure=sure, named=named, broken={**known.broken, **slices.broken})


def _asked(
    context: SweepContext,
    fleet: Fleet,
    claimed: Claimed,
    left: Iterable[Leftover],
    watches: Mapping[str, Watch],
) -> dict[str, set[str]]:
    """The jobs whose record is to be read, with the ids of their VMs; of young VMs nothing is asked."""
    asked: dict[str, set[str]] = defaultdict(set)
    born = context.tick.now - context.policy.governance.launch_grace
    for machine in fleet.items:
        job = claimed.sure.get(machine.id) or claimed.named.get(machine.id, "")
        if (
            job
            and machine.created is not None
            and max(machine.created, machine.started or machine.created) <= born
        ):
            asked[job].add(machine.id)
    for leftover in left:
        if leftover.job not in watches:
            asked[leftover.job] |= set()
    return asked


def _records(
    context: SweepContext,
    asked: Mapping[str, Collection[str]],
    watches: Mapping[str, Watch],
    look: Callable[[str, Collection[str]], JobFolder],
) -> dict[str, JobRecord]:
    store, layout = context.cloud.store, context.settings.layout

    def read(job: str) -> JobRecord:
        ids = asked[job]
        watch = watches.get(job)
        return read_record(store, layout, job, ids=ids, watch=watch, look=lambda name: look(name, ids))

    done = each(asked, read, context.settings.workers)
    rise("records of jobs", done.failures)
    return {record.job: record for record in sorted(done.results, key=lambda result: result.job)}


def _with_what_they_had(
    context: SweepContext, jobs: Mapping[str, JobRecord], left: Iterable[Leftover]
) -> dict[str, JobRecord]:
    """The records of jobs that have left something behind, with the disks and addresses of their VMs."""
    store, layout = context.cloud.store, context.settings.layout
    named = {leftover.job for leftover in left}
    asked = [record for job, record in jobs.items() if job in named and record.exists and not record.problem]

    def read(record: JobRecord) -> JobRecord:
        try:
            return replace(record, had=had(store, layout, record.job))
        except BrokenError as problem:
            return replace(record, problem=str(problem))

    done = each(asked, read, context.settings.workers)
    rise("records of what was launched", done.failures)
    return {record.job: record for record in done.results}


def _knows(record: JobRecord | None, instance_id: str) -> bool:
    return record is not None and (
        instance_id in record.instances.values()
        or instance_id in record.past
        or instance_id in record.registered
    )


def _looked_at_again(
    context: SweepContext,
    facts: ReapFacts,
    folders: JobFolders,
    asked: Mapping[str, Collection[str]],
    watches: Mapping[str, Watch],
) -> dict[str, JobRecord]:
    """The records, as they are now, of jobs that may have something against them and were not listed."""
    mine, layout = facts.machines_of(), context.settings.layout
    again = {
        job: asked[job]
        for job in folders.old()
        if quiet(known_progress(layout, facts.jobs[job]), mine.get(job, ()), context.policy, context.tick)
        or wanted(facts.jobs[job], mine.get(job, ()), context.policy) is not None
    }
    return _records(context, again, watches, folders.anew)


def _listened(context: SweepContext, facts: ReapFacts) -> dict[str, JobRecord]:
    """The records of silent jobs with more signals, and of those whose VMs run on after their end."""
    mine = facts.machines_of()

    def is_still(record: JobRecord) -> bool:
        return quiet(record, mine.get(record.job, ()), context.policy, context.tick)

    known = whole_of(context, facts.jobs.values(), mine, is_still)
    return known | after_end_of(context, known.values(), mine)


def _measured(context: SweepContext, facts: ReapFacts, folders: JobFolders) -> dict[str, JobRecord]:
    """The records of those jobs on whose metrics a limit hangs, with what they measure."""
    mine = facts.machines_of()
    asked = [
        (job, aims)
        for job in facts.jobs.values()
        if (aims := wanted(job, mine.get(job.job, ()), context.policy)) is not None
    ]
    store, layout = context.cloud.store, context.settings.layout
    done = each(
        asked,
        lambda pair: replace(pair[0], training=read_training(store, layout, pair[0], pair[1], folders.anew)),
        context.settings.workers,
    )
    rise("metrics of jobs", done.failures)
    return {result.job: result for result in done.results}
