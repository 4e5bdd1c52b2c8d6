"""Whether we are fit to judge: our clock, and whether our sweeps have come regularly."""

from datetime import datetime, timedelta

import msgspec

from spotwarden.engine.turn import TakenTurn, Turn
from spotwarden.layout import Layout, SweepTurn
from spotwarden.model.tick import Tick
from spotwarden.ports import Store


class ClockError(Exception):
    """This machine's clock and the bucket's differ too much to judge anything by."""


def check_clock(store: Store, layout: Layout, taken: TakenTurn, tick: Tick, most: timedelta) -> None:
    """Hold our clock against the bucket's, which has just written our turn; `ClockError` says by how much."""
    entry = store.entry(layout.build(SweepTurn(function=taken.function)))
    if entry is not None and entry.generation == taken.generation:
        _hold(tick, entry.updated, most)


def check_event_clock(store: Store, layout: Layout, tick: Tick, most: timedelta) -> None:
    """The same for the sweep of an event, which takes no turn: what it writes here is for its time alone."""
    name = layout.build(SweepTurn(function=f"{tick.function}_event"))
    store.write(name, b"{}", generation=None)
    entry = store.entry(name)
    if entry is not None:
        _hold(tick, entry.updated, most)


def _hold(tick: Tick, bucket: datetime, most: timedelta) -> None:
    off = tick.now - bucket
    if abs(off) > most:
        raise ClockError(
            f"this function's clock is {off.total_seconds():+.0f} s off the bucket's: nothing is judged;"
            f" at most {most.total_seconds():.0f} s are allowed (governance.clock_skew)"
        )


def steady_since(turn: Turn, tick: Tick, outage: timedelta) -> datetime:
    """Since when our sweeps have come at most `outage` apart; now, where the last one is too long ago."""
    if turn.swept is None or turn.steady is None or tick.now - turn.swept > outage:
        return tick.now
    return min(turn.steady, tick.now)


def with_steady(taken: TakenTurn, steady: datetime) -> TakenTurn:
    """The turn with what `end_turn` is to keep."""
    return msgspec.structs.replace(taken, turn=msgspec.structs.replace(taken.turn, steady=steady))
