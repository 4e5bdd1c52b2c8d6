"""One sweep over everything at a time: more would only do the same work twice.

Nothing rests on it. A sweep that dies keeps its turn for half a minute at most.
"""

from datetime import datetime, timedelta

import msgspec

from spotwarden.layout import Layout, SweepTurn
from spotwarden.model.tick import Tick
from spotwarden.ports import ConflictError, Store, UnansweredError

TURN = timedelta(seconds=30)


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """Who sweeps, until when at most, and when the last sweep began that came to its end.

    `steady` is since when such sweeps have come regularly, where a function minds.
    """

    holder: str = ""
    until: datetime | None = None
    swept: datetime | None = None
    steady: datetime | None = None


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that this sweep has taken."""

    function: str
    turn: Turn
    generation: int


def take_turn(store: Store, layout: Layout, tick: Tick) -> Taken | None:
    """Take the turn; None while another sweep has it."""
    name = layout.build(SweepTurn(function=tick.function))
    stored = store.read(name)
    turn = msgspec.json.decode(stored.data, type=Turn) if stored else Turn()
    if turn.holder and turn.until and tick.now < turn.until <= tick.now + 2 * TURN:
        return None
    mine = Turn(holder=tick.sweep, until=tick.now + TURN, swept=turn.swept, steady=turn.steady)
    try:
        generation = store.write(
            name, msgspec.json.encode(mine), generation=stored.generation if stored else 0
        )
    except ConflictError:
        return None
    return Taken(function=tick.function, turn=mine, generation=generation)


def end_turn(store: Store, layout: Layout, taken: Taken, swept: datetime | None) -> None:
    """Give the turn back, and say when everything was last seen; a lost answer costs half a minute."""
    name = layout.build(SweepTurn(function=taken.function))
    done = Turn(swept=swept, steady=taken.turn.steady)
    try:
        store.write(name, msgspec.json.encode(done), generation=taken.generation)
    except (ConflictError, UnansweredError):
        return
