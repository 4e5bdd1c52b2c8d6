"""Which TPU chips an instance has, and on which of them a process works: pure."""

import re
from collections.abc import Mapping, Sequence

from localcloud.machines.gpus.cards import Card
from localcloud.ports import Resource

_MACHINE = re.compile(r"(?P<kind>ct\d+[a-z]*|tpu\d+x)-[a-z]+-(?P<chips>\d+)t(?:-tpu)?")


def chips_of(instance: Resource) -> list[Card]:
    """The chips, which the machine type tells: `ct6e-standard-4t` has four."""
    match = _MACHINE.fullmatch(str(instance.get("machineType", "")).rpartition("/")[2])
    count = int(match["chips"]) if match else 0
    kind = match["kind"] if match else ""
    identity = f"{instance.get('id')}"
    return [
        Card(number=number, model=kind, uuid=f"{identity}-{number}", memory_mib=0) for number in range(count)
    ]


def worked_on(environment: Mapping[str, str], chips: Sequence[Card]) -> tuple[int, ...]:
    """The numbers of the chips that a process works on; none for one that is not told to use the TPU.

    `TPU_VISIBLE_CHIPS` lists some of them, as libtpu reads it.
    """
    if environment.get("PJRT_DEVICE") != "TPU":
        return ()
    listed = environment.get("TPU_VISIBLE_CHIPS", "")
    wanted = {word.strip() for word in listed.split(",")} if listed else None
    return tuple(chip.number for chip in chips if wanted is None or str(chip.number) in wanted)
