"""The look of `cap_runtime`, in an order that matters: VMs first, then what is on record of their jobs.

An attempt that begins while we look is then on record before its VM is judged. The other way round its VM
would be held against the attempts before it, and the time that the job was down would count as time up.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.decoding import decoded
from spotwarden.engine.fan_out import each
from spotwarden.governance.caps.facts import CapFacts, JobAttempts
from spotwarden.governance.caps.meter import UsageMeter
from spotwarden.governance.caps.rule import judge
from spotwarden.governance.signals.folders import JobFolders, LookAt, folders_of
from spotwarden.governance.signals.slices import with_slices
from spotwarden.governance.signals.whose import ids_of, owned_or_left
from spotwarden.layout import AttemptRecord, JobFileName, Layout, ObjectName, StatusCode, quarantine_key
from spotwarden.model.attempt import Attempt
from spotwarden.model.brief import Brief
from spotwarden.model.fleet import OWNER_LABEL, Machine
from spotwarden.model.governance import Remedy, Scope
from spotwarden.model.instance import Status
from spotwarden.model.policy import Policy
from spotwarden.model.usage import DayTotal, MeteredVm
from spotwarden.ports import Store, UnansweredError
from spotwarden.recovery.folder.chain import newest
from spotwarden.recovery.folder.folder_list import JobFolder, content_of, once
from spotwarden.recovery.folder.job_folder import read_job_file
from spotwarden.recovery.folder.node_beats import LazyBeats
from spotwarden.recovery.folder.open_jobs import read_watches
from spotwarden.recovery.folder.status_code import is_late
from spotwarden.recovery.kinds.price_file import kept_prices
from spotwarden.recovery.kinds.price_file import only as prices_of

typed.prepare(Attempt)

RUNS = {Status.RUNNING, Status.PENDING_STOP}
"""A VM that is being repaired is unusable (Google: "Compute Engine instance lifecycle"): no time counts."""

_CACHE: GenerationCache[object] = GenerationCache()


def gather(context: SweepContext, only: Collection[str]) -> CapFacts:
    """Look at everything, or at the VMs of these ids; an owner's cap is judged by all of the owner's VMs."""
    fleet = context.cloud.compute.fleet(ids=() if _stops_owners(context.policy) else only)
    store, layout = context.cloud.store, context.settings.layout
    watched = read_watches(store, layout, context.settings.workers).watched
    slices = with_slices(context, fleet, ids_of(entry.watch for entry in watched), only)
    fleet = slices.fleet
    running = [machine for machine in fleet.items if machine.status in RUNS]
    known = owned_or_left(context, running, slices.written)
    broken = {**known.broken, **slices.broken}
    folders = folders_of(context, LazyBeats(store, layout), watched)
    jobs = known.jobs
    facts = CapFacts(
        machines=tuple(
            item for item in running if item.id in jobs or context.policy.governance.scope is Scope.PROJECT
        ),
        jobs=jobs,
        hidden=fleet.unreachable,
        repaired=frozenset(item.id for item in fleet.items if item.status is Status.REPAIRING),
    )
    if not only:
        folders.list_ahead(_vms_of(jobs), context.settings.workers)
    facts = _recorded(context, facts, broken, folders.anew if only else folders.look)
    facts = replace(facts, usage=_metered(context, facts, count=not only))
    return _looked_at_again(context, _priced(context, facts), broken, folders)


def _recorded(
    context: SweepContext,
    facts: CapFacts,
    broken: Mapping[str, str],
    look: LookAt,
    jobs: Collection[str] = (),
) -> CapFacts:
    """With what is on record of all jobs, or of these."""
    mine = {job: ids for job, ids in _vms_of(facts.jobs).items() if not jobs or job in jobs}
    found = _with_owners(_records(context, mine, broken, look), facts.machines, facts.jobs)
    return replace(facts, records={**facts.records, **found})


def _vms_of(jobs: Mapping[str, str]) -> dict[str, set[str]]:
    """The VMs of each job."""
    mine: dict[str, set[str]] = defaultdict(set)
    for machine_id, job in jobs.items():
        mine[job].add(machine_id)
    return mine


def _looked_at_again(
    context: SweepContext, facts: CapFacts, broken: Mapping[str, str], folders: JobFolders
) -> CapFacts:
    """With the records, as they are now, of jobs that have come to a limit and were not listed."""
    brief = Brief(policy=context.policy, tick=context.tick, steady=context.tick.now)
    found = {finding.subject.job for finding in judge(facts, brief).findings}
    again = folders.old() & found
    return _priced(context, _recorded(context, facts, broken, folders.anew, again)) if again else facts


def _metered(context: SweepContext, facts: CapFacts, *, count: bool) -> tuple[DayTotal, ...]:
    """The days of this month and week; a second look counts nothing, for it may see only some VMs."""
    layout = context.settings.layout
    meter = UsageMeter(store=context.cloud.store, layout=layout, tick=context.tick)
    vms = [
        MeteredVm(machine=machine, owner=facts.records[job].owner, job=job)
        for machine in facts.machines
        if (job := facts.jobs.get(machine.id))
    ]
    return meter.count(vms if count else (), whole=count and not facts.hidden)


def _priced(context: SweepContext, facts: CapFacts) -> CapFacts:
    """With the names of owners, and with the prices of what they run, or have run."""
    spent = [usage for day in facts.usage for usage in day.spent]
    owners = {*(record.owner for record in facts.records.values()), *(item.owner for item in spent)}
    types = {
        *(machine.machine_type for machine in facts.machines),
        *(candidate.kind.machine_type for candidate in spent),
    }
    gpus = {*(machine.gpu for machine in facts.machines), *(another.kind.gpu for another in spent)}
    return replace(
        facts,
        keys={
            owner: quarantine_key(owner) for owner in sorted({owner.casefold() for owner in owners} - {""})
        },
        prices=prices_of(kept_prices(context.settings.prices_file), types, gpus),
    )


def _stops_owners(policy: Policy) -> bool:
    """Whether anybody's VMs may be stopped for what their owner uses."""
    said = [policy.owner_cap.remedy.value, *_team_remedies(policy)]
    return any(remedy != Remedy.NONE.value for remedy in said)


def _team_remedies(policy: Policy) -> list[str]:
    rules = [team.rules.get("owner_cap", {}) for team in policy.teams.values()]
    return [str(rule["remedy"]) for rule in rules if "remedy" in rule]


def _records(
    context: SweepContext, mine: Mapping[str, Collection[str]], broken: Mapping[str, str], look: LookAt
) -> dict[str, JobAttempts]:
    store, layout = context.cloud.store, context.settings.layout

    def read(job: str) -> tuple[str, JobAttempts]:
        try:
            return job, _read_records(store, layout, job, look(job, mine[job]))
        except UnansweredError as problem:
            return job, JobAttempts(problem=str(problem))
        except ValueError as problem:
            return job, JobAttempts(problem=str(problem), lasting=True)

    done = each(sorted(mine), read, context.settings.workers)
    if done.failures:
        raise ExceptionGroup("records of jobs could not be read", done.failures)
    found = dict(done.results)
    # What could not be read a moment ago, to tell whose its VMs are, is not known now either.
    unread = {
        job: JobAttempts(problem=why)
        for job, why in broken.items()
        if job in found and not found[job].problem
    }
    return {**found, **unread}


def _read_records(store: Store, layout: Layout, job: str, folder: JobFolder) -> JobAttempts:
    """What has changed since it was read last."""
    found = [_attempt(store, layout, folder, object_name) for object_name in folder.of(AttemptRecord)]
    attempts = tuple(sorted(found, key=lambda item: item.number))
    object_name = JobFileName(job=job)
    file = once(_CACHE, layout, folder, object_name, lambda: read_job_file(store, layout, job, folder))
    return JobAttempts(
        file=file,
        owner=file.owner or (attempts[-1].owner if attempts else ""),
        attempts=attempts,
        ended=_ended(folder, job, attempts),
    )


def _ended(folder: JobFolder, job: str, attempts: Sequence[Attempt]) -> bool:
    """Whether the job has a status, and not a late one of an attempt before its newest."""
    entry = folder.things.get(StatusCode(job=job))
    return entry is not None and not is_late(entry.metadata, entry.updated, newest(attempts))


def _attempt(store: Store, layout: Layout, folder: JobFolder, object_name: ObjectName) -> Attempt:
    """An attempt cut to what caps ask of it."""

    def read() -> Attempt:
        whole = decoded(layout.build(object_name), content_of(store, layout, folder, object_name), Attempt)
        return replace(
            whole,
            reason="",
            lease=None,
            tries=whole.tries[-1:],
            replaces={},
            markers={},
            script=None,
            cause="",
        )

    return once(_CACHE, layout, folder, object_name, read)


def _with_owners(
    records: Mapping[str, JobAttempts], running: Sequence[Machine], jobs: Mapping[str, str]
) -> dict[str, JobAttempts]:
    """A job whose records name nobody is its VM's label's."""
    said = {
        jobs[machine.id]: machine.labels[OWNER_LABEL]
        for machine in running
        if machine.id in jobs and OWNER_LABEL in machine.labels
    }
    return {job: replace(found, owner=found.owner or said.get(job, "")) for job, found in records.items()}
