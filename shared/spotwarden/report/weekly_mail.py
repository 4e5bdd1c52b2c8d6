"""The letters of the week go out once, however often the ticks come.

They are published first and marked as told after that. A tick that dies in between has them published again,
under the same ids, and the post room knows them by these.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

import msgspec

from spotwarden.engine.fan_out import each
from spotwarden.governance.sweep import Duty
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


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """That the letters of a week were published: when, and how many."""

    at: Moment
    letters: int


def tell_weekly(duty: Duty, due: Due, write: Write) -> list[Exception]:
    """Publish the letters of the week that is due, unless that is done; gives what failed.

    On most ticks nothing is due, and nothing is read.
    """
    week = due(duty.policy.notify, duty.tick.now)
    if week is None:
        return []
    store, name = duty.cloud.store, duty.settings.layout.build(ReportPart(path=f"weekly/{week.name}.json"))
    if store.read(name) is not None:
        return []
    letters = write(week)
    told = each(letters, partial(_tell, duty), duty.settings.workers)
    if not told.failures and all(isinstance(one, Done) for one in told.results):
        done = msgspec.json.encode(Told(at=duty.tick.now, letters=len(letters)))
        with suppress(ConflictError):
            store.write(name, done, generation=0, content_type="application/json")
    return list(told.failures)


def _tell(duty: Duty, notice: Notice) -> Outcome:
    return duty.applier.apply(Tell(reason=notice.what, notice=notice))
