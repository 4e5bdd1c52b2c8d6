"""YAML files that a flag names, read as gcloud reads them; the parser is imported on first use."""

from functools import cache
from typing import Any, ClassVar


def load(content: str) -> Any:
    """Read a YAML 1.1 or JSON file; raise `ValueError` with the place of a mistake."""
    import yaml  # noqa: PLC0415 — few scripts need it, and it is a third of the import time

    return _loaded(content, _plain_loader())


def load_flags(content: str) -> Any:
    """Read a flags file: YAML 1.2, where only true and false are switches and yes is a text."""
    return _loaded(content, _flags_loader())


def dump(data: Any) -> str:
    """Write data as gcloud's YAML library does: YAML 1.2, where yes needs no quotes."""
    import yaml  # noqa: PLC0415 — as above

    return str(yaml.dump(data, Dumper=_dumper(), default_flow_style=False, indent=2))


def _loaded(content: str, loader: Any) -> Any:
    import yaml  # noqa: PLC0415 — as above

    try:
        return yaml.load(content, loader)  # noqa: S506 — both loaders are safe ones
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError("is no YAML: " + " ".join(str(error).split())) from None


@cache
def _plain_loader() -> Any:
    import re  # noqa: PLC0415 — with the parser

    import yaml  # noqa: PLC0415 — as above

    class PlainLoader(yaml.SafeLoader):
        """YAML 1.1 to the letter, where y and n are switches, too; no key twice."""

        bool_values: ClassVar[dict[str, bool]] = yaml.SafeLoader.bool_values | {"y": True, "n": False}

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 — PyYAML's
            _check_keys([self.construct_object(key, deep=True) for key, _ in node.value])
            return super().construct_mapping(node, deep=deep)

    PlainLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:y|Y|n|N)$"), list("yYnN"))
    return PlainLoader


def _check_keys(keys: list[Any]) -> None:
    doubled = [key for key in keys if keys.count(key) > 1]
    if doubled:
        raise ValueError(f"the key {doubled[0]!r} stands twice")


# The implicit types of YAML 1.2: tag, pattern, first characters. The last three are refused.
_IMPLICIT = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?0b[0-1_]+|[-+]?0o?[0-7_]+|[-+]?[0-9_]+|[-+]?0x[0-9a-fA-F_]+", "-+0123456789"),
    (
        "float",
        r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)"
        r"|[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("timestamp", r"\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d.*", "0123456789"),
    ("value", r"=", "="),
    ("merge", r"<<", "<"),
)


@cache
def _flags_loader() -> Any:
    import re  # noqa: PLC0415 — with the parser

    import yaml  # noqa: PLC0415 — as above

    class FlagsLoader(yaml.SafeLoader):
        """YAML 1.2's few implicit types, no key twice, and none of the texts that gcloud 528 spoils."""

        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 — PyYAML's
            _check_keys([self.construct_object(key, deep=True) for key, _ in node.value])
            return super().construct_mapping(node, deep=deep)

        def construct_scalar(self, node: Any) -> Any:
            if getattr(node, "style", None) == ">":
                raise ValueError("gcloud 528 spoils texts behind >; use | instead")
            return super().construct_scalar(node)

    def refuse(_loader: Any, node: Any) -> Any:
        raise ValueError(f"{node.value!r} needs quotes around it, or gcloud 528 breaks off")

    for tag, pattern, first in _IMPLICIT:
        FlagsLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), list(first))
    for tag in ("timestamp", "value", "merge"):
        FlagsLoader.add_constructor(f"tag:yaml.org,2002:{tag}", refuse)
    FlagsLoader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node)))
    FlagsLoader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(loader.construct_scalar(node)))
    return FlagsLoader


@cache
def _dumper() -> Any:
    import re  # noqa: PLC0415 — with the parser

    import yaml  # noqa: PLC0415 — as above

    class Dumper(yaml.SafeDumper):
        """Quotes what YAML 1.2 would not read as text; double quotes for texts with line ends or quotes."""

        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

        def choose_scalar_style(self) -> Any:
            style = super().choose_scalar_style()
            value = self.event.value
            return '"' if style == "'" and not self.event.style and ("'" in value or "\n" in value) else style

    for tag, pattern, first in _IMPLICIT:
        Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), list(first))
    return Dumper
