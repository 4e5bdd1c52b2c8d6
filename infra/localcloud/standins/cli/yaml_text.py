"""Resources as YAML in gcloud's style: keys in order, a document for each resource."""

import json
import re
from typing import Any

PLAIN = re.compile(r"[A-Za-z/_][\w ./@#=+,();'\"\[\]{}<>|*&!$^~?-]*(?::[\w/.@-][\w ./:@=+,();?&%-]*)?")
"""Text that reads the same as YAML without quotes; a colon only where no blank follows."""

WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "~", "y", "n"})


def as_yaml(value: Any) -> str:
    """A mapping as one document, a list as one document for each element."""
    if isinstance(value, list):
        return "".join(f"---\n{as_yaml(element)}" for element in value)
    return "\n".join(_lines(value, "")) + "\n"


def _lines(value: Any, indent: str) -> list[str]:
    if isinstance(value, dict) and value:
        return [
            line for key in sorted(value) for line in _entry(f"{indent}{_scalar(key)}:", value[key], indent)
        ]
    if isinstance(value, list) and value:
        return [line for element in value for line in _element(element, indent)]
    return [indent + _scalar(value)]


def _entry(head: str, value: Any, indent: str) -> list[str]:
    if isinstance(value, str) and "\n" in value:
        return _block(head, value, indent)
    if isinstance(value, dict) and value:
        return [head, *_lines(value, f"{indent}  ")]
    if isinstance(value, list) and value:
        return [head, *_lines(value, indent)]
    return [f"{head} {_scalar(value)}"]


def _element(element: Any, indent: str) -> list[str]:
    first, *rest = _lines(element, f"{indent}  ")
    return [f"{indent}- {first[len(indent) + 2 :]}", *rest]


def _block(head: str, text: str, indent: str) -> list[str]:
    """Text of several lines as a literal block, or quoted where a block would not keep it."""
    if text[0].isspace() or not text.replace("\n", "").isprintable():
        return [f"{head} {_quoted(text)}"]
    body = text.rstrip("\n")
    trailing = len(text) - len(body)
    sign = {0: "-", 1: ""}.get(trailing, "+")
    lines = body.split("\n") + [""] * (trailing - 1)
    return [f"{head} |{sign}", *(f"{indent}  {line}" if line else "" for line in lines)]


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if PLAIN.fullmatch(value) and value.lower() not in WORDS and value == value.strip() and " #" not in value:
        return value
    return "'" + value.replace("'", "''") + "'" if value.isprintable() else _quoted(value)


def _quoted(text: str) -> str:
    """Text in double quotes; what cannot be seen is written as its number."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
