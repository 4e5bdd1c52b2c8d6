"""One sweep over everything at a time: more would only do the same work twice.

Nothing rests on it. A sweep that dies keeps its turn for half a minute at most.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from spotwarden import typed
from spotwarden.engine.decoding import decoded
from spotwarden.layout import Layout, SweepTurn
from spotwarden.model.moment import Moment
from spotwarden.model.tick import Tick
from spotwarden.ports import ConflictError, Entry, Store, UnansweredError

TURN = timedelta(seconds=30)
KEPT = timedelta(seconds=15)
"""An event comes again within five seconds, unless all instances are busy."""


class SharedJob(msgspec.Struct, frozen=True, kw_only=True):
    """When another instance was asked to look at a job, and whether a VM of it was `going` then."""

    at: Moment
    going: bool = False


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """Who sweeps, until when at most, and when the last sweep began that came to its end.

    `first` is when the first of all sweeps began, whether or not it saw everything.
    `steady` is since when such sweeps have come regularly, where a function minds; `told` the id of the last
    notice about others that are silent; `waits` is since when more has been due than a sweep may do, `spent`
    how much of the budget that began at `spending` is used.

    `message` is what woke the holder; a turn that is `kept` is taken on by whom the same message wakes again.
    `shared` are jobs that were left to other instances, `shared_since` since when that has gone on without a
    sweep over all of them.
    """

    holder: str = ""
    until: Moment | None = None
    swept: Moment | None = None
    first: Moment | None = None
    steady: Moment | None = None
    told: str = ""
    waits: Moment | None = None
    spending: Moment | None = None
    spent: int = 0
    message: str = ""
    kept: bool = False
    shared: Mapping[str, SharedJob] = {}
    shared_since: Moment | None = None


typed.prepare(Turn)


class TakenTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that this sweep has taken."""

    function: str
    turn: Turn
    generation: int


def take_turn(store: Store, layout: Layout, tick: Tick) -> TakenTurn | None:
    """Take the turn; None while another sweep has it, or it is kept for another message."""
    name = layout.build(SweepTurn(function=tick.function))
    turn, written = read_turn(store, name)
    if is_held(turn, tick):
        return None
    until, message = tick.now + TURN, tick.message
    mine = msgspec.structs.replace(
        turn, holder=tick.sweep, until=until, message=message, kept=False, first=turn.first or tick.now
    )
    try:
        generation = store.write(name, msgspec.json.encode(mine), generation=written, shown=True)
    except ConflictError:
        return None
    return TakenTurn(function=tick.function, turn=mine, generation=generation)


def is_held(turn: Turn, tick: Tick) -> bool:
    """Whether another sweep has the turn, or it is kept for another message."""
    held = turn.holder and turn.until and tick.now < turn.until <= tick.now + 2 * TURN
    return bool(held) and not (turn.kept and tick.message and tick.message == turn.message)


def read_turn(store: Store, name: str, listed: Entry | None = None) -> tuple[Turn, int | None]:
    """The turn and its generation; one that cannot be read is nobody's, and is overwritten."""
    try:
        entry = listed or store.entry(name)
        if entry is not None and entry.content is not None:
            return decoded(name, entry.content, Turn), entry.generation
        stored = store.read(name, listed=entry) if entry is not None else None
        return (decoded(name, stored.data, Turn), stored.generation) if stored else (Turn(), 0)
    except ValueError:
        return Turn(), None


def end_turn(store: Store, layout: Layout, taken: TakenTurn, swept: datetime | None) -> None:
    """Give the turn back, and say when everything was last seen; a lost answer costs half a minute."""
    _leave(store, layout, taken, msgspec.structs.replace(taken.turn, holder="", until=None, swept=swept))


def keep_turn(store: Store, layout: Layout, taken: TakenTurn, tick: Tick) -> None:
    """Keep the turn until the message comes again that woke this sweep; not for long, for it may be lost."""
    until = tick.now + KEPT
    _leave(store, layout, taken, msgspec.structs.replace(taken.turn, until=until, kept=True))


def _leave(store: Store, layout: Layout, taken: TakenTurn, done: Turn) -> None:
    name = layout.build(SweepTurn(function=taken.function))
    try:
        store.write(name, msgspec.json.encode(done), generation=taken.generation, shown=True)
    except (ConflictError, UnansweredError):
        return
