"""What people are told: published for whoever listens, and handed to a channel."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import msgspec

from spotwarden.engine.executor.outside import ExecutorContext
from spotwarden.engine.trigger import BATCH, batch_of
from spotwarden.model.action import SendMessage, ShareOut, Tell
from spotwarden.model.outcome import Done

LONGEST_SWEEP = timedelta(minutes=10)
"""More than any function may take (infra/functions.yaml): one that tells later was frozen meanwhile."""


def tell(context: ExecutorContext, action: Tell) -> Done:
    """Publish a notice, while the sweep that saw what it says is no older than any lives."""
    notice, tick = action.notice, context.tick
    attributes = {"kind": notice.kind, "severity": notice.severity.value, "job": notice.job}
    accepted = context.cloud.notices.publish(
        msgspec.json.encode(notice),
        {**attributes, "id": notice.id},
        before=(tick.began or tick.now) + LONGEST_SWEEP,
    )
    return Done(at=accepted.at)


def share_out(context: ExecutorContext, action: ShareOut) -> Done:
    """Publish to the function's own topic."""
    attributes = {BATCH: context.tick.function}
    context.cloud.wakeups.publish_all([batch_of(jobs) for jobs in action.messages], attributes)
    return Done()


def send(context: ExecutorContext, action: SendMessage) -> Done:
    """Hand a message to its channel."""
    return Done(detail=context.cloud.mailer.send(action.message, before=action.before))


DO: Mapping[type, Callable[[ExecutorContext, Any], Done]] = {
    Tell: tell,
    ShareOut: share_out,
    SendMessage: send,
}
