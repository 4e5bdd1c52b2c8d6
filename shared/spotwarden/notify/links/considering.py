"""What becomes of an answer, by a link or a command: pure verdicts, made anew at every look and click."""

from collections.abc import Callable, Mapping
from datetime import datetime

from spotwarden.model.notice import TEST, Way
from spotwarden.model.policy import Policy
from spotwarden.notify.links.approving import approve
from spotwarden.notify.links.on_cases import keep_or_extend
from spotwarden.notify.links.reply import AnswerVerdict, OfferFacts
from spotwarden.notify.links.restarting import restart
from spotwarden.notify.links.standing import settled
from spotwarden.notify.links.stopping import stop

_WAYS: Mapping[Way, Callable[[OfferFacts, Policy, datetime], AnswerVerdict]] = {
    Way.KEEP: keep_or_extend,
    Way.EXTEND: keep_or_extend,
    Way.STOP: stop,
    Way.RESTART: restart,
    Way.APPROVE: approve,
}


def consider(offer_facts: OfferFacts, policy: Policy, now: datetime) -> AnswerVerdict:
    """What taking up this offer would do now, or why it does nothing; nothing for one of a test message."""
    if offer_facts.offer.notice.startswith(TEST):
        says = "The button works. It does nothing, because it is from a test message."
        return settled("This was a test", says, done="Nothing was done: it was a test")
    return _WAYS[offer_facts.offer.way](offer_facts, policy, now)
