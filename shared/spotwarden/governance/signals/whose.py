"""Whose a VM is: by the ids on record, else by what a job's chain has asked for, never by a label alone.

Every rule asks here. A VM whose label nothing proves is nobody's, as one without a label is.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import each
from spotwarden.governance.signals.listings import list_together
from spotwarden.governance.signals.records import read_identity
from spotwarden.layout import RESERVED_JOBS, job_problem
from spotwarden.model.fleet import Machine
from spotwarden.model.instance import Instance
from spotwarden.model.watch import Watch
from spotwarden.ports import UnansweredError
from spotwarden.recovery.folder.open_jobs import read_watches
from spotwarden.recovery.observed.identity import (
    CLOCKS_APART,
    LOG_KEPT,
    OURS,
    JobIdentity,
    recorded_or_labelled,
)
from spotwarden.recovery.observed.shown import NODE_OF_A_GANG

LOOKED_AGAIN = timedelta(hours=1)
"""How long a VM without labels that is on no record is taken for a stranger without another look."""

_TOLD: GenerationCache[bool] = GenerationCache()
"""By VM and job: whether the insert that made it was asked for by the job. Nothing changes that any more."""


_STRANGERS: GenerationCache[datetime] = GenerationCache()
"""When a VM without labels was found on no record, by its id."""


class Owned(msgspec.Struct, frozen=True, kw_only=True):
    """The job of each VM that is one's, by instance id.

    `broken` says of jobs why their records could not be read: then a label is believed, for nothing else is
    known, and nothing may be done to any VM of such a job.
    """

    jobs: Mapping[str, str] = {}
    broken: Mapping[str, str] = {}


def owned(
    context: SweepContext, machines: Collection[Machine], written: Mapping[str, str] | None = None
) -> Owned:
    """Whose these VMs are; `written` are ids of which that is known, those of open jobs unless given.

    A job's records are read only where a label names it and the VM's id is not among those, the operation
    log only where a job's chain has the attempt that the labels name.
    """
    written = written_down(context) if written is None else written
    known = {machine.id: written[machine.id] for machine in machines if machine.id in written}
    labelled: dict[str, list[Machine]] = defaultdict(list)
    for machine in machines:
        if machine.id not in known and machine.job and job_problem(machine.job) is None:
            labelled[machine.job].append(machine)
    identities, broken = identities_of(context, labelled)
    unproved: list[Machine] = []
    for job, mine in labelled.items():
        identity = identities.get(job)
        for machine in mine:
            if identity is None or machine.id in identity.ids or not _has_record(identity):
                known[machine.id] = job
            elif machine.attempt in identity.attempts:
                unproved.append(machine)
    return Owned(jobs=known | _asked_for(context, unproved, identities), broken=broken)


def owned_or_left(context: SweepContext, machines: Collection[Machine], written: Mapping[str, str]) -> Owned:
    """The same, with VMs without labels that ran on when their job was closed: no list has their ids then.

    The name says in which job's records the id may be, and nothing else. Whoever is none is looked for once
    an hour.
    """
    known = owned(context, machines, written)
    others = [item for item in machines if item.id not in known.jobs and _may_be_left(item, context)]
    return replace(known, jobs={**known.jobs, **_recorded(context, others)}) if others else known


def _may_be_left(machine: Machine, context: SweepContext) -> bool:
    """Whether nothing but a record tells whose it is; of a job that was just launched there is none."""
    now, grace = context.tick.now, context.policy.governance.launch_grace
    if machine.job or machine.manager or machine.created is None or now - machine.created < grace:
        return False
    looked = _STRANGERS.get(machine.id, 0)
    return looked is None or not timedelta(0) <= now - looked < LOOKED_AGAIN


def _recorded(context: SweepContext, machines: Collection[Machine]) -> dict[str, str]:
    """The jobs of those of these VMs whose ids are on record."""
    folders = folders_of_jobs(context)
    named = {item.id: [job for job in jobs_named(item.name) if job in folders] for item in machines}
    identities, _broken = identities_of(context, {job for jobs in named.values() for job in jobs})
    found = {}
    for vm_id, jobs in named.items():
        for job in jobs:
            if job in identities and vm_id in identities[job].ids:
                found[vm_id] = job
        if vm_id not in found and identities.keys() >= {*jobs}:
            _STRANGERS.keep(vm_id, 0, context.tick.now)
    return found


def jobs_named(name: str) -> tuple[str, ...]:
    """The jobs that a VM of this name may be of: that of a gang, or its own, which counts for more."""
    gang = NODE_OF_A_GANG.fullmatch(name)
    return (gang["job"], name) if gang else (name,)


def folders_of_jobs(context: SweepContext) -> frozenset[str]:
    """The names of all jobs that have left anything in the bucket."""
    return frozenset(context.cloud.store.folders(context.settings.layout.prefix)) - RESERVED_JOBS


def written_down(context: SweepContext) -> dict[str, str]:
    """The job that has written down a VM's id, for all open jobs."""
    opened = read_watches(context.cloud.store, context.settings.layout, context.settings.workers)
    return ids_of(watched.watch for watched in opened.watched)


def ids_of(watches: Iterable[Watch]) -> dict[str, str]:
    """The job of each id on these entries, those that it has left behind included."""
    return {instance: watch.job for watch in watches for instance in (*watch.past, *watch.instances.values())}


def attempts_of(watches: Iterable[Watch]) -> dict[str, int]:
    """The attempt of each id that these entries expect to run."""
    return {instance: watch.attempt for watch in watches for instance in watch.instances.values()}


def _has_record(identity: JobIdentity) -> bool:
    """Whether anything is on record that a label could contradict."""
    return bool(identity.ids or identity.attempts)


def identities_of(
    context: SweepContext, jobs: Collection[str]
) -> tuple[Mapping[str, JobIdentity], Mapping[str, str]]:
    """What tells whose VMs are, and of jobs whose record cannot be read, why not."""
    store, layout = context.cloud.store, context.settings.layout
    broken: dict[str, str] = {}
    ahead = list_together(store, layout, jobs, context.settings.workers)

    def read(job: str) -> JobIdentity | None:
        try:
            return read_identity(store, layout, job, ahead.pop(job, None))
        except (UnansweredError, ValueError) as problem:
            broken[job] = str(problem)
            return None

    done = each(sorted(jobs), read, context.settings.workers)
    if done.failures:
        raise ExceptionGroup("records of jobs could not be read", done.failures)
    return {identity.job: identity for identity in done.results}, broken


def _asked_for(
    context: SweepContext, machines: Collection[Machine], identities: Mapping[str, JobIdentity]
) -> dict[str, str]:
    """Those that a request of their job's chain has made; what the log has told of a VM once holds."""
    told = {machine.id: _TOLD.get(f"{machine.job}/{machine.id}", 0) for machine in machines}
    asked = [machine for machine in machines if told[machine.id] is None]
    found = _by_log(context, asked, identities) if asked else {}
    return {machine.id: machine.job for machine in machines if told[machine.id] or found.get(machine.id)}


def _by_log(
    context: SweepContext, machines: Collection[Machine], identities: Mapping[str, JobIdentity]
) -> dict[str, bool]:
    """Whether it is its job's, by VM; of one in a zone whose log is hidden nobody knows, so it is not."""
    now, lag = context.tick.now, context.policy.recovery.log_delay
    since = max(min(machine.created or now for machine in machines), now - LOG_KEPT) - CLOCKS_APART
    log = context.cloud.compute.operations(min(since, now))
    inserts = tuple(entry for entry in log.items if entry.kind in {"insert", "bulkInsert"})
    found: dict[str, bool] = {}
    for machine in machines:
        identity = identities[machine.job].told(inserts)
        insert = identity.insert_of(machine.id)
        if insert is None and ("project" in log.unreachable or machine.zone in log.unreachable):
            continue
        found[machine.id] = recorded_or_labelled(as_instance(machine), identity, now, lag) in OURS
        if insert is not None and identity.requested(insert) is not None:
            _TOLD.keep(f"{machine.job}/{machine.id}", 0, found[machine.id])
    return found


def as_instance(machine: Machine) -> Instance:
    """The VM as recovery sees it."""
    turn = machine.labels.get("spotwarden-try", "")
    return Instance(
        id=machine.id,
        name=machine.name,
        zone=machine.zone,
        status=machine.status,
        created=machine.created,
        job=machine.job or None,
        attempt=machine.attempt or None,
        turn=int(turn) if turn.isascii() and turn.isdigit() else None,
    )
