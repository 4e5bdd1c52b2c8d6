"""Stop now: an owner's own word about the VMs of a case. No grace and no blast radius hold it up.

A TPU slice can't be stopped: it is deleted as a whole, by its group's id.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from msgspec.structs import replace

from spotwarden.governance.cases.notices import UNLESS, may_be_taken, name_of
from spotwarden.governance.cases.ops_notices import delete_group
from spotwarden.governance.units import all_slices, some_slices, units
from spotwarden.model.action import Change, StopInstance
from spotwarden.model.case import Case
from spotwarden.model.finding import Target
from spotwarden.model.governance import Mode
from spotwarden.model.policy import Policy
from spotwarden.model.slice_action import DeleteGroup
from spotwarden.notify.links.reply import AnswerVerdict, OfferFacts, OfferStanding
from spotwarden.notify.links.standing import SILENT, asked, barred, facts, names, of_case, settled
from spotwarden.recovery.observed.fates import GOING, KEPT

IN_TIME = timedelta(minutes=2)
"""How long after the click a stop may be sent."""


CANT_STOP = "A slice can't be stopped. Its disks that are set to auto-delete go with it."


def stop(offer_facts: OfferFacts, policy: Policy, now: datetime) -> AnswerVerdict:
    """What stopping them would do: only VMs that the message named, that are the case's still, and run."""
    case = of_case(offer_facts)
    if isinstance(case, AnswerVerdict):
        return case
    meant = _meant(case, offer_facts.offer.notice)
    if verdict := _not_to_touch(case, meant, policy) or _unseen(offer_facts, case, meant):
        return replace(verdict, facts=facts(case, policy, now))
    status = {machine.id: machine.status for machine in offer_facts.fleet.items}
    running = [target for target in meant if target.id in status and status[target.id] not in GOING | KEPT]
    named = names([instance.name for instance in running])
    if not running:
        says = f"{names([node.name for node in meant])} is already stopped, stopping or gone.{_back(case)}"
        return settled(f"{name_of(case)} doesn't run", says, done=f"{name_of(case)} no longer runs")
    if offer_facts.scratch and not policy.governance.discard_local_ssd:
        return replace(_has_scratch(case, running), facts=facts(case, policy, now))
    verdict = AnswerVerdict(
        standing=OfferStanding.OPEN,
        title=f"Stop {name_of(case)} now?",
        says=f"{named} stops at once. {_what_stays(offer_facts, running)}",
        notes=(_aftermath(case),) if case.subject.job else (),
        facts=facts(case, policy, now),
        button="Stop now",
        instead="Or run:",
        command=f"spotwarden stop {case.subject.job}" if case.subject.job else _by_hand(running[0]),
        steps=tuple(_step(offer_facts, case, unit, now) for unit in units(running).values()),
        done=f"{named} is stopping; {_stayed(offer_facts, running)}",
    )
    return _with_slices(verdict, case, running) if some_slices(running) else verdict


def _with_slices(verdict: AnswerVerdict, case: Case, running: Sequence[Target]) -> AnswerVerdict:
    """The same for slices, or for VMs some of which are parts of them."""
    if not all_slices(running):
        return replace(verdict, notes=(*verdict.notes, f"Its TPU slices are deleted. {CANT_STOP}"))
    return replace(
        verdict,
        title=f"Delete {name_of(case)} now?",
        says=f"{name_of(case)} is deleted at once. {CANT_STOP}",
        button="Delete now",
        command=f"spotwarden stop {case.subject.job} --delete" if case.subject.job else verdict.command,
        done=f"{name_of(case)} is being deleted",
    )


def _meant(case: Case, notice: str) -> list[Target]:
    """The VMs that the message named and that the case is about still."""
    told = {target for warning in case.warnings if warning.notice == notice for target in warning.targets}
    return [target for target in case.subject.targets if target.id in told and target.id.isdecimal()]


def _not_to_touch(case: Case, meant: Sequence[Target], policy: Policy) -> AnswerVerdict | None:
    title = f"{name_of(case)} was not stopped"
    if not case.subject.ours:
        return barred(title, "This VM isn't part of a job. Spotwarden never touches such a VM.")
    if not meant:
        return barred(
            title,
            "The case is no longer about the VMs in the message.",
            instead="To see its status, run:",
            command=f"spotwarden cases show {case.rule} {case.key}",
        )
    if policy.mode is Mode.OBSERVE:
        return barred(
            title,
            "This deployment only observes. It stops nothing, even on request.",
            instead="To stop it yourself, run:",
            command=_by_hand(meant[0]),
        )
    return None


def _unseen(offer_facts: OfferFacts, case: Case, meant: Sequence[Target]) -> AnswerVerdict | None:
    """Of a zone that does not answer nobody knows what runs there."""
    there = {machine.id for machine in offer_facts.fleet.items}
    hidden = sorted(
        {target.zone for target in meant if target.id not in there and offer_facts.fleet.hides(target.zone)}
    )
    if not hidden:
        return None
    says = (
        f"Compute Engine doesn't list {', '.join(hidden)} right now. Nothing was changed. Try again"
        " in a minute."
    )
    return barred(f"We couldn't check {name_of(case)}", says, code=SILENT)


def _has_scratch(case: Case, running: Sequence[Target]) -> AnswerVerdict:
    return barred(
        f"{name_of(case)} has local SSDs",
        "A stop discards their data, and the policy doesn't allow that (governance.discard_local_ssd).",
        instead="To stop it yourself and discard the data, run:",
        command=f"{_by_hand(running[0])} --discard-local-ssd=true",
    )


def _what_stays(offer_facts: OfferFacts, running: Sequence[Target]) -> str:
    lost, other = ("The data on its local SSDs is discarded. ", "other ") if offer_facts.scratch else ("", "")
    kept = f"{lost}Its {other}{_kept(running)}"
    return f"{kept}. You can restart it." if may_be_taken(running) else f"{kept}, and you can restart it."


def _stayed(offer_facts: OfferFacts, running: Sequence[Target]) -> str:
    if offer_facts.scratch:
        return "the data on its local SSDs is discarded"
    return f"its {_kept(running)}"


def _kept(running: Sequence[Target]) -> str:
    return UNLESS if may_be_taken(running) else "disks are kept"


def _aftermath(case: Case) -> str:
    return f"Its job {case.subject.job} is then closed and won't restart by itself."


def _back(case: Case) -> str:
    """What a link about VMs cannot end: their job, where Compute Engine and nobody else stopped them."""
    job = case.subject.job
    end = f"`spotwarden stop {job}` ends the job."
    return f" Nothing was changed. If Compute Engine preempted it, {job} restarts. {end}" if job else ""


def _by_hand(target: Target) -> str:
    if target.group:
        return delete_group(target)
    return f"gcloud compute instances stop {target.name} --zone={target.zone}"


def _step(offer_facts: OfferFacts, case: Case, unit: Sequence[Target], now: datetime) -> Change:
    """The same request however often the button is pressed, until somebody has started the VM again."""
    offer, target = offer_facts.offer, unit[0]
    if target.group:
        return DeleteGroup(
            reason=reason(offer_facts),
            job=case.subject.job,
            zone=target.zone,
            group=target.group.name,
            group_id=target.group.id,
            request_id=str(uuid5(NAMESPACE_URL, f"spotwarden/answers/{offer.id}/{target.group.id}")),
            before=now + IN_TIME,
            targets=tuple(unit),
        )
    return StopInstance(
        reason=reason(offer_facts),
        job=case.subject.job,
        node=target.name,
        zone=target.zone,
        instance_id=target.id,
        request_id=str(uuid5(NAMESPACE_URL, f"spotwarden/answers/{offer.id}/{_life(offer_facts, target)}")),
        before=now + IN_TIME,
        discard_local_ssd=offer_facts.scratch,
    )


def _life(offer_facts: OfferFacts, target: Target) -> str:
    """The VM, and since when it runs: Compute Engine does nothing for a request that it knows as done."""
    began = (machine.started for machine in offer_facts.fleet.items if machine.id == target.id)
    return f"{target.id}/{next(began, None)}"


def reason(offer_facts: OfferFacts) -> str:
    """Who wants the stop, and what goes with it, for the audit."""
    return asked(offer_facts.offer) + (
        "; the data on its local SSDs is discarded" if offer_facts.scratch else ""
    )
