"""Advice about the places of a machine type: when it is asked, about which, and what is kept of it."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from statistics import fmean

import msgspec
from msgspec.structs import replace

from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import MachineAdvice, PlaceAdvice

REFUSED_FOR = timedelta(days=1)
"""How long nobody is asked who refused: for want of a right, or because there is no advice on the machine."""
HISTORY_FRESH = timedelta(days=1)
"""Rates are those of whole days."""
DAYS = 7
"""The days before today whose rates count; today's still changes."""


class AdviceWish(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked: how a request for `size` VMs of this machine would fare in each of the places."""

    machine: str
    places: tuple[str, ...]
    size: int


class PlaceAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What was said of a place; `advice` is None where nothing was, and `refused` then says why, or ""."""

    place: str
    advice: PlaceAdvice | None = None
    refused: str = ""


def advisable(launch: Launch) -> bool:
    """Whether advice could change anything: spot VMs that may go to several places.

    N1 machines with GPUs are not asked about: their number is needed, and Google tells no history of them
    ("View the preemption rate and pricing for Spot VMs").
    """
    attached = bool(launch.accelerators) and launch.machine.startswith(("n1-", "custom-"))
    return launch.spot and bool(launch.machine) and len(launch.choices) > 1 and not attached


def with_launch(wish: AdviceWish | None, launch: Launch) -> AdviceWish:
    """The wish of several jobs for one machine: all of their places, for the largest of them."""
    places = tuple(choice.place for choice in launch.choices)
    if wish is None:
        return AdviceWish(machine=launch.machine, places=places, size=len(launch.nodes))
    return replace(
        wish,
        places=tuple(dict.fromkeys((*wish.places, *places))),
        size=max(wish.size, len(launch.nodes)),
    )


def due(advice: MachineAdvice | None, now: datetime, limits: PlacementLimits) -> bool:
    """Whether it may be asked now."""
    if advice is None:
        return limits.advice
    pause = REFUSED_FOR if advice.refused else limits.advice_fresh
    return limits.advice and abs(now - advice.asked_at) >= pause


def asked(advice: MachineAdvice | None, now: datetime) -> MachineAdvice:
    """What is written before the question; until the answer, what was said before stands."""
    return replace(advice, asked_at=now) if advice else MachineAdvice(asked_at=now)


def history_due(before: MachineAdvice, now: datetime) -> bool:
    """Whether rates are asked for as well."""
    return before.history_at is None or abs(now - before.history_at) >= HISTORY_FRESH


def share(days: Sequence[float]) -> float | None:
    """The mean of the last whole days, of rates that end with today's; None where there are none."""
    whole = days[:-1][-DAYS:]
    return round(fmean(whole), 3) if whole else None


def answered(
    answers: Iterable[PlaceAnswer], wish: AdviceWish, before: MachineAdvice, now: datetime, *, history: bool
) -> MachineAdvice:
    """What is kept of the answers; a refusal only where no place was answered."""
    answers = [*answers]
    places = {answer.place: answer.advice for answer in answers if answer.advice is not None}
    refused = next((answer.refused for answer in answers if answer.refused), "")
    return MachineAdvice(
        asked_at=before.asked_at,
        answered_at=now if places else None,
        history_at=now if places and history else before.history_at,
        size=wish.size,
        places=dict(sorted(places.items())),
        refused="" if places else refused,
    )
