"""The Logging query language, as far as sinks and reads need it ("Logging query language")."""

import hashlib
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

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
)
from localcloud.logs.compare import moment, value_test
from localcloud.logs.fields import Field, scalars, text_of
from localcloud.rpc import RpcError

GRAMMAR = Grammar()
LONGEST = 20_000

ALWAYS = datetime.min.replace(tzinfo=UTC)
_WORD = re.compile(r"\w+")


def entry_filter(text: str) -> Predicate:
    """A function that tells whether a log entry matches; an empty query matches every entry.

    Raises:
        RpcError: INVALID_ARGUMENT, with what cannot be read and where.
    """
    if len(text) > LONGEST:
        raise RpcError("INVALID_ARGUMENT", f"Unparseable filter: it is longer than {LONGEST} characters.")
    try:
        tree = parse(text, GRAMMAR)
        return _everything if tree is None else compiled(tree, _leaf)
    except FilterError as error:
        raise RpcError("INVALID_ARGUMENT", f"Unparseable filter: {error}.") from error


def earliest(text: str) -> datetime:
    """The moment before which no entry can match, as far as a readable query says one at its top."""
    tree = parse(text, GRAMMAR)
    terms = tree.terms if isinstance(tree, All) else (tree,)
    said = [
        moment(term.value.value, term.at)
        for term in terms
        if isinstance(term, Comparison)
        and term.path == ("timestamp",)
        and term.operator in (">", ">=")
        and isinstance(term.value, Text)
    ]
    return max(said, default=ALWAYS)


def _everything(_entry: Mapping[str, Any]) -> bool:
    return True


def _leaf(node: Node) -> Predicate:
    match node:
        case Comparison():
            return _comparison(node)
        case Bare(value=Text(value=text)):
            return _anywhere(text)
        case Bare(value=FunctionCall() as call):
            if call.name not in _FUNCTIONS:
                known = ", ".join(_FUNCTIONS)
                raise FilterError(
                    f"there is no function {call.name!r}; the local cloud knows {known}", call.at
                )
            return _FUNCTIONS[call.name](call)
        case _:
            raise TypeError(node)


def _comparison(node: Comparison) -> Predicate:
    field = Field(node.path, node.at)
    match node:
        case Comparison(operator=":", value=Text(value="*", quoted=False)):
            return field.is_present
        case Comparison(operator=":", value=Text(value=key)) if field.default is None:
            test = value_test(node, field.name)
            return lambda entry: any(_has(found, key, test) for found in field.values(entry))
    test = value_test(node, field.name)
    # Of several values one is enough; a field that is missing fails every comparison, also `!=`.
    return lambda entry: any(test(found) for found in field.values(entry))


def _has(found: Any, key: str, test: Callable[[Any], bool]) -> bool:
    """Whether a map has the key, or anything in the value contains the text."""
    return (isinstance(found, Mapping) and key in found) or test(found)


def _anywhere(text: str) -> Predicate:
    wanted = text.lower()
    return lambda entry: any(wanted in text_of(value).lower() for value in scalars(entry))


def _log_id(call: FunctionCall) -> Predicate:
    (name,) = _arguments(call, 1)
    suffix = "/logs/" + quote(name.value, safe="")
    return lambda entry: str(entry.get("logName", "")).endswith(suffix)


def _search(call: FunctionCall) -> Predicate:
    """Every word of the query is a word of the entry, or of the field that is named first."""
    arguments = _arguments(call, 1, 2)
    field = Field(arguments[0].parts, call.at) if len(arguments) > 1 else None
    wanted = set(_WORD.findall(arguments[-1].value.lower()))

    def matches(entry: Mapping[str, Any]) -> bool:
        subject = field.values(entry) if field else entry
        words = {word for value in scalars(subject) for word in _WORD.findall(text_of(value).lower())}
        return wanted <= words

    return matches


def _sample(call: FunctionCall) -> Predicate:
    """The same fraction of entries each time: a hash of the field decides."""
    name, share = _arguments(call, 2)
    field = Field(name.parts, call.at)
    try:
        fraction = float(share.value)
    except ValueError as error:
        raise FilterError(f"{share.value!r} is no fraction", call.at) from error

    def matches(entry: Mapping[str, Any]) -> bool:
        digest = hashlib.sha256("".join(map(text_of, field.values(entry))).encode()).digest()
        return int.from_bytes(digest[:8]) < fraction * 2**64

    return matches


def _ip_in_net(call: FunctionCall) -> Predicate:
    name, network_text = _arguments(call, 2)
    field = Field(name.parts, call.at)
    try:
        network = ipaddress.ip_network(network_text.value, strict=False)
    except ValueError as error:
        raise FilterError(f"{network_text.value!r} is no network", call.at) from error

    def is_inside(value: Any) -> bool:
        try:
            return ipaddress.ip_address(text_of(value)) in network
        except ValueError:
            return False

    return lambda entry: any(is_inside(value) for value in field.values(entry))


def _arguments(call: FunctionCall, *counts: int) -> tuple[Text, ...]:
    if len(call.arguments) not in counts:
        wanted = " or ".join(map(str, counts))
        raise FilterError(f"{call.name}(…) takes {wanted} arguments, not {len(call.arguments)}", call.at)
    return call.arguments


_FUNCTIONS: Mapping[str, Callable[[FunctionCall], Predicate]] = {
    "log_id": _log_id,
    "SEARCH": _search,
    "sample": _sample,
    "ip_in_net": _ip_in_net,
}
