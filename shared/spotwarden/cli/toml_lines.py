"""Changes one value of a TOML file and leaves everything else, comments included, as it is."""

import re
import tomllib
from datetime import date


class UnsafeTomlError(ValueError):
    """The text is no TOML, or cannot be changed without changing more; it is left for a person."""


def with_value(text: str, name: str, value: str | date) -> str:
    """The text with this value at its top; `UnsafeTomlError` where more would change with it."""
    return _changed(text, {name: value}, name)


def without(text: str, name: str) -> str:
    """The text without this value; as it is where there is none."""
    return _changed(text, {}, name)


def line_number(text: str, name: str) -> int:
    """The line in which a value stands, from 1; 0 for none."""
    top, *_ = re.split(r"^\s*\[", text, maxsplit=1, flags=re.MULTILINE)
    found = re.search(rf"""^[ \t]*(["']?){re.escape(name)}\1[ \t]*=""", top, re.MULTILINE)
    return 0 if found is None else text.count("\n", 0, found.start()) + 1


def _changed(text: str, values: dict[str, str | date], name: str) -> str:
    import tomlkit  # noqa: PLC0415 — only who changes a file waits for it

    try:
        before, document = tomllib.loads(text), tomlkit.parse(text)
        held = before.pop(name, None)
        document.pop(name, None) if not values else document.update(values)
        changed = document.as_string()
        # Two readers of TOML agree on what was changed, or nothing is.
        if not isinstance(held, dict) and tomllib.loads(changed) == before | values:
            return changed
    except (ValueError, tomlkit.exceptions.TOMLKitError) as error:
        raise UnsafeTomlError(f"it is not valid TOML: {error}") from error
    raise UnsafeTomlError(f"{name} cannot be changed without changing more; change it by hand")
