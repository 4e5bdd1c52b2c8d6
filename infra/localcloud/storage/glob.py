"""Object name globs (`matchGlob`), as "List objects and prefixes using glob" describes them."""

import re

from localcloud.errors import ApiError

_PIECES = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|[{},]|\\?.", re.DOTALL)
_TABLE = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def literal_prefix(glob: str) -> str:
    """What every name that matches begins with."""
    return re.split(r"[*?\[{\\]", glob, maxsplit=1)[0]


def compile_glob(glob: str) -> re.Pattern[str]:
    """Compile a glob; use `fullmatch`.

    Raises:
        ApiError: 400 when brackets or braces do not pair up.
    """
    depth = 0
    pattern = []
    for piece in _PIECES.findall(glob):
        depth += (piece == "{") - (piece == "}")
        if depth < 0 or piece == "[":
            break
        pattern.append(_translate(piece, inside=depth > 0))
    else:
        if depth == 0:
            return _compile(glob, "".join(pattern))
    raise _refused(glob)


def _translate(piece: str, *, inside: bool) -> str:
    if piece in _TABLE:
        return _TABLE[piece]
    if len(piece) > 1 and piece[0] == "[":
        negated = piece[1] in "!^"
        body = piece[1 + negated : -1].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
        return f"(?!/)[{'^' if negated else ''}{body}]"
    if piece in {"{", "}"}:
        return "(?:" if piece == "{" else ")"
    if piece == "," and inside:
        return "|"
    return re.escape(piece[-1])


def _compile(glob: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error as error:
        raise _refused(glob) from error


def _refused(glob: str) -> ApiError:
    return ApiError(400, "invalid", f"Invalid glob pattern: '{glob}'.", location="matchGlob")
