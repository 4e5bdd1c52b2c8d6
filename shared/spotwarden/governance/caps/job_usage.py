"""What a job has used so far: each of its attempts, how long it was up, and as what."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest

import msgspec
from msgspec.structs import replace

from spotwarden.governance.caps.facts import JobAttempts
from spotwarden.governance.caps.findings import up_since
from spotwarden.governance.caps.measures import hours
from spotwarden.governance.costs import VmCost, bill, kind_of
from spotwarden.model.attempt import Attempt
from spotwarden.model.fleet import Machine
from spotwarden.model.placement import region_of
from spotwarden.model.prices import PriceTable, VmKind
from spotwarden.recovery.kinds.bounds import AttemptLife, life_of
from spotwarden.recovery.kinds.machines import ran_on, split_key
from spotwarden.recovery.kinds.ran_as import provisioned


class AttemptStay(msgspec.Struct, frozen=True, kw_only=True):
    """The job was up for so many hours, on VMs of these kinds at once, by the record of this number."""

    hours: float
    kinds: tuple[VmKind, ...]
    number: int = 0


def stays(records: JobAttempts, machines: Sequence[Machine], now: datetime) -> list[AttemptStay]:
    """Each time that the job was up, oldest first; `machines` are its VMs that run now.

    What runs and is on no record yet counts from its own start.
    """
    first = first_choice(records.attempts, machines)
    chain = records.attempts
    ran = [*_spans(chain)]
    told = [
        AttemptStay(
            hours=_long(life.started, life.ended or now),
            kinds=tuple(_kinds(attempt, machines, first, chain)),
            number=attempt.number,
        )
        for attempt, life in ran
    ]
    return [*told, *_unrecorded([life for _, life in ran], machines, now)]


def _spans(attempts: Sequence[Attempt]) -> Iterator[tuple[Attempt, AttemptLife]]:
    """Each attempt that ran, and when.

    A node that a gang has asked for again costs from then on, though it joins only when it is set up.
    """
    for attempt, successor in zip_longest(attempts, attempts[1:]):
        life = life_of(attempt, successor)
        if life is None:
            continue
        new = successor.instances.items() - attempt.instances.items() if successor and successor.bent else ()
        if not new or not successor or not successor.tries or life.ended is None:
            yield attempt, life
            continue
        asked = min(max(successor.tries[-1].at, life.started), life.ended)
        yield attempt, replace(life, ended=asked)
        yield replace(attempt, instances={**attempt.instances, **dict(new)}), replace(life, started=asked)


def _unrecorded(
    found: Sequence[AttemptLife], machines: Sequence[Machine], now: datetime
) -> Iterator[AttemptStay]:
    if not machines or any(life.ended is None for life in found):
        return
    began = min(up_since(machine) for machine in machines)
    ends = [life.ended for life in found if life.ended is not None]
    yield AttemptStay(
        hours=_long(max([began, *ends]), now), kinds=tuple(kind_of(machine) for machine in machines)
    )


def _long(start: datetime, end: datetime) -> float:
    return hours(max(end - start, timedelta(0)))


def first_choice(attempts: Sequence[Attempt], machines: Sequence[Machine]) -> str:
    """How the job's script has its VMs provisioned; a job that was moved to on-demand VMs asked for spot."""
    last = attempts[-1].tries[-1] if attempts and attempts[-1].tries else None
    if last and last.model is None and not last.spot:
        return "SPOT"
    return machines[0].provisioning if machines else ""


def _kinds(
    attempt: Attempt, machines: Sequence[Machine], first: str, chain: Sequence[Attempt]
) -> Iterator[VmKind]:
    """What an attempt ran on: VMs as they are now, where and how it asked for them."""
    by_name = {machine.name: machine for machine in machines}
    nodes = [by_name.get(node, machines[0]) for node in attempt.instances] if machines else []
    for item in nodes or machines:
        kind = kind_of(item)
        if attempt.tries:
            last = attempt.tries[-1]
            kind = replace(kind, region=region_of(last.place), provisioning=provisioned(last, first))
        if (machine := ran_on(chain, attempt)) != ran_on(chain, chain[-1]):
            kind = _on(machine, kind, chain)
        yield kind


def _on(machine: str, like: VmKind, chain: Sequence[Attempt]) -> VmKind:
    """The machine that an earlier attempt ran on, where the newest one runs on another type."""
    if machine:
        # What GPUs it has come with it.
        return replace(like, machine_type=machine, gpu="", gpus=0)
    # What a person has started again names no machine.
    scripted = next((attempt for attempt in reversed(chain) if attempt.machine), chain[-1])
    own, gpu = split_key(scripted.machine)
    return replace(like, machine_type=own, gpu=gpu, gpus=scripted.gpus)


def spent(ran: Sequence[AttemptStay], table: PriceTable) -> VmCost:
    """What all of it has cost, as far as prices are known."""
    return bill(((kind, stay.hours) for stay in ran for kind in stay.kinds), table)


def an_hour(machines: Sequence[Machine], table: PriceTable) -> float:
    """What another hour of these VMs costs, as far as prices are known."""
    return bill(((kind_of(machine), 1.0) for machine in machines), table).amount
