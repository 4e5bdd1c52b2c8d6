"""What a gcloud command is about, as far as its words tell: enough to know whether it matters."""

import re

from spotwarden.script.command import Unknown, Word

# A text that another program might run, or that is a script itself.
_CREATES = re.compile(r"gcloud\b.*?\binstances\b.*?\bcreate", re.DOTALL)
_CREATING = frozenset(["create", "create-with-container"])
_CONFIGURING = frozenset(["set", "unset", "configurations", "import"])
_TRACKS = frozenset(["alpha", "beta"])


def _path(words: list[Word]) -> tuple[list[str], Unknown | None]:
    """Return the words that are no flags, up to the first that is not known."""
    path: list[str] = []
    after_flag = False
    for word in words[1:]:
        value = word.value
        if isinstance(value, Unknown):
            if not value.prefix.startswith("-") and not (after_flag and not value.splits):
                return path, value
            after_flag = False
        elif value.startswith("-"):
            after_flag = "=" not in value
        else:
            path.append(value)
            after_flag = False
    return path, None


def creates(words: list[Word]) -> bool:
    """Whether a gcloud command launches instances, or may do so for all that is known."""
    path, unknown = _path(words)
    known = [word.value for word in words if isinstance(word.value, str)]
    if "instances" in known and _CREATING & set(known):
        return True
    if unknown is None:
        return False
    group = [step for step in path if step not in _TRACKS]
    return (
        not group
        or group == ["compute"]
        or group[:2] in (["compute", "instances"], ["compute", "instances", "bulk"])
    )


def configures(words: list[Word]) -> bool:
    """Whether a gcloud command may change what later ones take for granted."""
    path, _ = _path(words)
    return ("config" in path[:2] and (len(path) < 2 or bool(_CONFIGURING & set(path)))) or path[:1] == [
        "init"
    ]


def mentions_create(text: str) -> bool:
    """Whether a text holds a gcloud command that launches instances."""
    return "gcloud" in text and _CREATES.search(text) is not None
