"""What could not be meant between the parts of a policy: its own limits, its ceilings, its teams."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from spotwarden.engine.policy_file.sense import nonsense
from spotwarden.model.governance import Lenient, Limits
from spotwarden.model.leniency import leniency
from spotwarden.model.policy import RULES
from spotwarden.model.values import read_limit, written


def nonsense_between(values: Mapping[str, Any], broken: Collection[str]) -> Iterable[str]:
    """What is wrong between the policy, its ceilings and teams; a broken section is held against none."""
    if "version" not in values and "version" not in broken:
        yield 'version: it is missing; write a text in quotes, such as "1"'
    for rule, kind in RULES.items():
        base = None if rule in broken else values.get(rule, kind())
        ceilings = _readable(kind, values.get("ceilings", {}).get(rule, {}))
        for name, ceiling in ceilings.items():
            yield from _ceiling(f"ceilings.{rule}.{name}", ceiling, kind.LENIENT[name], base)
        for team_name, team in values.get("teams", {}).items():
            said = _readable(kind, team.rules.get(rule, {})) if team else {}
            yield from _team(f"teams.{team_name}.rules.{rule}", kind, base, said, ceilings)


def _readable(kind: type[Limits], said: object) -> dict[str, Any]:
    """Those values that can be read; faults of the others are told already."""
    found: dict[str, Any] = {}
    for name, item in said.items() if isinstance(said, Mapping) else ():
        try:
            found[name] = read_limit(kind, name, item)
        except ValueError:
            continue
    return found


def _ceiling(place: str, ceiling: object, side: Lenient, base: Limits | None) -> Iterator[str]:
    own = getattr(base, place.rpartition(".")[2], ceiling)
    if side is Lenient.FIXED:
        yield f"{place}: no job can change it, so it can't have a ceiling"
    elif side is Lenient.OWN:
        yield f"{place}: each job sets it without a limit, so it can't have a ceiling"
    elif leniency(side, ceiling) < leniency(side, own):
        yield (
            f"{place}: it is {written(ceiling)}, stricter than the policy's own {written(own)};"
            " a ceiling says how far beyond the policy a team or job may go"
        )


def _team(
    place: str,
    kind: type[Limits],
    base: Limits | None,
    said: Mapping[str, Any],
    ceilings: Mapping[str, Any],
) -> Iterator[str]:
    for name, value in said.items():
        side, ceiling = kind.LENIENT[name], ceilings.get(name)
        if ceiling is None or side in {Lenient.FIXED, Lenient.OWN}:
            continue
        if leniency(side, value) > leniency(side, ceiling):
            yield f"{place}.{name}: it is {written(value)}, beyond the ceiling of {written(ceiling)}"
    if base is not None and said:
        for slip in nonsense(msgspec.structs.replace(base, **said)):
            yield f"{place}.{slip.name}: {slip.what}"
