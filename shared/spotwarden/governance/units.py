"""What one remedy is sent for: a VM, or the whole group of a TPU slice, whose VMs come and go as one.

No VM of a slice is stopped or deleted by itself: the others would run on, cost, and come to nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from spotwarden.model.case import Case
from spotwarden.model.finding import Subject, Target
from spotwarden.model.fleet import Machine
from spotwarden.model.slices import SliceGroup


def units(targets: Iterable[Target]) -> Mapping[str, Sequence[Target]]:
    """The targets by what a remedy is sent for, in their order."""
    found: dict[str, list[Target]] = defaultdict(list)
    for target in targets:
        found[target.unit].append(target)
    return found


def all_slices(targets: Sequence[Target]) -> bool:
    """Whether all of them are parts of slices; False where there are none."""
    return bool(targets) and all(target.group for target in targets)


def some_slices(targets: Iterable[Target]) -> bool:
    """Whether any of them is a part of a slice."""
    return any(target.group for target in targets)


def only_slice(subject: Subject) -> SliceGroup | None:
    """The group of the one slice that it is about and nothing else; None where there is no such one."""
    first = subject.targets[0].group if subject.targets else None
    return first if first and all(target.group == first for target in subject.targets) else None


def slices_in(subject: Subject) -> Sequence[SliceGroup]:
    """The groups of all slices that it is about."""
    return list(dict.fromkeys(target.group for target in subject.targets if target.group))


def remedied(case: Case) -> frozenset[str]:
    """The ids of all VMs for which its remedy was written down: those of a slice's group go with it."""
    sent = {remediation.target for remediation in case.remediations}
    return frozenset(target.id for target in case.subject.targets if target.unit in sent) | sent


def slice_named(name: str, count: int) -> str:
    """What a person calls a slice of which so many VMs are there."""
    return f"TPU slice {name} ({'1 VM' if count == 1 else f'{count} VMs'})"


def slice_of(machines: Sequence[Machine]) -> SliceGroup | None:
    """The group that all of these VMs are of; None where they are of none, or of several."""
    first = machines[0].group if machines else None
    return first if first and all(machine.group == first for machine in machines) else None
