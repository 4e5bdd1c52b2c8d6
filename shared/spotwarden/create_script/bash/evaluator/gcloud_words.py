"""What a gcloud command is about, as far as its words tell: enough to know whether it matters."""

import re

from spotwarden.create_script.request.command import ExpandedWord, Unknown

# A text that another program might run, or that is a script itself: these words, in this order.
_CREATES = tuple(map(re.compile, (r"gcloud\b", r"\bcompute\b", r"\binstances\b", r"\bcreate")))
_CREATING = frozenset(["create", "create-with-container"])
_CONFIGURING = frozenset(["set", "unset", "configurations", "import"])
_TRACKS = frozenset(["alpha", "beta", "preview"])
# Flags of gcloud as a whole that take no value; behind any other the next word may be its value.
_SWITCHES = frozenset(
    ["--quiet", "-q", "--log-http", "--user-output-enabled", "--help", "-h", "--version", "-v"]
)
_ROOMS: tuple[list[str], ...] = ([], ["compute"], ["compute", "instances"], ["compute", "instances", "bulk"])


def _path(words: list[ExpandedWord]) -> tuple[list[str], Unknown | None]:
    """Return the groups that a command names, up to the first word that is not known."""
    path: list[str] = []
    value_follows = False
    for word in words[1:]:
        value = word.value
        if isinstance(value, Unknown):
            if value.splits or not (value_follows or value.prefix.startswith("-")):
                return path, value
            value_follows = False
        elif value.startswith("-"):
            value_follows = "=" not in value and value not in _SWITCHES and not value.startswith("--no-")
        elif value_follows:
            value_follows = False
        elif value not in _TRACKS:
            path.append(value)
    return path, None


def creates(words: list[ExpandedWord]) -> bool:
    """Whether a gcloud command launches instances, or may do so for all that is known."""
    known = {word.value for word in words if isinstance(word.value, str)}
    if {"compute", "instances"} <= known and _CREATING & known:
        return True
    path, unknown = _path(words)
    return unknown is not None and path in _ROOMS


def configures(words: list[ExpandedWord]) -> bool:
    """Whether a gcloud command may change what later ones take for granted."""
    path, unknown = _path(words)
    if path[:1] == ["config"]:
        return unknown is not None or bool(_CONFIGURING & set(path))
    return path[:1] == ["init"]


def mentions_create(text: str) -> bool:
    """Whether a text holds a gcloud command that launches instances."""
    position = 0
    for word in _CREATES:  # each where it first comes: looking for all at once takes the fourth power
        found = word.search(text, position)
        if found is None:
            return False
        position = found.end()
    return True
