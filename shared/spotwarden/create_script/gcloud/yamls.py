"""YAML files that a flag names, read as gcloud reads them; the library is imported on first use."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar

from spotwarden.create_script.gcloud.values import Misfit, Raw

# The types of plain words in YAML 1.2: tag, pattern, first characters.
IMPLICIT = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?0b[0-1_]+|[-+]?0o?[0-7_]+|[-+]?[0-9_]+|[-+]?0x[0-9a-fA-F_]+", "-+0123456789"),
    (
        "float",
        (
            r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)"
            r"|[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
        ),
        "-+.0123456789",
    ),
    ("null", r"~|null|Null|NULL|", ("~", "n", "N", "")),
    (
        "timestamp",
        r"\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d.*",
        "0123456789",
    ),
    ("value", r"=", "="),
    ("merge", r"<<", "<"),
)
# In YAML 1.1 y and n are switches, too, which the library does not know.
_SHORT_SWITCHES = (("bool", r"y|Y|n|N", "yYnN"),)
# The library reads about 100,000 characters a second; flags and labels of nodes need a few hundred.
_LONGEST = 50_000
_MOST_VALUES = 10_000
# Plain words of a flags file on which gcloud 528 breaks off.
_UNREADABLE = ("timestamp", "value", "merge")


def load(content: str) -> Raw:
    """Read a YAML 1.1 or JSON file; raise `Misfit` with the place of a mistake."""
    return _loaded(content, _plain_loader())


def load_flags(content: str) -> Raw:
    """Read a flags file: YAML 1.2, where only true and false are switches and yes is a text."""
    return _loaded(content, _flags_loader())


def add_types(kind: Raw, types: Iterable[tuple[str, str, Iterable[str]]]) -> None:
    """Tell a loader or dumper how plain words of these types look."""
    for tag, pattern, first in types:
        kind.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), list(first))


def _loaded(content: str, loader: Raw) -> Raw:
    import yaml

    if len(content) > _LONGEST:
        raise Misfit(f"is longer than {_LONGEST} characters")
    try:
        found = yaml.load(content, loader)  # noqa: S506 — both loaders are safe ones
    except Misfit:
        raise
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, TypeError) as error:
        # TypeError: a list or a dictionary as key.
        raise Misfit("is not valid YAML: " + " ".join(str(error).split())) from None
    _check_size(found)
    return found


def _check_size(data: Raw) -> None:
    """Raise `Misfit` for data that references make larger than the file that holds it."""
    left, waiting = _MOST_VALUES, [data]
    while waiting:
        item = waiting.pop()
        left -= 1
        if left < 0:
            raise Misfit(f"holds more than {_MOST_VALUES} values")
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


@cache
def _strict_loader() -> Raw:
    import yaml

    base: Any = yaml.SafeLoader

    class StrictLoader(base):  # type: ignore[misc]  # yaml loads at first use
        """Takes no key twice."""

        def construct_mapping(self, node: Raw, deep: bool = False) -> Raw:  # noqa: FBT001, FBT002 — PyYAML's
            found = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if key in found:
                    raise Misfit(f"has the key {key!r} twice")
                found.add(key)
            return super().construct_mapping(node, deep=deep)

    return StrictLoader


@cache
def _plain_loader() -> Raw:
    base = _strict_loader()

    class PlainLoader(base):  # type: ignore[misc, valid-type]  # yaml loads at first use
        """YAML 1.1 to the letter."""

        bool_values = base.bool_values | {"y": True, "n": False}

    add_types(PlainLoader, _SHORT_SWITCHES)
    return PlainLoader


@cache
def _flags_loader() -> Raw:
    class FlagsLoader(_strict_loader()):  # type: ignore[misc]  # yaml loads at first use
        """YAML 1.2's few types, without the texts that gcloud 528 spoils."""

        yaml_implicit_resolvers: ClassVar[dict[str, Raw]] = {}

        def construct_scalar(self, node: Raw) -> Raw:
            if getattr(node, "style", None) == ">":
                raise Misfit("has a text after >, which gcloud 528 changes; use | instead")
            return super().construct_scalar(node)

    def refuse(_loader: Raw, node: Raw) -> Raw:
        raise Misfit(f"has {node.value!r} without quotes, on which gcloud 528 fails")

    add_types(FlagsLoader, IMPLICIT)
    for tag in _UNREADABLE:
        FlagsLoader.add_constructor(f"tag:yaml.org,2002:{tag}", refuse)
    for tag, make in (("int", int), ("float", float)):
        FlagsLoader.add_constructor(f"tag:yaml.org,2002:{tag}", _maker(make))
    return FlagsLoader


def _maker(make: Raw) -> Raw:
    return lambda loader, node: make(loader.construct_scalar(node))


def dump(data: Raw) -> str:
    """Write data in YAML 1.2, where yes needs no quotes."""
    import yaml

    return str(yaml.dump(data, Dumper=_dumper(), default_flow_style=False, indent=2))


@cache
def _dumper() -> Raw:
    import yaml

    base: Any = yaml.SafeDumper

    class Dumper(base):  # type: ignore[misc]  # yaml loads at first use
        """Quotes what YAML 1.2 would not read as text; double quotes for texts with line ends or quotes."""

        yaml_implicit_resolvers: ClassVar[dict[str, Raw]] = {}

        def choose_scalar_style(self) -> Raw:
            style, event = super().choose_scalar_style(), self.event
            return '"' if style == "'" and not event.style and any(c in event.value for c in "'\n") else style

    add_types(Dumper, IMPLICIT)
    return Dumper
