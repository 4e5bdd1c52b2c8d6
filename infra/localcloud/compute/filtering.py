"""The `filter` of a list, as the reference of Compute Engine's list methods describes it.

Two languages in one parameter: comparisons joined by AND, OR and NOT, and the older `field eq regex`, which
gcloud still sends. A filter is compiled once and then decides one resource after another.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from localcloud.compute import schema
from localcloud.compute.refusals import invalid_field
from localcloud.errors import ApiError
from localcloud.filters import Comparison, FilterError, Grammar, Predicate, Text, compiled, parse
from localcloud.filters.tree import Leaf
from localcloud.rpc.shapes import Shape

Test = Callable[[Any], bool]

_GRAMMAR = Grammar(juxtaposition=True, mixing=True)
_OLD = re.compile(
    r"\s*(?P<open>\()?\s*(?P<field>[\w.-]+)\s+(?P<verb>eq|ne)\s+"
    r"(?:\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<bare>[^\s()\"']+))"
    r"\s*(?(open)\))\s*"
)
# AIP-160 lets a time stand without quotes, though it has colons in it.
_BARE_MOMENT = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|(?P<moment>\b\d{4}-\d\d-\d\dT\d\d:[\d:.]+(?:Z|[+-]\d\d:\d\d)?)"
)
_OLD_SIGN = re.compile(r"[\s(]*[\w.-]+\s+(?:eq|ne)\s")
_MOMENT = re.compile(r".*(?:Timestamp|Time)")
LONGEST = 10_000


def predicate(text: str, message: str) -> Predicate:
    """Compile a filter over resources of this message (`Instance`, `Operation`, …).

    Raises:
        ApiError: 400 when it cannot be read, or names a field that there is not or that is a list.
    """
    if len(text) > LONGEST:
        raise _refused(text, FilterError(f"it is longer than {LONGEST} characters", LONGEST))
    try:
        return _old(text, message) if _OLD_SIGN.match(text) else _new(text, message)
    except FilterError as error:
        raise _refused(text, error) from error


def _refused(text: str, error: FilterError) -> ApiError:
    return invalid_field("filter", text[:500], f"Invalid list filter expression. {str(error).capitalize()}.")


def _new(text: str, message: str) -> Predicate:
    tree = parse(_BARE_MOMENT.sub(_quoted_moment, text), _GRAMMAR)
    if tree is None:
        return lambda _resource: True
    return compiled(tree, lambda leaf: _comparison(leaf, message))


def _quoted_moment(match: re.Match[str]) -> str:
    return f'"{match["moment"]}"' if match["moment"] else match[0]


def _comparison(leaf: Leaf, message: str) -> Predicate:
    if not isinstance(leaf, Comparison):
        raise FilterError("a comparison is expected here, such as `status = RUNNING`", leaf.at)
    if not isinstance(leaf.value, Text):
        raise FilterError("functions are not supported", leaf.at)
    make = _OPERATORS.get(leaf.operator)
    if make is None:
        raise FilterError(f"the operator {leaf.operator} is not supported", leaf.at)
    shape = _shape(message, leaf.path, leaf.at)
    test = make(_reader(shape, leaf.path), leaf.value.value, leaf.at)
    return _at(leaf.path, test)


def _shape(message: str, path: Sequence[str], at: int) -> Shape:
    shape = schema.shape_at(message, path)
    if shape is None or (isinstance(shape, dict) and "enum" not in shape):
        raise FilterError(f"{'.'.join(path)} is no field that can be compared", at)
    return shape


def _at(path: Sequence[str], test: Test) -> Predicate:
    """The test, made on the field of a resource; None where the resource does not have it."""
    if len(path) == 1:
        name = path[0]
        return lambda resource: test(resource.get(name))

    def look(resource: Mapping[str, Any]) -> bool:
        value: Any = resource
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return test(value)

    return look


Reader = Callable[[str], Any]
"""Reads a value from its text, of a filter or of a resource; `ValueError` when it is none."""


def _reader(shape: Shape, path: Sequence[str]) -> Reader:
    if shape in ("int32", "int64", "uint64"):
        return int
    if shape in ("double", "float"):
        return float
    if shape == "boolean":
        return _switch
    return _moment if _MOMENT.fullmatch(path[-1]) else str


def _switch(text: str) -> bool:
    words = {"true": True, "false": False}
    if text.lower() not in words:
        raise ValueError("true or false is expected")
    return words[text.lower()]


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _read(reader: Reader, text: str, at: int) -> Any:
    try:
        return reader(text)
    except ValueError as error:
        raise FilterError(f"{text!r} cannot be compared with this field", at) from error


def _equal(reader: Reader, text: str, at: int) -> Test:
    if reader is str:
        return _like(text)
    wanted = _read(reader, text, at)
    return lambda value: value is not None and reader(_text(value)) == wanted


def _like(text: str) -> Test:
    """Equal, where `*` stands for anything."""
    if "*" not in text:
        return lambda value: value == text
    pattern = re.compile(".*".join(re.escape(part) for part in text.split("*")), re.DOTALL)
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _unequal(reader: Reader, text: str, at: int) -> Test:
    equal = _equal(reader, text, at)
    return lambda value: not equal(value)


def _has(reader: Reader, text: str, at: int) -> Test:
    if text == "*":
        return lambda value: value is not None
    if reader is str and "*" not in text:
        return lambda value: isinstance(value, str) and text in value
    return _equal(reader, text, at)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Reader, str, int], Test]:
    def make(reader: Reader, text: str, at: int) -> Test:
        limit = _read(reader, text, at)
        return lambda value: value is not None and compare(reader(_text(value)), limit)

    return make


_OPERATORS: Mapping[str, Callable[[Reader, str, int], Test]] = {
    "=": _equal,
    "!=": _unequal,
    ":": _has,
    "<": _ordered(lambda left, right: left < right),
    ">": _ordered(lambda left, right: left > right),
    "<=": _ordered(lambda left, right: left <= right),
    ">=": _ordered(lambda left, right: left >= right),
}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _old(text: str, message: str) -> Predicate:
    """`(field eq regex) (field ne regex)`: RE2 expressions that must match the whole value."""
    tests, at, terms = [], 0, 0
    bare = False
    while at < len(text):
        match = _OLD.match(text, at)
        if match is None:
            raise FilterError("`(field eq expression)` is expected", at)
        tests.append(_old_test(match, message))
        at, terms, bare = match.end(), terms + 1, bare or not match["open"]
    if bare and terms > 1:
        raise FilterError("each of several expressions needs parentheses", 0)
    return lambda resource: all(test(resource) for test in tests)


def _old_test(match: re.Match[str], message: str) -> Predicate:
    quoted = match["double"] if match["double"] is not None else match["single"]
    expression = match["bare"] if quoted is None else re.sub(r"\\([\"'])", r"\1", quoted)
    path = match["field"].split(".")
    _shape(message, path, match.start("field"))
    try:
        pattern = re.compile(expression, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise FilterError(f"no regular expression: {error}", match.start()) from error
    wanted = match["verb"] == "eq"

    def test(value: object) -> bool:
        return (value is not None and pattern.fullmatch(_text(value)) is not None) == wanted

    return _at(path, test)
