"""A policy as a document → the policy, value by value, so that all its faults are found at once."""

from collections.abc import Mapping
from datetime import date
from typing import Any, get_args, get_origin

import msgspec

from spotwarden.engine.policy_file.between import nonsense_between
from spotwarden.engine.policy_file.sense import nonsense
from spotwarden.model.ladder import VmModel
from spotwarden.model.policy import RULES, Policy
from spotwarden.model.values import kinds_of, meant, read_limit, read_value

OVERRIDES = Mapping[str, Mapping[str, Any]]
"""The type of values by rule and name: a team's, or the ceilings."""


def read_document(document: Mapping[str, Any]) -> tuple[Policy | None, tuple[str, ...]]:
    """The policy, or None and what is wrong: each fault with its dotted place and what is allowed."""
    reading = _Reading()
    values = reading.values(Policy, document, "")
    reading.faults += nonsense_between(values, {_section(fault) for fault in reading.faults})
    return (None if reading.faults else Policy(**values)), tuple(reading.faults)


_STAND_IN = {str: "?", date: date.max, tuple[str, ...]: ("?",), VmModel: VmModel.STANDARD}


class _Reading:
    """One reading of a document; a fault of one value never hides another's."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def values(self, kind: type[msgspec.Struct], said: object, place: str) -> dict[str, Any]:
        """Those values of a table that could be read, by name."""
        found: dict[str, Any] = {}
        kinds = kinds_of(kind)
        for name, item in self._table(said, place).items():
            if name not in kinds:
                self.faults.append(f"{_join(place, name)}: unknown value; {meant(name, kinds)}")
            elif (value := self._value(name, kinds[name], item, _join(place, name))) is not None:
                found[name] = value
        return found

    def _value(self, name: str, kind: Any, said: object, place: str) -> Any:  # noqa: ANN401 - any value there is
        """The value; None, with the fault noted, where there is none."""
        inner = get_args(kind)
        if _is_struct(kind):
            return self._struct(kind, said, place)
        if kind == OVERRIDES:
            return self._overrides(said, place)
        if get_origin(kind) is Mapping and _is_struct(inner[1]):
            each = self._table(said, place).items()
            return {key: self._struct(inner[1], item, _join(place, key)) for key, item in each}
        if get_origin(kind) is tuple and _is_struct(inner[0]):
            rows = self._rows(said, place)
            return tuple(
                self._struct(inner[0], candidate, f"{place}[{at}]") for at, candidate in enumerate(rows)
            )
        try:
            return read_value(name, kind, said)
        except ValueError as error:
            self.faults.append(f"{place}: {error}")
            return None

    def _struct(self, kind: type[msgspec.Struct], said: object, place: str) -> msgspec.Struct | None:
        """The table as a whole; what stands for a value that could not be read blames no other."""
        before = len(self.faults)
        values = self.values(kind, said, place)
        lacking = set(said if isinstance(said, Mapping) else ()) - set(values)
        for field in msgspec.structs.fields(kind):
            if field.required and field.name not in values:
                values[field.name] = _STAND_IN[field.type]
                if field.name not in lacking:
                    self.faults.append(f"{_join(place, field.name)}: it is missing")
                lacking.add(field.name)
        built = kind(**values)
        for slip in nonsense(built):
            if not lacking & {slip.name, slip.beside}:
                self.faults.append(f"{_join(place, slip.name)}: {slip.what}")
        return None if len(self.faults) > before else built

    def _overrides(self, said: object, place: str) -> Mapping[str, Any]:
        """Values of some rules; they stay as they were written, for what they mean hangs on the others."""
        for rule, values in self._table(said, place).items():
            if rule not in RULES:
                self.faults.append(f"{_join(place, rule)}: unknown rule; {meant(rule, RULES)}")
                continue
            for name, item in self._table(values, _join(place, rule)).items():
                try:
                    read_limit(RULES[rule], name, item)
                except ValueError as error:
                    self.faults.append(f"{place}.{rule}.{name}: {error}")
        return said if isinstance(said, Mapping) else {}

    def _table(self, said: object, place: str) -> Mapping[str, Any]:
        if isinstance(said, Mapping):
            return said
        self.faults.append(f"{place}: it is {said!r}; it must be a table, [{place}]")
        return {}

    def _rows(self, said: object, place: str) -> list[Any]:
        if isinstance(said, list):
            return said
        self.faults.append(f"{place}: it is {said!r}; it must be a list of tables, [[{place}]]")
        return []


def _section(fault: str) -> str:
    return fault.partition(":")[0].partition(".")[0]


def _is_struct(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
