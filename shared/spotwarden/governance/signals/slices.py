"""Which VMs are parts of a job's TPU slice: those that a group on the job's chain has, by its id.

A slice's VMs are a managed instance group's, which the rules leave alone: it would make them anew. A job's
own group goes as one, by its id. Labels and names only say where to look: anybody can copy them, and a group
may be deleted and another be made of its name.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

import msgspec
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import each
from spotwarden.engine.log import log
from spotwarden.governance.signals.whose import identities_of
from spotwarden.layout import job_problem
from spotwarden.model.fleet import A_GROUP, JOB_LABEL, Fleet, Machine
from spotwarden.model.slices import SeenGroup, SliceGroup
from spotwarden.ports import RejectedError, UnansweredError
from spotwarden.recovery.observed.identity import JobIdentity

MOST_GROUPS = 8
"""So many groups of a job's chain are looked at in one sweep, the newest first: older ones are gone."""
_GONE: GenerationCache[bool] = GenerationCache()
"""Groups that are known to be gone, by their id: it never comes again."""


class SliceFleet(msgspec.Struct, frozen=True, kw_only=True):
    """The fleet, in which each VM of a job's slice names its group; and by id whose VMs are written down.

    `broken` says of jobs why their chains could not be read.
    """

    fleet: Fleet
    written: Mapping[str, str]
    broken: Mapping[str, str] = {}


class _Sought(msgspec.Struct, frozen=True, kw_only=True):
    """The VMs of groups that may be one job's."""

    identity: JobIdentity
    ids: frozenset[str]


def with_slices(
    context: SweepContext, fleet: Fleet, written: Mapping[str, str], only: Collection[str] = ()
) -> SliceFleet:
    """Look which VMs are parts of slices; a group that does not answer hides its zone, and its VMs.

    Where `only` some VMs were listed, the others of their groups come with them.
    """
    sought = _sought(fleet.items, written)
    if not sought:
        return SliceFleet(fleet=fleet, written=written)
    identities, broken = identities_of(context, sought)
    asked = [
        _Sought(identity=identities[job], ids=frozenset(sought[job])) for job in sought if job in identities
    ]
    found = each(asked, lambda job: _groups(context, job), context.settings.workers)
    if found.failures:
        raise ExceptionGroup("the groups of slices could not be read", found.failures)
    groups = {job.identity.job: seen for job, seen in found.results if isinstance(seen, tuple)}
    silent = {item for job, seen in found.results if not isinstance(seen, tuple) for item in job.ids}
    fleet = _without(fleet, silent)
    members = {item: (job, group) for job, mine in groups.items() for group in mine for item in _ids(group)}
    if only and (missing := members.keys() - {machine.id for machine in fleet.items}):
        more = context.cloud.compute.fleet(ids=missing)
        fleet = replace(fleet, items=(*fleet.items, *more.items), unreachable=_both(fleet, more))
    items = tuple(_part(machine, members) for machine in fleet.items)
    proved = {machine.id: members[machine.id][0] for machine in items if machine.group}
    return SliceFleet(fleet=replace(fleet, items=items), written={**written, **proved}, broken=broken)


def _sought(machines: Iterable[Machine], written: Mapping[str, str]) -> dict[str, set[str]]:
    """The ids of a group's VMs, by the job whose slice they may be."""
    found: dict[str, set[str]] = defaultdict(set)
    for machine in machines:
        if machine.manager == A_GROUP:
            job = written.get(machine.id) or machine.labels.get(JOB_LABEL, "")
            if job and job_problem(job) is None:
                found[job].add(machine.id)
    return found


def _groups(context: SweepContext, job: _Sought) -> tuple[_Sought, tuple[SeenGroup, ...] | None]:
    """The job and those of its groups that have these VMs; None where one does not answer."""
    missing, found = set(job.ids), []
    for zone, group in islice(_on_chain(job.identity), MOST_GROUPS):
        if not missing:
            break
        try:
            seen = context.cloud.compute.group(zone, group.name, group.id)
        except (UnansweredError, RejectedError) as problem:
            name = job.identity.job
            log(context.tick, "WARNING", f"the TPU slice {group.name} of {name} can't be read: {problem}")
            return job, None
        if seen is None:
            _GONE.keep(group.id, 0, True)
        elif missing & _ids(seen):
            found.append(seen)
            missing -= _ids(seen)
    return job, tuple(found)


def _on_chain(identity: JobIdentity) -> Iterator[tuple[str, SliceGroup]]:
    """The groups of a job's chain with their zones, the newest first; none that is known to be gone."""
    for number in sorted(identity.attempts, reverse=True):
        for tried in reversed(identity.attempts[number].tries):
            if tried.group and tried.group.id and not _GONE.get(tried.group.id, 0):
                yield tried.place, tried.group


def _ids(group: SeenGroup) -> frozenset[str]:
    return frozenset(group.ids.values())


def _part(machine: Machine, members: Mapping[str, tuple[str, SeenGroup]]) -> Machine:
    """The VM with its group, where that is a job's; who makes it anew is the job's then, and no stranger."""
    if machine.manager != A_GROUP or machine.id not in members:
        return machine
    _job, group = members[machine.id]
    return replace(machine, manager="", group=SliceGroup(name=group.name, id=group.id))


def _without(fleet: Fleet, silent: Collection[str]) -> Fleet:
    """The fleet without these VMs, whose zones are hidden then: of a case about them nobody knows."""
    if not silent:
        return fleet
    zones = {machine.zone for machine in fleet.items if machine.id in silent}
    left = tuple(machine for machine in fleet.items if machine.id not in silent)
    return replace(fleet, items=left, unreachable=tuple(sorted(zones.union(fleet.unreachable))))


def _both(fleet: Fleet, more: Fleet) -> tuple[str, ...]:
    return tuple(sorted({*fleet.unreachable, *more.unreachable}))
