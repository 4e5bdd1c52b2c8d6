"""Two lists of the same VMs compared: our own door's, and that of Google's typed client."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from spotwarden.cli.deployment.examining import Check, CheckState
from spotwarden.model.fleet import Fleet, Listed
from spotwarden.ports import RejectedError, UnansweredError

WHAT = "VMs, as Google's client lists them"
SHOWN = 3
"""So many differences are named; the rest is counted."""
REPORT = "report this as a bug in Spotwarden, with these lines: it sees other VMs than Google's own client"


def second_opinion(ours: Callable[[], Fleet], theirs: Callable[[], Sequence[Listed]]) -> Check:
    """List by one, by the other, and by the first again; say where they differ.

    A VM that changed meanwhile is left out: what counts is what our door says before and after.
    """
    try:
        before, others, after = ours(), theirs(), ours()
    except (RejectedError, UnansweredError) as error:
        return Check(what=WHAT, state=CheckState.UNKNOWN, why=str(error), todo="ask for the role Viewer")
    if found := list(differences(before, others, after)):
        more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        return Check(what=WHAT, state=CheckState.BAD, why="; ".join([*found[:SHOWN], *more]), todo=REPORT)
    if hidden := sorted({*before.unreachable, *after.unreachable}):
        why = f"{len(others)} VMs, the same in both lists; neither shows {', '.join(hidden)} now"
        return Check(what=WHAT, state=CheckState.UNKNOWN, why=why, todo="look again when it is back")
    return Check(what=WHAT, state=CheckState.GOOD, why=f"{len(others)} VMs, the same in both lists")


def differences(before: Fleet, others: Sequence[Listed], after: Fleet) -> Iterator[str]:
    """Where the list between two of ours says something that neither of them does."""
    first, second = _by_id(before), _by_id(after)
    third = {vm.id: vm for vm in others}
    for key in sorted(first.keys() | second.keys() | third.keys()):
        ours, theirs = first.get(key), third.get(key)
        if ours != second.get(key) or ours == theirs:
            continue
        if ours is None and theirs is not None:
            if not (before.hides(theirs.zone) or after.hides(theirs.zone)):
                yield f"{theirs.name} ({key}) in {theirs.zone} is not in our list"
        elif theirs is None and ours is not None:
            yield f"{ours.name} ({key}) in {ours.zone} is only in our list"
        elif ours is not None and theirs is not None:
            yield f"{theirs.name} ({key}): {', '.join(_fields(ours, theirs))}"


def _by_id(fleet: Fleet) -> Mapping[str, Listed]:
    return {
        vm.id: Listed(
            id=vm.id,
            name=vm.name,
            zone=vm.zone,
            status=vm.status.value,
            machine_type=vm.machine_type,
            provisioning=vm.provisioning,
            labels=vm.labels,
        )
        for vm in fleet.items
    }


def _fields(ours: Listed, theirs: Listed) -> Iterator[str]:
    mine, other = msgspec.structs.asdict(ours), msgspec.structs.asdict(theirs)
    for name, value in mine.items():
        if value != other[name]:
            yield f"{name} is {value!r} in our list, {other[name]!r} in Google's"
