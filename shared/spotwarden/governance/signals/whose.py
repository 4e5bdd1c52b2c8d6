"""Whose a VM is: the job's that its label names, else the job's that has written down its id."""

from collections.abc import Collection

from spotwarden.engine.context import SweepContext
from spotwarden.layout import job_problem
from spotwarden.model.fleet import Machine
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
