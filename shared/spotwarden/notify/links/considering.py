"""What becomes of an answer, by a link or a command: pure verdicts, made anew at every look and click."""

from collections.abc import Callable, Mapping
from datetime import datetime

from spotwarden.model.notice import Way
from spotwarden.model.policy import Policy
from spotwarden.notify.links.on_cases import keep_or_extend
from spotwarden.notify.links.reply import Affair, Verdict
from spotwarden.notify.links.restarting import restart
from spotwarden.notify.links.stopping import stop

_WAYS: Mapping[Way, Callable[[Affair, Policy, datetime], Verdict]] = {
    Way.KEEP: keep_or_extend,
    Way.EXTEND: keep_or_extend,
    Way.STOP: stop,
    Way.RESTART: restart,
}


def consider(affair: Affair, policy: Policy, now: datetime) -> Verdict:
    """What taking up this offer would do now, or why it does nothing."""
    return _WAYS[affair.offer.way](affair, policy, now)
