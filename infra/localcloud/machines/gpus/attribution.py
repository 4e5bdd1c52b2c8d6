"""Which GPU a process uses, and how busy that makes each GPU: pure.

There is no GPU, so processor time stands for it: 100 % means that, over the interval, one whole core worked
for this GPU. A process works for the GPUs that it could see, in equal shares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from localcloud.machines.gpus.cards import Card


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One process at one moment. `seconds` counts its processor time and that of children it waited for."""

    pid: int
    parent: int
    seconds: float
    gpus: tuple[int, ...]


def visible(environment: Mapping[str, str], cards: Sequence[Card]) -> tuple[int, ...]:
    """The numbers of the GPUs that a process with this environment works on.

    `CUDA_VISIBLE_DEVICES` lists numbers or UUIDs and ends at the first that does not exist ("CUDA environment
    variables", CUDA programming guide); `LOCAL_RANK`, as torchrun sets it, picks one of them.
    """
    seen = tuple(card.number for card in cards)
    if (listed := environment.get("CUDA_VISIBLE_DEVICES")) is not None:
        seen = _listed(listed, cards)
    rank = environment.get("LOCAL_RANK", "")
    return (seen[int(rank)],) if rank.isdecimal() and int(rank) < len(seen) else seen


def _listed(text: str, cards: Sequence[Card]) -> tuple[int, ...]:
    found: list[int] = []
    for word in text.split(","):
        match = [card.number for card in cards if _names(word.strip(), card)]
        if len(match) != 1:
            break
        found += match
    return tuple(found)


def _names(word: str, card: Card) -> bool:
    return word == str(card.number) or (word.startswith("GPU-") and card.uuid.startswith(word))


def utilization(
    before: Sequence[Sample], after: Sequence[Sample], *, elapsed: float, cards: Sequence[Card]
) -> list[float]:
    """How busy each GPU was between two looks `elapsed` seconds apart, in percent, 0 to 100.

    Work of processes that ended in between counts for the parent that waited for them.
    """
    worked = dict.fromkeys((card.number for card in cards), 0.0)
    for sample, seconds in _spent(before, after):
        for number in sample.gpus:
            worked[number] += seconds / len(sample.gpus)
    return [min(100.0, 100.0 * seconds / elapsed) for seconds in worked.values()]


def _spent(before: Sequence[Sample], after: Sequence[Sample]) -> list[tuple[Sample, float]]:
    """What each living process spent since: its counter's growth, less what it inherited of dead children."""
    known = {sample.pid: sample for sample in before}
    alive = {sample.pid for sample in after}
    inherited: dict[int, float] = {}
    for sample in before:
        if sample.pid not in alive:
            inherited[sample.parent] = inherited.get(sample.parent, 0.0) + sample.seconds
    return [(sample, max(0.0, _growth(sample, known) - inherited.get(sample.pid, 0.0))) for sample in after]


def _growth(sample: Sample, known: Mapping[int, Sample]) -> float:
    earlier = known.get(sample.pid)
    return sample.seconds - (earlier.seconds if earlier else 0.0)
