"""A tick of the post room: everybody's letters, each recipient by itself."""

from datetime import timedelta
from typing import TypeVar

from spotwarden.engine.fan_out import Swept, each, swept
from spotwarden.engine.metrics import pulse
from spotwarden.governance.sweep import Duty
from spotwarden.model.action import Wait
from spotwarden.notify.outbox.delivery import Desk
from spotwarden.notify.outbox.model import Posting, Writing
from spotwarden.notify.outbox.shared import Office
from spotwarden.notify.outbox.store import Box, boxes

BUDGET = timedelta(seconds=60)
"""No letter is begun later in a sweep: the function is ended after two minutes, and one may take 20 s."""

Item = TypeVar("Item")


def deliver(duty: Duty, posting: Posting, writing: Writing) -> Swept:
    """Send what is due, to everybody; one recipient's trouble never delays another's."""
    began = writing.now()
    found = _in_turn(boxes(duty.cloud.store, duty.settings.layout), int(began.timestamp() // 60))
    waiting = [entry.updated for box in found for entry in box.entries.values()]
    age = (began - min([began, *waiting])).total_seconds()
    pulse().saw(notices=len(waiting), oldest_notice_seconds=age)

    def hurry() -> bool:
        return writing.now() - began >= BUDGET

    workers = max(1, duty.settings.workers // max(1, len(found)))
    office = Office(duty, posting, writing, hurry, workers)

    def serve(box: Box) -> Wait | None:
        if hurry():
            return Wait(reason=f"no time left for {box.person}", soon=False)
        return Desk(office, box).serve()

    done = each(found, serve, duty.settings.workers)
    return swept(done.results, done.failures)


def _in_turn(items: list[Item], minute: int) -> list[Item]:
    """Another one first each minute: where time runs out, it is not always the same who wait."""
    first = minute % len(items) if items else 0
    return [*items[first:], *items[:first]]
