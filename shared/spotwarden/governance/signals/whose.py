"""Whose a VM is: by what is written down, and for what may be deleted by the rule of `recovery.ownership`."""

from collections.abc import Collection, Iterable, Mapping

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import each
from spotwarden.governance.signals.records import read_identity
from spotwarden.layout import job_problem
from spotwarden.model.fleet import Machine
from spotwarden.model.instance import Instance
from spotwarden.model.watch import Watch
from spotwarden.recovery.identity import CLOCKS_APART, LOG_KEPT, OURS, JobIdentity, recorded_or_labelled
from spotwarden.recovery.open_jobs import read_watches


def jobs_of(context: SweepContext, machines: Collection[Machine]) -> dict[str, str]:
    """The job of each VM that has one; the list of open jobs is read only where a label does not tell."""
    said = {machine.id: machine.job for machine in machines}
    written = written_down(context) if not all(said.values()) else {}
    found = {one: job or written.get(one, "") for one, job in said.items()}
    return {one: job for one, job in found.items() if job and job_problem(job) is None}


def written_down(context: SweepContext) -> dict[str, str]:
    """The job that has written down a VM's id, for all of them."""
    opened = read_watches(context.cloud.store, context.settings.layout, context.settings.workers)
    return {
        instance: watched.watch.job
        for watched in opened.watched
        for instance in watched.watch.instances.values()
    }


def ids_of(watches: Iterable[Watch]) -> dict[str, str]:
    """The job of each id on these entries, those that it has left behind included."""
    return {instance: watch.job for watch in watches for instance in (*watch.past, *watch.instances.values())}


def proved(context: SweepContext, machines: Collection[Machine]) -> dict[str, str]:
    """The job of each labelled VM whose record, or whose chain's requests, tell that it is the job's."""
    labelled: dict[str, list[Machine]] = {}
    for machine in machines:
        if machine.job and job_problem(machine.job) is None:
            labelled.setdefault(machine.job, []).append(machine)
    if not labelled:
        return {}
    identities = _identities(context, labelled)
    found, unproved = {}, list[Machine]()
    for job, mine in labelled.items():
        for machine in mine:
            known = identities[job]
            if machine.id in known.ids or not (known.ids or known.attempts):
                # Of a job with nothing on record the label is all that there is: nothing contradicts it.
                found[machine.id] = job
            elif machine.attempt in identities[job].attempts:
                unproved.append(machine)
    return found | _by_log(context, unproved, identities)


def _identities(context: SweepContext, jobs: Collection[str]) -> dict[str, JobIdentity]:
    store, layout = context.cloud.store, context.settings.layout
    done = each(sorted(jobs), lambda job: read_identity(store, layout, job), context.settings.workers)
    if done.failures:
        raise ExceptionGroup("records of jobs could not be read", done.failures)
    return {one.job: one for one in done.results}


def _by_log(
    context: SweepContext, machines: Collection[Machine], identities: Mapping[str, JobIdentity]
) -> dict[str, str]:
    """The log is read only where labels need a proof."""
    if not machines:
        return {}
    now, lag = context.tick.now, context.policy.recovery.log_delay
    since = max(min(one.created or now for one in machines), now - LOG_KEPT) - CLOCKS_APART
    log = context.cloud.compute.operations(min(since, now))
    inserts = tuple(one for one in log.items if one.kind in {"insert", "bulkInsert"})
    return {
        one.id: one.job
        for one in machines
        if recorded_or_labelled(as_instance(one), identities[one.job].told(inserts), now, lag) in OURS
    }


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
