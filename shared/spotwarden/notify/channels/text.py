"""What others say, as it may stand in a log or an audit."""

import re

LONGEST = 200
"""Characters of a server's words that are kept."""

_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")


def plain(said: bytes | str) -> str:
    """One line without control characters, cut to `LONGEST`."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return clip(one_line(text))


def one_line(text: str) -> str:
    """The text with each run of white space, control, surrogate and bidirectional characters as one space."""
    return _UNPRINTABLE.sub(" ", text).strip()


def clip(text: str, longest: int = LONGEST) -> str:
    """Not more than so many characters; what is cut off is shown to be."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
