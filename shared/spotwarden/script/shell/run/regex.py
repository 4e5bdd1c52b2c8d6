"""Regular expressions of `[[ … =~ … ]]` (POSIX extended), in bounded time."""

import re

from spotwarden.script.refusal import Refused
from spotwarden.script.shell.limits import MAX_EXPRESSION

# The most steps that matching may take: length of the text to the power of the number of repetitions.
_MAX_STEPS = 1_000_000

_TOKEN = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\[:[a-z]+:\]|[^\]])*\])|(?P<repeat>[*+]|\{\d*,?\d*\})|(?P<maybe>\?)"
    r"|(?P<open>\()|(?P<close>\))|(?P<bar>\|)|(?P<end>\$)|(?P<sign>.)",
    re.DOTALL,
)
_CLASSES = {
    "[:alnum:]": "A-Za-z0-9",
    "[:alpha:]": "A-Za-z",
    "[:blank:]": r" \t",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:punct:]": r"!-/:-@\[-`{-~",
    "[:space:]": r" \t\n\r\f\v",
    "[:upper:]": "A-Z",
    "[:xdigit:]": "0-9A-Fa-f",
}
_BRACES = re.compile(r"\{\d+(?:,\d*)?\}")


def search(expression: str, text: str) -> tuple[tuple[str, ...] | None, bool]:
    """Return what `expression` and its parentheses match in `text`, None for no match.

    The second value says whether the parts are certain. POSIX prefers the longest match, Python the
    first: where these may differ, only *whether* there is a match is.

    Raises:
        Refused: the expression is wrong, or could take long.
    """
    if len(expression) > MAX_EXPRESSION:
        raise Refused(f"a regular expression has more than {MAX_EXPRESSION} characters")
    translated = _translate(expression, len(text))
    try:
        found = re.compile(translated, re.DOTALL).search(text)
    except re.error as error:
        raise Refused(f"the regular expression {expression} is not understood: {error}") from error
    if found is None:
        return None, True
    certain = expression.startswith("^") and expression.endswith("$") and "|" not in expression
    return (found.group(), *(part or "" for part in found.groups())), certain


def _translate(expression: str, length: int) -> str:
    pieces: list[str] = []
    repeats = 0
    opened: list[int] = []
    group_repeats = 0  # repetitions inside the parenthesis that has just been closed
    for found in _TOKEN.finditer(expression):
        kind = found.lastgroup
        if kind == "open":
            opened.append(repeats)
        elif kind == "repeat":
            if group_repeats:
                raise Refused(f"the regular expression {expression} repeats what repeats itself")
            repeats += 1
        group_repeats = repeats - opened.pop() if kind == "close" and opened else 0
        pieces.append(_piece(found, expression))
    if max(length, 2) ** repeats > _MAX_STEPS:
        raise Refused(
            f"the regular expression {expression} repeats too often for a text of {length} characters"
        )
    return "".join(pieces)


def _piece(found: re.Match[str], expression: str) -> str:
    kind, text = found.lastgroup, found.group()
    if kind == "escape":
        return re.escape(text[1])
    if kind == "set":
        return _set(text)
    if kind == "repeat" and text.startswith("{") and not _BRACES.fullmatch(text):
        raise Refused(f"the regular expression {expression} has braces that hold no count")
    return {"end": r"\Z"}.get(kind or "", text)


def _set(text: str) -> str:
    start = 2 if text.startswith("[^") else 1
    inner = text[start:-1]
    first, rest = ("\\]", inner[1:]) if inner.startswith("]") else ("", inner)
    rest = rest.replace("\\", "\\\\")
    for name, signs in _CLASSES.items():
        rest = rest.replace(name, signs)
    return text[:start] + first + re.sub(r"(?<!\\)\[", r"\\[", rest) + "]"
