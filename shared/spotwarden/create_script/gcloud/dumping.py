"""YAML as gcloud writes it into the declaration of a container; the library is imported on first use."""

from functools import cache
from typing import Any, ClassVar

from spotwarden.create_script.gcloud.values import Raw
from spotwarden.create_script.gcloud.yamls import IMPLICIT, add_types


def dump(data: Raw) -> str:
    """Write data in YAML 1.2, where yes needs no quotes."""
    import yaml  # noqa: PLC0415 — few scripts have containers, and the import is slow

    return str(yaml.dump(data, Dumper=_dumper(), default_flow_style=False, indent=2))


@cache
def _dumper() -> Raw:
    import yaml  # noqa: PLC0415 — as above

    base: Any = yaml.SafeDumper

    class Dumper(base):  # type: ignore[misc]
        """Quotes what YAML 1.2 would not read as text; double quotes for texts with line ends or quotes."""

        yaml_implicit_resolvers: ClassVar[dict[str, Raw]] = {}

        def choose_scalar_style(self) -> Raw:
            style, event = super().choose_scalar_style(), self.event
            return '"' if style == "'" and not event.style and any(c in event.value for c in "'\n") else style

    add_types(Dumper, IMPLICIT)
    return Dumper
