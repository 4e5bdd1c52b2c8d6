"""The weekly reports go out once, however often the ticks come.

They are published first and marked as told after that. A tick that dies in between has them published again,
under the same ids, and the outbox knows them by these.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

import msgspec

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import each
from spotwarden.layout import ReportPart
from spotwarden.model.action import Tell
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.moment import Moment
from spotwarden.model.notice import Notice
from spotwarden.model.outcome import Done, Outcome
from spotwarden.ports import ConflictError
from spotwarden.report.model.week import Week

Due = Callable[[NotifyLimits, datetime], Week | None]
Write = Callable[[Week], Sequence[Notice]]


class WeeklyToldRecord(msgspec.Struct, frozen=True, kw_only=True):
    """That the messages of a week were published: when, and how many."""

    at: Moment
    messages: int


def tell_weekly(context: SweepContext, due: Due, write: Write) -> list[Exception]:
    """Publish the weekly reports that is due, unless that is done; gives what failed.

    On most ticks nothing is due, and nothing is read.
    """
    week = due(context.policy.notify, context.tick.now)
    if week is None:
        return []
    store, name = (
        context.cloud.store,
        context.settings.layout.build(ReportPart(path=f"weekly/{week.name}.json")),
    )
    if store.read(name) is not None:
        return []
    messages = write(week)
    told = each(messages, partial(_tell, context), context.settings.workers)
    if not told.failures and all(isinstance(result, Done) for result in told.results):
        done = msgspec.json.encode(WeeklyToldRecord(at=context.tick.now, messages=len(messages)))
        with suppress(ConflictError):
            store.write(name, done, generation=0, content_type="application/json")
    return list(told.failures)


def _tell(context: SweepContext, notice: Notice) -> Outcome:
    return context.executor.apply(Tell(reason=notice.what, notice=notice))
