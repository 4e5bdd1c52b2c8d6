"""Approve: what ops say, by a link, about a remedy for more VMs than a sweep may act upon by itself."""

from datetime import datetime

from msgspec.structs import replace

from spotwarden.governance.cases.notices import name_of, remedy_phrases
from spotwarden.model.answer import AnswerRefused, Approve
from spotwarden.model.case import Case
from spotwarden.model.governance import Mode
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Policy
from spotwarden.model.spans import span
from spotwarden.notify.links.on_cases import WHY, take
from spotwarden.notify.links.reply import AnswerVerdict, OfferFacts, OfferStanding
from spotwarden.notify.links.standing import FORBIDDEN, barred, facts, of_case, settled
from spotwarden.notify.outbox.mail_address import address


def approve(offer_facts: OfferFacts, policy: Policy, now: datetime) -> AnswerVerdict:
    """What an approval would allow, as the case stands; only whoever is ops now can give one."""
    case, offer = of_case(offer_facts), offer_facts.offer
    if isinstance(case, AnswerVerdict):
        return case
    if not (ops := address(policy.governance.ops)) or address(offer.to) != ops:
        return _not_ops(case)
    answer = Approve(by=offer.to, notice=offer.notice, why=WHY)
    said = take(case, offer, answer, policy=policy, now=now, file=JobFile())
    if isinstance(said, AnswerRefused):
        return replace(_refused(case, said), facts=facts(case, policy, now))
    if said.case == case:
        return settled(f"{name_of(case)} is already approved", f"{said.reason}.", done=said.reason)
    return AnswerVerdict(
        standing=OfferStanding.OPEN,
        title=f"Approve the action on {name_of(case)}?",
        says=_says(case, policy),
        notes=_notes(policy),
        facts=facts(case, policy, now),
        button=f"Approve for {len(case.subject.targets)} VMs",
        command=f"spotwarden cases approve {case.rule} {case.key}",
        instead="Or run:",
        answer=answer,
        done=said.reason,
    )


def _says(case: Case, policy: Policy) -> str:
    phrase = remedy_phrases(case.remedy, case)[0]
    return (
        f"All {len(case.subject.targets)} VMs will {phrase} by the next sweep that still finds this problem."
        f" The approval lasts {span(policy.governance.approval_lasts)}."
    )


def _notes(policy: Policy) -> tuple[str, ...]:
    """What keeps it from being carried out for now."""
    observes = "This deployment only observes. It takes no action until it enforces the policy."
    return (observes,) if policy.mode is Mode.OBSERVE else ()


def _refused(case: Case, said: AnswerRefused) -> AnswerVerdict:
    return barred(
        f"{name_of(case)} cannot be approved",
        f"{said.why[:1].upper()}{said.why[1:]}.",
        instead="To see the case, run:",
        command=f"spotwarden cases show {case.rule} {case.key}",
    )


def _not_ops(case: Case) -> AnswerVerdict:
    return barred(
        "Only ops can approve this",
        "The policy names someone else, or no one, as ops (governance.ops).",
        code=FORBIDDEN,
        instead="Anyone with write access to cases can run:",
        command=f"spotwarden cases approve {case.rule} {case.key}",
    )
