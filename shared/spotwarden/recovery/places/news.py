"""What an attempt's record tells about places, for those who ask next."""

from collections.abc import Iterator

from spotwarden.model.attempt import Attempt, AttemptState, Try, TryKind
from spotwarden.model.placement import PlaceEvent, PlaceNews
from spotwarden.model.tick import Tick
from spotwarden.recovery.observed.fates import Fate
from spotwarden.recovery.requests.refusals import RefusalKind, lacks_notice, names_notice, refusal


def news(record: Attempt, tick: Tick) -> Iterator[PlaceNews]:
    """What is new in a record that this sweep has just written.

    On-demand tries say nothing about spot places.
    """
    for tried in record.tries[-2:]:
        if tried.error and tried.spot and refusal(tried.error) is RefusalKind.STOCKOUT:
            yield PlaceNews(
                place=tried.place, event=PlaceEvent.STOCKOUT, at=tried.last_word, machine=tried.machine
            )
    if record.state is AttemptState.RUNNING and _gave(record):
        gave = record.tries[-1]
        yield PlaceNews(place=gave.place, event=PlaceEvent.GAVE, at=tick.now, machine=gave.machine)
    if refused := _no_notice(record):
        yield PlaceNews(
            place=refused.place, event=PlaceEvent.NO_NOTICE, at=refused.last_word, machine=refused.machine
        )
    if _begins(record) and record.fate == Fate.PREEMPTED.value and record.lost_in:
        yield PlaceNews(
            place=record.lost_in,
            event=PlaceEvent.PREEMPTED,
            at=record.lost or tick.now,
            machine=record.lost_on,
        )


def _no_notice(record: Attempt) -> Try | None:
    """The try that was refused for its notice: by its words, or since the same without it was granted."""
    refused = next((tried for tried in record.tries[-2:-1] if lacks_notice(tried)), None)
    return refused if refused and (names_notice(refused) or _granted(record)) else None


def _granted(record: Attempt) -> bool:
    """Whether its newest try gave it what it asked for; a gang runs on while nodes are asked for again."""
    last = record.tries[-1]
    taken = last.kind is not TryKind.REFILL or bool(last.operation)
    return record.state is AttemptState.RUNNING and taken and not last.error


def _gave(record: Attempt) -> bool:
    """Whether its newest try gave it spot VMs; what goes on without some of them has got nothing."""
    if not record.tries or not record.tries[-1].spot or record.tries[-1].kind is TryKind.REFILL:
        return False
    return not record.bent or not record.replaces


def _begins(record: Attempt) -> bool:
    """Whether it is a claim, alone or with its first try in it; told again, it counts once."""
    if record.bent:
        return bool(record.replaces) and record.created == record.updated
    untried = len(record.tries) == 1 and not record.tries[0].operation and not record.tries[0].error
    return record.state is AttemptState.CLAIMED or (record.state is AttemptState.PLACING and untried)
