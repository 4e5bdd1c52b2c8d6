"""YAML files that a flag names, read as gcloud reads them; the parser is imported on first use."""

from functools import cache
from typing import Any


def load(content: str) -> Any:
    """Read a YAML 1.1 or JSON file; raise `ValueError` with the place of a mistake."""
    import yaml  # noqa: PLC0415 — few scripts need it, and it is a third of the import time

    return _loaded(content, yaml.SafeLoader)


def load_flags(content: str) -> Any:
    """Read a flags file: YAML 1.2, where only true and false are switches and yes is a text."""
    return _loaded(content, _flags_loader())


def _loaded(content: str, loader: Any) -> Any:
    import yaml  # noqa: PLC0415 — as above

    try:
        return yaml.load(content, loader)  # noqa: S506 — both loaders are safe ones
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError("is no YAML: " + " ".join(str(error).split())) from None


@cache
def _flags_loader() -> Any:
    import re  # noqa: PLC0415 — with the parser

    import yaml  # noqa: PLC0415 — as above

    class FlagsLoader(yaml.SafeLoader):
        """YAML 1.2's few implicit types, and no key twice."""

        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 — PyYAML's own name and shape

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 — PyYAML's
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            doubled = [key for key in keys if keys.count(key) > 1]
            if doubled:
                raise ValueError(f"the key {doubled[0]!r} stands twice")
            return super().construct_mapping(node, deep=deep)

    for tag, pattern, first in (
        ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
        ("int", r"[-+]?[0-9]+", "-+0123456789"),
        ("float", r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)([eE][-+]?[0-9]+)?", "-+.0123456789"),
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ):
        FlagsLoader.add_implicit_resolver(
            f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), list(first)
        )
    FlagsLoader.add_constructor(
        "tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node))
    )
    return FlagsLoader
