"""The filter of a subscription: "Filtering syntax" of Pub/Sub's documentation."""

from collections.abc import Callable, Mapping

from localcloud.filters import (
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
from localcloud.pubsub.names import invalid

GRAMMAR = Grammar(juxtaposition=False, mixing=False)
LONGEST_BYTES = 256

Matches = Callable[[Mapping[str, str]], bool]


def attribute_filter(text: str) -> Matches:
    """A function that tells whether a message's attributes match; an empty filter matches everything.

    Raises:
        RpcError: INVALID_ARGUMENT, with what cannot be read and where.
    """
    if len(text.encode()) > LONGEST_BYTES:
        raise invalid("filter", f"The filter is longer than {LONGEST_BYTES} bytes.")
    try:
        tree = parse(text, GRAMMAR)
        return _everything if tree is None else compiled(tree, _leaf)
    except FilterError as error:
        raise invalid("filter", f"The filter cannot be read: {error}.") from error


def _everything(_attributes: Mapping[str, str]) -> bool:
    return True


def _leaf(node: Node) -> Predicate:
    match node:
        case Comparison(path=("attributes",), operator=":", value=Text(value=key)):
            return lambda attributes: key in attributes
        case Comparison(path=path, operator="=" | "!=", value=Text(value=value, quoted=True)):
            return _equality(_key(path, node.at), value, wanted=node.operator == "=")
        case Bare(value=FunctionCall(name="hasPrefix", arguments=(field, Text(value=prefix, quoted=True)))):
            key = _key(field.parts, node.at)
            return lambda attributes: attributes.get(key, "").startswith(prefix) and key in attributes
        case Comparison() | Bare():
            raise FilterError(
                'a term is one of attributes:KEY, attributes.KEY = "VALUE", attributes.KEY != "VALUE" and '
                'hasPrefix(attributes.KEY, "PREFIX")',
                node.at,
            )
        case _:
            raise TypeError(node)


def _equality(key: str, value: str, *, wanted: bool) -> Predicate:
    return lambda attributes: (attributes.get(key) == value) is wanted


def _key(path: tuple[str, ...], at: int) -> str:
    match path:
        case ("attributes", key):
            return key
        case ("attributes", _, *_):
            raise FilterError("a key with a dot in it needs quotation marks", at)
        case _:
            raise FilterError("only attributes.KEY can be compared", at)
