"""IAM conditions, decided as IAM would: the part of the Common Expression Language that we use.

What `extract` does: Google, "Configure resource-based access", on extracting values from the name.
"""

import re
from collections.abc import Mapping

LOGICAL = re.compile(r"&&|\|\||!(?!=)")


class Text(str):
    """A string of the language."""

    __slots__ = ()

    def startsWith(self, start: str) -> bool:
        """Whether it begins so."""
        return self.startswith(start)

    def endsWith(self, end: str) -> bool:
        """Whether it ends so."""
        return self.endswith(end)

    def extract(self, template: str) -> "Text":
        """What stands for the variable, where what is before it comes first; "" where it does not fit."""
        match = re.fullmatch(r"([^{]*)\{\w+\}(.*)", template)
        assert match, f"{template}: one variable"
        before, behind = match.groups()
        start = self.find(before)
        if start < 0:
            return Text("")
        start += len(before)
        end = self.find(behind, start) if behind else len(self)
        return Text(self[start:end] if end >= 0 else "")


class Resource:
    """What is acted on."""

    def __init__(self, name: str) -> None:
        self.name = Text(name)
        self.type = (
            "storage.googleapis.com/Object" if "/objects/" in name else "storage.googleapis.com/Bucket"
        )


class Api:
    """What the API tells of the call."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self._attributes = attributes

    def getAttribute(self, name: str, default: str) -> Text:
        """An attribute of the call, or what stands for it where there is none."""
        return Text(self._attributes.get(name, default))


def allows(expression: str, *, name: str, listed: str | None = None) -> bool:
    """Whether a condition holds for an object of this full name, or for a list of this prefix."""
    python = LOGICAL.sub(lambda word: {"&&": " and ", "||": " or ", "!": " not "}[word[0]], expression)
    attributes = {} if listed is None else {"storage.googleapis.com/objectListPrefix": listed}
    names = {"__builtins__": {}, "resource": Resource(name), "api": Api(attributes)}
    return bool(eval(python, names))  # noqa: S307 — our own expression, with no names but these
