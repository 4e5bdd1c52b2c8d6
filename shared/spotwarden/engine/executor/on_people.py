"""What people are told: published for whoever listens, and handed to a channel."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from spotwarden.engine.executor.outside import Hands
from spotwarden.model.action import SendLetter, Tell
from spotwarden.model.outcome import Done


def tell(hands: Hands, action: Tell) -> Done:
    """Publish a notice."""
    notice = action.notice
    attributes = {"kind": notice.kind, "severity": notice.severity.value, "job": notice.job}
    accepted = hands.cloud.notices.publish(msgspec.json.encode(notice), {**attributes, "id": notice.id})
    return Done(at=accepted.at)


def send(hands: Hands, action: SendLetter) -> Done:
    """Hand a letter to its channel."""
    return Done(detail=hands.cloud.post.send(action.letter))


DO: Mapping[type, Callable[[Hands, Any], Done]] = {Tell: tell, SendLetter: send}
