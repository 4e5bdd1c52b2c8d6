"""How a case stands, for the person who is about to answer it; and the verdicts that all answers share."""

from collections.abc import Iterator
from datetime import datetime

from spotwarden.governance.cases.approval import is_approved, is_asked
from spotwarden.governance.cases.history import is_kept, standing
from spotwarden.governance.cases.notices import name_of, remedy_phrases, title_of
from spotwarden.model.case import Case, CaseState
from spotwarden.model.governance import Mode, Remedy
from spotwarden.model.offer import Offer
from spotwarden.model.policy import Policy
from spotwarden.model.spans import moment
from spotwarden.notify.links.reply import AnswerVerdict, OfferFacts, OfferStanding

CONFLICT, FORBIDDEN, NOT_FOUND, SILENT = 409, 403, 404, 503
MOST_NAMED = 8
"""So many VMs are named on a page; of more the count says enough."""


def asked(offer: Offer) -> str:
    """Who wants it, and in answer to what: a command answers nothing."""
    return f"{offer.to} asks for it" + (f", in answer to {offer.notice}" if offer.notice else "")


def barred(
    title: str, says: str, *, code: int = CONFLICT, instead: str = "", command: str = ""
) -> AnswerVerdict:
    """The verdict that nothing can be done, and what can be instead."""
    return AnswerVerdict(
        standing=OfferStanding.BARRED, title=title, says=says, code=code, instead=instead, command=command
    )


def settled(title: str, says: str, *, done: str) -> AnswerVerdict:
    """The verdict that nothing is left to do."""
    return AnswerVerdict(standing=OfferStanding.SETTLED, title=title, says=says, done=done)


def of_case(offer_facts: OfferFacts) -> Case | AnswerVerdict:
    """The very case that the message was about; a verdict where it is no more."""
    case, ref = offer_facts.case, offer_facts.offer.case
    if case is None or ref is None:
        return barred(
            "This case is closed",
            "What the message was about is over, so there is nothing to answer.",
            code=NOT_FOUND,
            instead="To list open cases, run:",
            command="spotwarden cases list",
        )
    if case.opened != ref.opened:
        return barred(
            "This message is about an earlier case",
            f"That case is closed. A new one was opened at {moment(case.opened)}. Answer the newest"
            " message, or run:",
            command=f"spotwarden cases show {case.rule} {case.key}",
        )
    return case


def facts(case: Case, policy: Policy, now: datetime) -> tuple[tuple[str, str], ...]:
    """How the case stands now, as word and text."""
    return tuple((word, text) for word, text in _facts(case, policy, now) if text)


def _facts(case: Case, policy: Policy, now: datetime) -> Iterator[tuple[str, str]]:
    yield "What", f"{name_of(case)} {title_of(case)}"
    yield "Why", case.reason
    yield "Case", f"{case.rule} {case.key}"
    yield "Status", standing(case, now) + (f" by {case.kept_by}" if is_kept(case, now) else "")
    yield "Next", _otherwise(case, policy, now)
    yield "Extended", f"by {case.extended:g} h so far" if case.extended else ""
    yield (
        "VMs",
        names(
            [
                f"{target.name} ({target.zone})" if target.zone else target.name
                for target in case.subject.targets
            ]
        ),
    )
    yield "Owner", case.subject.owner


def _otherwise(case: Case, policy: Policy, now: datetime) -> str:
    """What was announced, and still is to come; "" for nothing."""
    said = [
        warning
        for warning in case.warnings
        if warning.counts and warning.due is not None and warning.remedy is not Remedy.NONE
    ]
    if not said or case.state is CaseState.ACTED:
        return ""
    if is_asked(case, now) and not is_approved(case, now):
        return "no action until it is approved"
    held = ", but this deployment only observes" if policy.mode is Mode.OBSERVE else ""
    return f"it will {remedy_phrases(said[-1].remedy, case)[0]} at {moment(said[-1].due)} or later{held}"


def names(said: list[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
    return ", ".join(said[:MOST_NAMED]) + more
