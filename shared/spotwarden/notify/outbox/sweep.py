"""A tick of the outbox: everybody's messages, each recipient by itself."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from msgspec.structs import replace

from spotwarden import clock
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept, each, swept
from spotwarden.engine.metrics import sweep_metrics
from spotwarden.model.action import Wait
from spotwarden.notify.channels import ChannelSettings, open_mailer
from spotwarden.notify.outbox.delivery import RecipientDelivery
from spotwarden.notify.outbox.intake import take_in
from spotwarden.notify.outbox.renderer import Renderer
from spotwarden.notify.outbox.shared import DeliveryContext
from spotwarden.notify.outbox.store import Box, boxes

BUDGET = timedelta(seconds=60)
"""No message is begun later in a sweep: the function is ended after two minutes, and one may take 20 s."""

Item = TypeVar("Item")


def deliver(context: SweepContext, renderer: Renderer, now: Callable[[], datetime]) -> Swept:
    """Send what is due, to everybody; one recipient's trouble never delays another's."""
    began = now()
    found = _in_turn(boxes(context.cloud.store, context.settings.layout), int(began.timestamp() // 60))
    waiting = [entry.updated for box in found for entry in box.entries.values()]
    age = (began - min([began, *waiting])).total_seconds()
    sweep_metrics().saw(notices=len(waiting), oldest_notice_seconds=age)

    def hurry() -> bool:
        return now() - began >= BUDGET

    workers = max(1, context.settings.workers // max(1, len(found)))
    shared = DeliveryContext(context, renderer, now, hurry, workers)

    def serve(box: Box) -> Wait | None:
        if hurry():
            return Wait(reason=f"no time left for {box.person}", soon=False)
        return RecipientDelivery(shared, box).serve()

    done = each(found, serve, context.settings.workers)
    return swept(done.results, done.failures)


def _in_turn(items: list[Item], minute: int) -> list[Item]:
    """Another one first each minute: where time runs out, it is not always the same who wait."""
    first = minute % len(items) if items else 0
    return [*items[first:], *items[:first]]


def take_in_or_deliver(
    context: SweepContext, message: Mapping[str, Any], environ: Mapping[str, str]
) -> Swept:
    """A notice is only written down; the next tick brings it to its people."""
    if not context.tick.patient:
        return take_in(context, message)
    channels = ChannelSettings.read(environ)
    cloud = replace(context.cloud, mailer=open_mailer(channels))
    context = SweepContext.open(cloud, context.settings, context.policy, context.tick)
    renderer = Renderer.open(context.settings, context.policy, channels, environ)
    return deliver(context, renderer, clock.now)
