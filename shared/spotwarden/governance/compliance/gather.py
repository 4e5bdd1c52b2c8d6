"""The look of `check_compliance`: VMs first, then the list of open jobs, and last what their owners say.

What is written down while we look is in the newer reading: a VM that has just been made is not held against
the limits of nobody's team, and who asks to keep it is heard.
"""

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import each
from spotwarden.governance.compliance.facts import ComplianceFacts, JobWord
from spotwarden.governance.compliance.rule import suspects
from spotwarden.governance.signals.records import read_record
from spotwarden.governance.signals.slices import with_slices
from spotwarden.governance.signals.whose import ids_of, owned_or_left, written_down
from spotwarden.model.fleet import Fleet
from spotwarden.model.governance import Scope
from spotwarden.model.instance import Status
from spotwarden.model.watch import Watch
from spotwarden.recovery.folder.open_jobs import read_watches

UP = frozenset({Status.PROVISIONING, Status.STAGING, Status.RUNNING, Status.REPAIRING})
"""What runs or is about to; a VM that has stopped, or waits for room, uses nothing to rule."""


def gather(context: SweepContext, only: Collection[str]) -> ComplianceFacts:
    """Everything, or an event's VM with the others of its job; jobs are read only where a VM is at fault.

    Before anything is done to a few VMs all are listed once more, for it may hang on how many a job has.
    """
    asked, fleet = (
        _of_event(context) if context.tick.about else (frozenset(only) or None, context.cloud.compute.fleet())
    )
    opened = read_watches(context.cloud.store, context.settings.layout, context.settings.workers)
    watches = {watched.watch.job: watched.watch for watched in opened.watched}
    about = (asked or ()) if context.tick.about else ()
    slices = with_slices(context, fleet, ids_of(watches.values()), about)
    fleet = slices.fleet
    up = [machine for machine in fleet.items if machine.status in UP]
    known = owned_or_left(context, up, slices.written)
    whose = known.jobs
    everybody = context.policy.governance.scope is Scope.PROJECT
    facts = ComplianceFacts(
        machines=tuple(item for item in up if everybody or item.id in whose),
        whose=whose,
        unreachable=fleet.unreachable,
        only=asked,
    )
    return replace(
        facts,
        jobs=_words(context, suspects(facts, context.policy), watches, {**known.broken, **slices.broken}),
    )


def _of_event(context: SweepContext) -> tuple[frozenset[str], Fleet]:
    """The VMs that an event may be about, for it has only a name; and with them the others of their jobs."""
    compute, written = context.cloud.compute, written_down(context)
    named = compute.instances(names=(context.tick.about,)).items
    ids = {instance.id for instance in named}
    jobs = {job for about in named if (job := about.job or written.get(about.id, ""))}
    others = {item.id for job in jobs for item in compute.instances(job=job).items}
    recorded = {name for name, job in written.items() if job in jobs}
    return frozenset(ids), compute.fleet(ids=ids | others | recorded) if ids else Fleet()


def _words(
    context: SweepContext, jobs: Collection[str], watches: Mapping[str, Watch], broken: Mapping[str, str]
) -> Mapping[str, JobWord]:
    store, layout = context.cloud.store, context.settings.layout

    def read(job: str) -> tuple[str, JobWord]:
        watch = watches.get(job)
        record = read_record(store, layout, job, ids=())
        nodes = frozenset((record.instances or (watch.instances if watch else {})).values())
        word = JobWord(owner=record.owner, file=record.file, problem=record.problem, nodes=nodes)
        return job, replace(word, lacking=record.lacking)

    said = each(sorted(jobs), read, context.settings.workers)
    if said.failures:
        raise ExceptionGroup("records of jobs could not be read", said.failures)
    unread = {job: JobWord(problem=broken[job]) for job in jobs if job in broken}
    return dict(sorted({**dict(said.results), **unread}.items()))
