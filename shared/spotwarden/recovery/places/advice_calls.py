"""Asking Google about the places of a machine type, all at the same time."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial

from spotwarden.engine.fan_out import each
from spotwarden.model.placement import MachineAdvice, PlaceAdvice
from spotwarden.ports import Compute, RejectedError, UnansweredError
from spotwarden.recovery.places.advising import AdviceWish, PlaceAnswer, answered, history_due, share


def take_advice(
    compute: Compute, wish: AdviceWish, before: MachineAdvice | None, now: datetime, workers: int
) -> MachineAdvice:
    """Ask about each place; where none is answered and one is refused, that is remembered instead."""
    before = before or MachineAdvice(asked_at=now)
    history = history_due(before, now)
    ask = partial(_ask, compute, wish, before.places, history=history)
    return answered(each(wish.places, ask, workers).results, wish, before, now, history=history)


def _ask(
    compute: Compute, wish: AdviceWish, before: Mapping[str, PlaceAdvice], place: str, *, history: bool
) -> PlaceAnswer:
    try:
        said = compute.advice(wish.machine, place, wish.size)
    except RejectedError as refused:
        return PlaceAnswer(place=place, refused=str(refused))
    except UnansweredError:
        return PlaceAnswer(place=place)
    known = before.get(place)
    preempted = known.preempted if known else None
    if history or known is None:
        preempted = _preempted(compute, wish.machine, place)
    advice = PlaceAdvice(obtainability=said.obtainability, uptime=said.uptime, preempted=preempted)
    return PlaceAnswer(place=place, advice=advice)


def _preempted(compute: Compute, machine: str, place: str) -> float | None:
    """The share of the last days; None where nobody says."""
    try:
        return share(compute.capacity_history(machine, place).preemption)
    except (RejectedError, UnansweredError):
        return None
