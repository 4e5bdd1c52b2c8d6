"""Changes one value of a TOML file and leaves everything else, comments included, as it is."""

import json
import re
import tomllib
from typing import Any


class UnsafeTomlError(ValueError):
    """The text cannot be changed by a line without changing more; it is left for a person."""


def with_value(text: str, name: str, literal: str) -> str:
    """The text with `name = literal` at its top; `UnsafeTomlError` where more would change with it."""
    line = f"{name} = {literal}"
    found = _line_of(text, name)
    if found is not None:
        changed = _replaced(text, found, line + "\n")
    else:
        table = re.search(r"^\s*\[", text, re.MULTILINE)
        at = table.start() if table else len(text)
        before = text[:at]
        changed = before + ("\n" if before and not before.endswith("\n") else "") + line + "\n" + text[at:]
    return _checked(text, changed, name, tomllib.loads(line)[name])


def without(text: str, name: str) -> str:
    """The text without this value; as it is where there is none."""
    found = _line_of(text, name)
    return text if found is None else _checked(text, _replaced(text, found, ""), name, None)


def line_number(text: str, name: str) -> int:
    """The line in which a value stands, from 1; 0 for none."""
    found = _line_of(text, name)
    return 0 if found is None else text.count("\n", 0, found.start()) + 1


def quoted(value: str) -> str:
    """A text as TOML writes it: what JSON escapes, TOML does as well, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _line_of(text: str, name: str) -> re.Match[str] | None:
    """The line at the top of the file, before any table, that sets this value."""
    table = re.search(r"^\s*\[", text, re.MULTILINE)
    key = re.escape(name)
    pattern = re.compile(rf"^[ \t]*(?:{key}|\"{key}\"|'{key}')[ \t]*=.*(?:\n|\Z)", re.MULTILINE)
    return pattern.search(text, 0, table.start() if table else len(text))


def _replaced(text: str, found: re.Match[str], line: str) -> str:
    return text[: found.start()] + line + text[found.end() :]


def _checked(before: str, after: str, name: str, value: Any) -> str:  # noqa: ANN401 — any value TOML has
    """The change, if it is what it should be: a value over several lines is none of ours to cut."""
    try:
        wanted = tomllib.loads(before)
        wanted.pop(name, None)
        wanted |= {} if value is None else {name: value}
        if tomllib.loads(after) == wanted:
            return after
    except tomllib.TOMLDecodeError as error:
        raise UnsafeTomlError(f"it is no TOML: {error}") from error
    raise UnsafeTomlError(f"{name} cannot be changed without changing more; change it by hand")
