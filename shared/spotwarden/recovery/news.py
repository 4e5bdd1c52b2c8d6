"""What an attempt's record tells about places, for those who ask next."""

from collections.abc import Iterator

from spotwarden.model.attempt import Attempt, State
from spotwarden.model.placement import Event, News
from spotwarden.model.tick import Tick
from spotwarden.recovery.fates import Fate
from spotwarden.recovery.refusals import Refusal, refusal


def news(record: Attempt, tick: Tick) -> Iterator[News]:
    """What is new in a record that this sweep has just written.

    On-demand tries say nothing about spot places.
    """
    for one in record.tries[-2:]:
        if one.error and one.spot and refusal(one.error) is Refusal.STOCKOUT:
            yield News(place=one.place, event=Event.STOCKOUT, at=one.at)
    if record.state is State.RUNNING and record.tries and record.tries[-1].spot:
        yield News(place=record.tries[-1].place, event=Event.GAVE, at=tick.now)
    taken = record.state is State.CLAIMED and record.fate == Fate.PREEMPTED.value
    if taken and record.lost_in:
        yield News(place=record.lost_in, event=Event.PREEMPTED, at=record.lost or tick.now)
