"""An answer that a person gives by a link: shown first, given by one click, and once only.

The click is written down before it is carried out, so that a second one knows of it, and a crash between
the two swallows nothing: who clicks again carries it on. Each part is safe to repeat: a case notes which
offers it has taken, stops bear request ids made from the offer, an attempt can be claimed once.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from spotwarden import typed
from spotwarden.engine.context import SweepContext
from spotwarden.engine.decoding import decoded
from spotwarden.engine.log import log
from spotwarden.layout import CaseRecord, UsedOffer
from spotwarden.model.action import Change, StoreObject
from spotwarden.model.answer import Accepted, Answer, Answered
from spotwarden.model.case import Case
from spotwarden.model.jobfile import JobFile
from spotwarden.model.notice import Way
from spotwarden.model.offer import Offer, UsedAnswer
from spotwarden.model.outcome import Done, Lost, Unanswered
from spotwarden.notify.links.carrying import TRIES, apply_steps, changed, look_at_rest, refused, rejections
from spotwarden.notify.links.considering import consider
from spotwarden.notify.links.launchable import check_launch
from spotwarden.notify.links.offer_facts import look
from spotwarden.notify.links.on_cases import take
from spotwarden.notify.links.reply import (
    AnswerFailed,
    AnswerGiven,
    AnswerShown,
    AnswerTrouble,
    AnswerVerdict,
    OfferFacts,
    OfferStanding,
    Reply,
)
from spotwarden.notify.links.restarting import stopped_since
from spotwarden.notify.links.tokens import Keys
from spotwarden.notify.links.writing import write_answer
from spotwarden.ports import BrokenError, UnansweredError

typed.prepare(UsedAnswer)


class AnswerRequest(NamedTuple):
    """Where answers are taken: what one request works with."""

    context: SweepContext
    keys: Keys
    pause: Callable[[float], None]

    @property
    def now(self) -> datetime:
        """When the request came."""
        return self.context.tick.now


class Claim(NamedTuple):
    """The record of an answer as it was read; `used` is None where nobody has given it."""

    name: str
    used: UsedAnswer | None


def show(answer_request: AnswerRequest, offer: Offer) -> Reply:
    """What a click would do now. Nothing is changed."""
    claim = _claim(answer_request, offer)
    if claim.used is not None and claim.used.outcome:
        return AnswerGiven(used=claim.used, repeated=True)
    return AnswerShown(offer=offer, verdict=_consider(answer_request, offer, claimed=claim.used is not None))


def give(answer_request: AnswerRequest, offer: Offer) -> Reply:
    """Give the answer; one that was given stays given, and one that was begun is carried on."""
    claim = _claim(answer_request, offer)
    if claim.used is not None and claim.used.outcome:
        return AnswerGiven(used=claim.used, repeated=True)
    first = _look_at_rest(answer_request, offer, claimed=claim.used is not None)
    verdict = _verdict(answer_request, first)
    if claim.used is None:
        if verdict.standing is not OfferStanding.OPEN:
            return AnswerShown(offer=offer, verdict=verdict)
        claimed = _write_claim(answer_request, offer, claim)
        if isinstance(claimed, AnswerFailed):
            return claimed
        claim = claimed
    if claim.used is None or claim.used.outcome:
        return (
            AnswerGiven(used=claim.used, repeated=True)
            if claim.used
            else AnswerFailed(trouble=AnswerTrouble.UNSURE)
        )
    try:
        return _carry_out(answer_request, claim.name, claim.used, first, verdict)
    except UnansweredError:
        return AnswerFailed(trouble=AnswerTrouble.UNSURE)


def _claim(answer_request: AnswerRequest, offer: Offer) -> Claim:
    context = answer_request.context
    name = context.settings.layout.build(UsedOffer(entry=offer.id))
    stored = context.cloud.store.read(name)
    return Claim(name, None if stored is None else decoded(name, stored.data, UsedAnswer))


def _consider(answer_request: AnswerRequest, offer: Offer, *, claimed: bool) -> AnswerVerdict:
    return _verdict(answer_request, look(answer_request.context, offer, claimed=claimed))


def _look_at_rest(answer_request: AnswerRequest, offer: Offer, *, claimed: bool) -> OfferFacts:
    """What the verdict rests on that is about to be carried out; a sweep at work on the job is waited for."""
    anew = partial(look, answer_request.context, offer, claimed=claimed)
    return look_at_rest(anew, answer_request.now, answer_request.pause)


def _verdict(answer_request: AnswerRequest, offer_facts: OfferFacts) -> AnswerVerdict:
    """What comes of the answer; what a restart would launch is checked as a command checks it."""
    context = answer_request.context
    verdict = consider(offer_facts, context.policy, answer_request.now)
    restarts = offer_facts.offer.way is Way.RESTART and verdict.standing is OfferStanding.OPEN
    if not restarts or offer_facts.job is None:
        return verdict
    return check_launch(context, offer_facts.job, verdict)


def _write_claim(answer_request: AnswerRequest, offer: Offer, claim: Claim) -> Claim | AnswerFailed:
    """Write down that it is answered now; where somebody was first, by whom and when."""
    used = UsedAnswer(offer=offer, at=answer_request.now)
    match _write(
        answer_request, claim.name, used, f"{offer.to} answers {offer.notice}: {offer.way.value}", new=True
    ):
        case Done():
            return Claim(claim.name, used)
        case Lost():
            return _claim(answer_request, offer)
        case _:
            return AnswerFailed(trouble=AnswerTrouble.UNSURE)


def _write(answer_request: AnswerRequest, name: str, used: UsedAnswer, reason: str, *, new: bool) -> object:
    data = msgspec.json.format(msgspec.json.encode(used))
    step = StoreObject(
        reason=reason, job="", name=name, data=data, content_type="application/json", only_new=new
    )
    return answer_request.context.executor.apply(step)


def _carry_out(
    answer_request: AnswerRequest, name: str, used: UsedAnswer, first: OfferFacts, verdict: AnswerVerdict
) -> Reply:
    """Do what the verdict on the first look says, looking anew where somebody else was first."""
    done: list[Change] = []
    for _ in range(TRIES):
        if verdict.standing is OfferStanding.BARRED:
            return AnswerShown(offer=used.offer, verdict=replace(verdict, changed=changed(done)))
        if verdict.answer is not None:
            return _tell_case(answer_request, name, used, verdict, verdict.answer)
        outcomes = apply_steps(answer_request.context.executor, verdict)
        if any(isinstance(outcome, Unanswered) for outcome in outcomes):
            return AnswerFailed(trouble=AnswerTrouble.UNSURE)
        done += [step for step, lost in zip(verdict.steps, outcomes, strict=False) if isinstance(lost, Done)]
        if rejected := rejections(outcomes):
            barred = replace(refused(verdict, rejected), changed=changed(done))
            return AnswerShown(offer=used.offer, verdict=barred)
        if not any(isinstance(outcome, Lost) for outcome in outcomes):
            return _finish(answer_request, name, replace(used, outcome=verdict.done))
        newer = _look_at_rest(answer_request, used.offer, claimed=True)
        verdict = stopped_since(first, newer) or _verdict(answer_request, newer)
    return AnswerFailed(trouble=AnswerTrouble.UNSURE)


def _tell_case(
    answer_request: AnswerRequest, name: str, used: UsedAnswer, verdict: AnswerVerdict, answer: Answer
) -> Reply:
    """Write the answer into its case, which a sweep under way may be writing, too."""
    context, offer = answer_request.context, used.offer
    if offer.case is None:
        return AnswerShown(offer=offer, verdict=replace(verdict, standing=OfferStanding.BARRED, code=404))
    file = look(context, offer, claimed=True).file if offer.way is Way.EXTEND else JobFile()

    def decide(case: Case) -> Answered:
        return take(case, offer, answer, policy=context.policy, now=answer_request.now, file=file)

    record = CaseRecord(rule=offer.case.rule, key=offer.case.key)
    said = write_answer(context.cloud.store, context.settings.layout, context.executor, record, decide)
    if isinstance(said, Accepted):
        return _finish(answer_request, name, replace(used, outcome=verdict.done, note=said.note))
    late = replace(
        verdict, standing=OfferStanding.BARRED, code=409, title="Your answer doesn't apply", says=said.why
    )
    return AnswerShown(offer=offer, verdict=late)


def _finish(answer_request: AnswerRequest, name: str, used: UsedAnswer) -> AnswerGiven:
    """Write down what came of it; who clicks again reads that."""
    with suppress(UnansweredError):
        # It is done, whether this is written or not; without it the next click finds that it is so already.
        _write(answer_request, name, used, f"{used.offer.to}: {used.outcome}", new=False)
    return AnswerGiven(used=used)


def broken(answer_request: AnswerRequest, error: BrokenError) -> AnswerFailed:
    """Say which object must be mended, to the person and in the log."""
    log(answer_request.context.tick, "ERROR", f"An answer can't be taken: {error}")
    return AnswerFailed(trouble=AnswerTrouble.BROKEN, detail=str(error))
