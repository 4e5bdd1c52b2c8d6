"""A value as bash would have it written in a script."""

import re

_NAMES = {"\a": "a", "\b": "b", "\x1b": "E", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def quote(text: str) -> str:
    """Return what `${x@Q}` gives: single quotes, or `$'…'` where there are control characters."""
    if _CONTROL.search(text):
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return "$'" + _CONTROL.sub(_escape, escaped) + "'"
    return "'" + text.replace("'", "'\\''") + "'"


def _escape(found: re.Match[str]) -> str:
    sign = found.group()
    return "\\" + (_NAMES.get(sign) or f"{ord(sign):03o}")
