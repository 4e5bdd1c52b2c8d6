"""The tree of metadata as data, and the forms in which the server gives it out.

A directory is a mapping (or a list, whose keys are indices), everything else a value. Fixed keys are written
with dashes and turned into camel case in JSON; keys that users choose (`Chosen`) stay as they are.
The forms are those of "View and query VM metadata" in the Compute Engine documentation.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Node = Any
"""A mapping or list (directories), `Lines`, `Tags`, `Computed`, text or a number."""


class Chosen(dict[str, Node]):
    """A directory whose keys were chosen by users: attributes, emails, namespaces."""


class Lines(tuple[str, ...]):
    """A value of several lines, a list in JSON: scopes, aliases."""

    __slots__ = ()


class Tags(Lines):
    """A list that is given out as JSON unless text is asked for; only `instance/tags` is."""

    __slots__ = ()


class Computed:
    """A value made when it is asked for, such as a token; listed, but left out of recursive answers."""


def find(root: Node, path: list[str]) -> Node:
    """The node at a path; raises `KeyError` if there is none."""
    node = root
    for name in path:
        node = _child(node, name)
    return node


def _child(node: Node, name: str) -> Node:
    if isinstance(node, list) and name.isdecimal() and int(name) < len(node):
        return node[int(name)]
    if isinstance(node, Mapping):
        return node[name]
    raise KeyError(name)


def is_directory(node: Node) -> bool:
    """Whether a path to this node ends in a slash."""
    return isinstance(node, Mapping | list)


def listing(node: Node) -> str:
    """The children of a directory, one a line, directories among them with a slash."""
    return "".join(f"{name}/\n" if is_directory(child) else f"{name}\n" for name, child in _children(node))


def as_json(node: Node) -> str:
    """The node with all below it as JSON in one line."""
    return json.dumps(_plain(node), separators=(",", ":"), ensure_ascii=False)


def as_text(node: Node) -> str:
    """A value as it is; a directory as lines of `path value`."""
    if is_directory(node):
        return "".join(f"{path} {value}\n" for path, value in _flat(node, ""))
    return "\n".join(node) if isinstance(node, Lines) else str(node)


def etag(node: Node) -> str:
    """Sixteen hexadecimal digits that change whenever anything in or below the node does."""
    return hashlib.sha256(as_json(node).encode()).hexdigest()[:16]


def _children(node: Node) -> Iterator[tuple[str, Node]]:
    if isinstance(node, list):
        yield from ((str(index), child) for index, child in enumerate(node))
    else:
        yield from node.items()


def _plain(node: Node) -> Any:
    if isinstance(node, Mapping):
        named = (lambda key: key) if isinstance(node, Chosen) else _camel
        return {named(key): _plain(child) for key, child in _shown(node)}
    if isinstance(node, list):
        return [_plain(child) for child in node]
    return list(node) if isinstance(node, Lines) else node


def _flat(node: Node, path: str) -> Iterator[tuple[str, str]]:
    for name, child in _shown(node):
        below = f"{path}/{name}" if path else name
        if is_directory(child):
            yield from _flat(child, below)
        elif isinstance(child, Lines):
            yield from ((below, line) for line in child)
        else:
            yield below, str(child)


def _shown(node: Node) -> Iterator[tuple[str, Node]]:
    return ((name, child) for name, child in _children(node) if not isinstance(child, Computed))


def _camel(key: str) -> str:
    return re.sub(r"-(.)", lambda match: match[1].upper(), key)
