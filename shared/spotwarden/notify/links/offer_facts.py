"""What an offer is about, read anew at every look and click."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from spotwarden import typed
from spotwarden.engine.context import SweepContext
from spotwarden.engine.decoding import decoded
from spotwarden.layout import CaseRecord, StatusCode
from spotwarden.model.attempt import CLOSED
from spotwarden.model.case import Case
from spotwarden.model.facts import JobFacts
from spotwarden.model.finding import Target
from spotwarden.model.fleet import Fleet
from spotwarden.model.notice import Way
from spotwarden.model.offer import Offer
from spotwarden.notify.links.reply import OfferFacts
from spotwarden.recovery.folder.job_folder import look_at_job, read_job_file
from spotwarden.recovery.instances.own_instances import with_own_instances
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.observed.reopening import started_since

typed.prepare(Case)

SCRATCH = "SCRATCH"
"""The type of a local SSD among an instance's disks (Google: "REST Resource: instances")."""

UNSEEN_AT_MOST = timedelta(hours=1)
"""How long what a person has done may be unseen by recovery, which looks each minute."""


def look(context: SweepContext, offer: Offer, *, claimed: bool = False) -> OfferFacts:
    """Everything that this offer hangs on, and nothing else."""
    return replace(_LOOKS[offer.way](context, offer), claimed=claimed)


def _on_case(context: SweepContext, offer: Offer) -> OfferFacts:
    return OfferFacts(offer=offer, case=_case(context, offer))


def _on_limit(context: SweepContext, offer: Offer) -> OfferFacts:
    """A limit is held against what the job says of itself."""
    offer_facts = _on_case(context, offer)
    job = offer_facts.case.subject.job if offer_facts.case else ""
    if not job:
        return offer_facts
    return replace(offer_facts, file=read_job_file(context.cloud.store, context.settings.layout, job))


def _on_vms(context: SweepContext, offer: Offer) -> OfferFacts:
    """The VMs are asked after only where the case is the message's."""
    offer_facts = _on_case(context, offer)
    if offer_facts.case is None or offer.case is None or offer_facts.case.opened != offer.case.opened:
        return offer_facts
    targets = {target.id: target for target in offer_facts.case.subject.targets if target.id.isdecimal()}
    if not targets:
        return offer_facts
    fleet = _of_standing_groups(context, context.cloud.compute.fleet(ids=sorted(targets)), targets)
    return replace(
        offer_facts,
        fleet=fleet,
        scratch=any(machine.local_ssds for machine in fleet.items if machine.id in targets),
    )


def _of_standing_groups(context: SweepContext, fleet: Fleet, targets: Mapping[str, Target]) -> Fleet:
    """The VMs but those of slices whose group is gone, or is another one by now: these are nobody's."""
    groups = {target.group: target.zone for target in targets.values() if target.group}
    gone = {
        group
        for group, zone in groups.items()
        if context.cloud.compute.group(zone, group.name, group.id) is None
    }
    return replace(
        fleet, items=tuple(item for item in fleet.items if targets[item.id].group not in {*gone} - {None})
    )


def _on_job(context: SweepContext, offer: Offer) -> OfferFacts:
    facts = look_at_job(context.cloud.store, context.settings.layout, offer.job)
    return _with_instances(context, offer, facts) if facts.ledger else OfferFacts(offer=offer, job=facts)


def look_at_all(context: SweepContext, offer: Offer) -> OfferFacts:
    """The job with every VM of it, and with the disks of one: the VMs of a job are made alike."""
    facts = look_at_job(context.cloud.store, context.settings.layout, offer.job)
    offer_facts = _with_instances(context, offer, facts)
    first = next(iter(offer_facts.job.instances), None) if offer_facts.job else None
    found = context.cloud.compute.resource(first.zone, first.id) if first else None
    disks = found.get("disks", ()) if found else ()
    sizes = [
        (int(disk.get("diskSizeGb") or 0), bool(disk.get("autoDelete"))) for disk in disks if not _lost(disk)
    ]
    return replace(
        offer_facts,
        started=_started(context, offer_facts.job) if offer_facts.job else {},
        scratch=any(_lost(disk) for disk in disks),
        gb=sum(size for size, _ in sizes),
        gb_kept=sum(size for size, auto in sizes if not auto),
    )


def _started(context: SweepContext, facts: JobFacts) -> dict[str, str]:
    """What of a closed job was started again; an older start has been seen by a sweep."""
    if facts.newest is None or facts.newest.state not in CLOSED:
        return {}
    since = max(facts.newest.updated, context.tick.now - UNSEEN_AT_MOST) - CLOCKS_APART
    return started_since(facts, context.cloud.compute.operations(since).items)


def _lost(disk: Mapping[str, Any]) -> bool:
    """Whether what is on the disk goes with the VM's power."""
    return disk.get("type") == SCRATCH


def _with_instances(context: SweepContext, offer: Offer, facts: JobFacts) -> OfferFacts:
    store, layout = context.cloud.store, context.settings.layout
    own = with_own_instances(context, facts)
    status = store.entry(layout.build(StatusCode(job=offer.job)))
    return OfferFacts(
        offer=offer,
        job=own,
        status=(layout.build(StatusCode(job=offer.job)), status.generation) if status else None,
    )


def _case(context: SweepContext, offer: Offer) -> Case | None:
    if offer.case is None:
        return None
    name = context.settings.layout.build(CaseRecord(rule=offer.case.rule, key=offer.case.key))
    stored = context.cloud.store.read(name)
    return None if stored is None else decoded(name, stored.data, Case)


_LOOKS: Mapping[Way, Callable[[SweepContext, Offer], OfferFacts]] = {
    Way.KEEP: _on_case,
    Way.EXTEND: _on_limit,
    Way.STOP: _on_vms,
    Way.RESTART: _on_job,
    Way.APPROVE: _on_case,
}
