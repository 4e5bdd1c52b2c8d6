"""gcloud's `--format`: value, get, json, yaml, csv, table, with keys and `.basename()`."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from localcloud.standins.cli.yaml_text import as_yaml


class BadFormat(Exception):
    """A format that the stand-in does not know."""


class Key(NamedTuple):
    """A path into a resource (`a.b[0].c`), its heading, and whether to show only the end of its value."""

    path: str
    title: str
    basename: bool

    def of(self, resource: object) -> Any:
        """The value at the path, None if there is none."""
        value: Any = resource
        for name, index in re.findall(r"([\w-]+)|\[(\d*)\]", self.path):
            value = _step(value, name, index)
        return value.rpartition("/")[2] if self.basename and isinstance(value, str) else value


def _step(value: Any, name: str, index: str) -> Any:
    if name:
        return value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, list):
        return None
    if not index:
        return value
    return value[int(index)] if int(index) < len(value) else None


FORM = re.compile(r"(?P<form>\w+)(?:\[(?P<attributes>[^\]]*)\])?(?:\((?P<keys>.*)\))?", re.DOTALL)
KEY = re.compile(
    r"(?P<path>[\w.\[\]-]+?)(?P<basename>\.(?:basename|scope)\(\))?"
    r"(?::label=(?P<label>[\w ]+))?(?::sort=\d+)?"
)


def render(resources: Sequence[Any], form: str, *, single: bool) -> str:
    """The resources as text; `single` means that they are one, which json and yaml then do not list.

    Raises:
        BadFormat: the form, or something in it, is not known here.
    """
    match = FORM.fullmatch(form.strip())
    if match is None or match["form"] not in FORMS:
        raise BadFormat(f"the local cloud's stand-in knows the formats {', '.join(FORMS)}, not {form!r}")
    attributes = set(filter(None, (match["attributes"] or "").split(",")))
    if attributes - {"no-heading"}:
        raise BadFormat(
            f"the local cloud's stand-in does not know these attributes of a format: {attributes}"
        )
    keys = [_key(text.strip()) for text in (match["keys"] or "").split(",") if text.strip()]
    if match["form"] in ("json", "yaml"):
        shown = [_project(resource, keys) for resource in resources] if keys else list(resources)
        return str(FORMS[match["form"]](shown[0] if single else shown))
    if not keys:
        raise BadFormat(f"Format [{match['form']}] requires a non-empty projection.")
    rows = [[key.of(resource) for key in keys] for resource in resources]
    return _lines(match["form"], keys, rows, heading="no-heading" not in attributes)


def _key(text: str) -> Key:
    match = KEY.fullmatch(text)
    if match is None:
        raise BadFormat(f"the local cloud's stand-in does not understand the key {text!r} of a format")
    title = match["label"] or match["path"].rpartition(".")[2]
    return Key(match["path"], title, basename=bool(match["basename"]))


def _project(resource: Any, keys: Sequence[Key]) -> Any:
    """Only these keys of a resource, in the resource's own shape."""
    shown: dict[str, Any] = {}
    for key in keys:
        value = key.of(resource)
        if value is None:
            continue
        *above, last = key.path.split(".")
        inner = shown
        for name in above:
            inner = inner.setdefault(name, {})
        inner[last] = value
    return shown


def _lines(form: str, keys: Sequence[Key], rows: Sequence[Sequence[Any]], *, heading: bool) -> str:
    if form == "table":
        return _table(keys, rows, heading=heading)
    separator = "," if form == "csv" else "\t"
    lines = [separator.join(map(text_of, row)) for row in rows]
    if form == "csv" and heading:
        lines.insert(0, ",".join(key.title for key in keys))
    return "".join(f"{line}\n" for line in lines)


def _table(keys: Sequence[Key], rows: Sequence[Sequence[Any]], *, heading: bool) -> str:
    cells = [[text_of(value) for value in row] for row in rows]
    if heading:
        cells.insert(0, [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key.title).upper() for key in keys])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def text_of(value: Any) -> str:
    """A value in one cell, as gcloud writes it."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return ";".join(f"{key}={text_of(value[key])}" for key in sorted(value))
    if isinstance(value, list):
        return ";".join(map(text_of, value))
    return str(value)


FORMS: dict[str, Any] = {
    "value": None,
    "get": None,
    "csv": None,
    "table": None,
    "json": lambda value: json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n",
    "yaml": as_yaml,
}
