"""Keep and extend: what a person says about a case, by a link."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.governance.answering import answered
from spotwarden.governance.cases.notices import name_of
from spotwarden.model.answer import Accepted, Answer, Answered, AnswerRefused, Extend, Keep
from spotwarden.model.case import Case
from spotwarden.model.jobfile import JobFile
from spotwarden.model.notice import Way
from spotwarden.model.offer import Offer
from spotwarden.model.policy import Policy
from spotwarden.model.spans import moment, span
from spotwarden.model.values import written
from spotwarden.notify.links.reply import AnswerVerdict, OfferFacts, OfferStanding
from spotwarden.notify.links.standing import barred, facts, of_case, settled

LATER = "this message is about an earlier case, which is closed. A new case was opened since"
WHY = "by a link in a message"


def keep_or_extend(offer_facts: OfferFacts, policy: Policy, now: datetime) -> AnswerVerdict:
    """What a veto or an extension would do to the case as it stands."""
    case, offer = of_case(offer_facts), offer_facts.offer
    if isinstance(case, AnswerVerdict):
        return case
    answer = _answer(offer, policy, now)
    verb = "Keep" if offer.way is Way.KEEP else "Extend"
    if offer.id in case.answered:
        return settled(f"{verb} {name_of(case)}", "This answer already applies.", done=_given(case, offer))
    if _kept_longer(case, answer):
        until = f"until {moment(case.keep_until)} by {case.kept_by}"
        done = f"{name_of(case)} is already kept for longer, {until}"
        return settled(f"{name_of(case)} is already kept", f"{done}.", done=done)
    said = take(case, offer, answer, policy=policy, now=now, file=offer_facts.file)
    if isinstance(said, AnswerRefused):
        return replace(
            barred(
                f"{name_of(case)} cannot be {'kept' if offer.way is Way.KEEP else 'extended'}",
                f"{said.why[:1].upper()}{said.why[1:]}.",
                instead="To see the case, run:",
                command=f"spotwarden cases show {case.rule} {case.key}",
            ),
            facts=facts(case, policy, now),
        )
    return AnswerVerdict(
        standing=OfferStanding.OPEN,
        title=f"{verb} {name_of(case)}?",
        says=_says(answer, case),
        notes=(said.note[:1].upper() + said.note[1:] + ".",) if said.note else (),
        facts=facts(case, policy, now),
        button=_button(answer, now),
        command=_command(answer, case, now),
        instead="Or run:",
        answer=answer,
        done=_done(answer, case),
    )


def take(
    case: Case, offer: Offer, answer: Answer, *, policy: Policy, now: datetime, file: JobFile
) -> Answered:
    """The case with this answer, given once: one that has taken the offer stays as it is."""
    if offer.case is None or case.opened != offer.case.opened:
        return AnswerRefused(why=LATER)
    if offer.id in case.answered or _kept_longer(case, answer):
        return Accepted(case=case, reason=f"{offer.to} has already answered it")
    said = answered(case, answer, policy=policy, now=now, file=file)
    if isinstance(said, AnswerRefused):
        return said
    return replace(said, case=replace(said.case, answered=(*said.case.answered, offer.id)))


def _given(case: Case, offer: Offer) -> str:
    """What the answer came to, as far as nobody has answered since."""
    if offer.way is Way.EXTEND:
        return _done(Extend(by=offer.to, hours=offer.hours), case)
    if case.keep_until is None or case.kept_by != offer.to:
        return f"{offer.to} has answered, and someone else answered since"
    return _done(Keep(by=offer.to, until=case.keep_until), case)


def _kept_longer(case: Case, answer: Answer) -> bool:
    """Whether somebody has given it more time than this: a click on an old message takes nothing away."""
    return isinstance(answer, Keep) and case.keep_until is not None and case.keep_until > answer.until


def _answer(offer: Offer, policy: Policy, now: datetime) -> Keep | Extend:
    """No longer than the policy lets anybody keep anything: a message may be older than the policy."""
    if offer.way is Way.EXTEND:
        return Extend(by=offer.to, hours=offer.hours, why=WHY)
    lasts = min(timedelta(hours=offer.hours), policy.governance.longest_keep)
    return Keep(by=offer.to, until=now + lasts, why=WHY)


def _says(answer: Keep | Extend, case: Case) -> str:
    return f"{_done(answer, case)}. You are warned again before any action after that."


def _done(answer: Keep | Extend, case: Case) -> str:
    if isinstance(answer, Keep):
        return f"Spotwarden takes no action on {name_of(case)} until {moment(answer.until)}"
    return f"{name_of(case)} may run {span(timedelta(hours=answer.hours))} longer"


def _button(answer: Keep | Extend, now: datetime) -> str:
    if isinstance(answer, Keep):
        return f"Keep for {span(answer.until - now)}"
    return f"Extend by {span(timedelta(hours=answer.hours))}"


def _command(answer: Keep | Extend, case: Case, now: datetime) -> str:
    if isinstance(answer, Keep):
        return f"spotwarden cases keep {case.rule} {case.key} --for {written(answer.until - now)}"
    return f"spotwarden extend {case.subject.job} --by {written(timedelta(hours=answer.hours))}"
