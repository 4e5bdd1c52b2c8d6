"""What all deliveries of one sweep share."""

from collections.abc import Callable, Sequence
from datetime import datetime

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import each
from spotwarden.engine.log import log
from spotwarden.governance.cases.deliveries import arrived
from spotwarden.model.delivery import Pending
from spotwarden.notify.outbox.late import as_of
from spotwarden.notify.outbox.model import Waiting
from spotwarden.notify.outbox.records import OutboxRecords
from spotwarden.notify.outbox.renderer import Renderer
from spotwarden.ports import BrokenError


class DeliveryContext:
    """What all deliveries of one sweep share. `hurry` says when no further message may be begun."""

    def __init__(
        self,
        context: SweepContext,
        renderer: Renderer,
        now: Callable[[], datetime],
        hurry: Callable[[], bool],
        workers: int,
    ) -> None:
        self.context, self.renderer = context, renderer
        self.now, self.hurry, self.workers = now, hurry, workers
        self.store, self.layout = context.cloud.store, context.settings.layout
        self.limits = context.policy.notify
        self.records = OutboxRecords(self.store, self.layout)

    def all(self, some: Sequence[Waiting], do: Callable[[Waiting], Waiting | None]) -> list[Waiting]:
        """Do it for each, several at a time; gives what they give, in order. What fails rises."""
        done = each(some, do, max(1, min(self.workers, len(some))))
        if done.failures:
            raise ExceptionGroup("not all records could be written", done.failures)
        given = {result.key for result in done.results}
        return [item for item in some if item.key in given]

    def as_of(self, pending: Pending, now: datetime) -> Pending:
        """What it says now; whether it has arrived is asked only of what depends on it."""
        if pending.notice.grace is None:
            return pending
        try:
            there = arrived(self.store, self.layout, pending.notice.id)
        except BrokenError:
            # Nothing is done about a case of which nobody can read whether its warning has arrived.
            there = None
        return as_of(pending, now, there)

    def say(self, severity: str, message: str) -> None:
        """Log it."""
        log(self.context.tick, severity, message)
