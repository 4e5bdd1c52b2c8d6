"""What the operators of the Logging query language mean for one value."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from localcloud.filters import Comparison, FilterError, Text, regex
from localcloud.logs.fields import scalars, text_of

SEVERITIES: Mapping[str, int] = {
    "DEFAULT": 0,
    "DEBUG": 100,
    "INFO": 200,
    "NOTICE": 300,
    "WARNING": 400,
    "ERROR": 500,
    "CRITICAL": 600,
    "ALERT": 700,
    "EMERGENCY": 800,
}

_WHOLE = re.compile(r"-?[0-9]{1,40}")

Test = Callable[[Any], bool]

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda found, wanted: found == wanted,
    "!=": lambda found, wanted: found != wanted,
    "<": lambda found, wanted: found < wanted,
    "<=": lambda found, wanted: found <= wanted,
    ">": lambda found, wanted: found > wanted,
    ">=": lambda found, wanted: found >= wanted,
}


def value_test(node: Comparison, field: str) -> Test:
    """A function that tells whether one value of the field stands the comparison.

    Raises:
        FilterError: the literal is not of the field's type, or the operator is unknown.
    """
    if not isinstance(node.value, Text):
        raise FilterError("a function cannot stand on the right here", node.at)
    literal = node.value.value
    if node.operator in ("=~", "!~"):
        return _matching(literal, node)
    if node.operator == ":":
        wanted = literal.lower()
        return lambda found: any(wanted in text_of(each).lower() for each in scalars(found))
    compare = _ORDER[node.operator]
    if field == "severity":
        rank = _rank(literal, node.at)
        return lambda found: compare(SEVERITIES.get(text_of(found).upper(), 0), rank)
    if field in ("timestamp", "receiveTimestamp"):
        limit = moment(literal, node.at)
        return lambda found: bool(found) and compare(datetime.fromisoformat(found), limit)
    return _plain(literal, compare)


def _matching(pattern: str, node: Comparison) -> Test:
    expression, wanted = regex(pattern, node.at), node.operator == "=~"
    return lambda found: (expression.search(text_of(found)) is not None) is wanted


def _plain(literal: str, compare: Callable[[Any, Any], bool]) -> Test:
    """Numbers are compared as numbers where both sides are, all else as text without regard to case."""
    number, text = _number(literal), literal.lower()

    def test(found: Any) -> bool:
        if isinstance(found, Mapping):
            return False
        ours = _number(found)
        if number is not None and ours is not None:
            return compare(ours, number)
        return compare(text_of(found).lower(), text)

    return test


def _number(value: Any) -> float | None:
    """The number; a whole one exactly, for two ids of nineteen digits are one as a float."""
    if isinstance(value, bool):
        return None
    try:
        return int(value) if _WHOLE.fullmatch(str(value)) else float(value)
    except (TypeError, ValueError):
        return None


def _rank(literal: str, at: int) -> float:
    rank = SEVERITIES.get(literal.upper())
    found = _number(literal) if rank is None else float(rank)
    if found is None:
        raise FilterError(f"{literal!r} is no severity; there are {', '.join(SEVERITIES)}", at)
    return found


def moment(literal: str, at: int) -> datetime:
    """The moment that a query names; `FilterError` where it is none."""
    try:
        found = datetime.fromisoformat(literal)
    except ValueError as error:
        raise FilterError(f"{literal!r} is no time such as 2026-11-21T08:00:00Z", at) from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)
