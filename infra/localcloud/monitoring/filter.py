"""Monitoring filters ("Monitoring filters" in Cloud Monitoring's documentation) for time series."""

from collections.abc import Callable, Mapping
from typing import Any

from localcloud.filters import (
    All,
    Bare,
    Comparison,
    FilterError,
    FunctionCall,
    Grammar,
    Node,
    Predicate,
    Text,
    compiled,
    parse,
    regex,
)
from localcloud.monitoring.series import SeriesIdentity
from localcloud.rpc import RpcError

GRAMMAR = Grammar()
Read = Callable[[SeriesIdentity], str]
Test = Callable[[str], bool]

_NEEDS_METRIC = (
    'must specify a restriction on "metric.type" in the filter; '
    'see "https://cloud.google.com/monitoring/api/resources" for a list of available metric types.'
)


def series_filter(text: str, project: str) -> tuple[str, Callable[[SeriesIdentity], bool]]:
    """The one metric type that a filter is about, and a function that tells whether a series is wanted.

    Raises:
        RpcError: INVALID_ARGUMENT, with what cannot be read and where.
    """
    try:
        tree = parse(text, GRAMMAR)
        found = _metric_types(tree)
        if tree is None or len(found) != 1:
            raise _invalid(text, _NEEDS_METRIC)
        return found[0], compiled(tree, lambda node: _leaf(node, project))
    except FilterError as error:
        raise _invalid(text, f"{error}.") from error


def name_filter(text: str, subject: Callable[[Any, str], str]) -> Predicate:
    """A filter for things other than series; `subject` reads a field of one by its dotted path.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    try:
        tree = parse(text, GRAMMAR)
        if tree is None:
            return lambda _thing: True
        return compiled(tree, lambda node: _named(node, subject))
    except FilterError as error:
        raise _invalid(text, f"{error}.") from error


def _invalid(text: str, why: str) -> RpcError:
    return RpcError("INVALID_ARGUMENT", f'Field filter had an invalid value of "{text}": {why}')


def _metric_types(node: Node | None) -> list[str]:
    """The metric types that every match must have; one inside an OR or a NOT does not count."""
    match node:
        case Comparison(path=("metric", "type"), operator="=", value=Text(value=name)):
            return [name]
        case All(terms=terms):
            return [name for term in terms for name in _metric_types(term)]
        case _:
            return []


def _leaf(node: Node, project: str) -> Predicate:
    if not isinstance(node, Comparison):
        raise FilterError("a comparison is missing here", node.at if isinstance(node, Bare) else 0)
    read, test = _read(node.path, node.at, project), _test(node)
    return lambda identity: test(read(identity))


def _named(node: Node, subject: Callable[[Any, str], str]) -> Predicate:
    if not isinstance(node, Comparison):
        raise FilterError("a comparison is missing here", node.at if isinstance(node, Bare) else 0)
    path, test = ".".join(node.path), _test(node)
    return lambda thing: test(subject(thing, path))


def _read(path: tuple[str, ...], at: int, project: str) -> Read:
    match path:
        case ("project",) | ("resource", "project_id"):
            return lambda _identity: project
        case ("metric", "type"):
            return lambda identity: identity.metric
        case ("resource", "type"):
            return lambda identity: identity.resource
        case ("metric", "label" | "labels", *name) if name:
            key = ".".join(name)
            return lambda identity: identity.metric_labels.get(key, "")
        case ("resource", "label" | "labels", *name) if name:
            key = ".".join(name)
            return lambda identity: identity.resource_labels.get(key, "")
        case ("metadata", *_):
            return lambda _identity: ""  # no metadata is kept here, so every label of it is empty
        case _:
            raise FilterError(f"{'.'.join(path)!r} cannot be compared in a filter for time series", at)


_OPERATORS: Mapping[str, Callable[[str, str], bool]] = {
    "=": lambda found, value: found == value,
    "!=": lambda found, value: found != value,
    ":": lambda found, value: value in found,
    "<": lambda found, value: found < value,
    "<=": lambda found, value: found <= value,
    ">": lambda found, value: found > value,
    ">=": lambda found, value: found >= value,
}


def _test(node: Comparison) -> Test:
    if isinstance(node.value, FunctionCall):
        function = _function(node.value)
        if node.operator == "=":
            return function
        if node.operator == "!=":
            return lambda found: not function(found)
        raise FilterError(f"{node.value.name}(…) goes with = and != only", node.value.at)
    compare = _OPERATORS.get(node.operator)
    if compare is None:
        raise FilterError(f"there is no operator {node.operator!r}", node.at)
    value = node.value.value
    return lambda found: compare(found, value)


def _function(call: FunctionCall) -> Test:
    arguments = [argument.value for argument in call.arguments]
    if call.name == "one_of" and arguments:
        wanted = frozenset(arguments)
        return lambda found: found in wanted
    if call.name not in _FUNCTIONS:
        raise FilterError(
            f"there is no function {call.name!r}; there are one_of, {', '.join(_FUNCTIONS)}", call.at
        )
    if len(arguments) != 1:
        raise FilterError(f"{call.name}(…) takes one argument", call.at)
    return _FUNCTIONS[call.name](arguments[0], call.at)


def _full_match(pattern: str, at: int) -> Test:
    expression = regex(pattern, at)
    return lambda found: expression.fullmatch(found) is not None


_FUNCTIONS: Mapping[str, Callable[[str, int], Test]] = {
    "starts_with": lambda value, _at: lambda found: found.startswith(value),
    "ends_with": lambda value, _at: lambda found: found.endswith(value),
    "has_substring": lambda value, _at: lambda found: value in found,
    "monitoring.regex.full_match": _full_match,
}
