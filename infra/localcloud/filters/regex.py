"""Regular expressions of the filter languages, which are RE2's."""

import re

from localcloud.filters.tokens import FilterError

# Python knows these and RE2 does not; taken here, they would be refused by the real service.
_NOT_RE2 = re.compile(r"(?:^|[^\\])(?:\\\\)*(?:\\[1-9]|\(\?(?:=|!|<=|<!|\(|#))")


def regex(pattern: str, at: int) -> re.Pattern[str]:
    """Compile a pattern.

    Raises:
        FilterError: it is no regular expression, or one that RE2 refuses.
    """
    if _NOT_RE2.search(pattern):
        raise FilterError(f"{pattern!r} has a back reference or a look-around, which RE2 does not know", at)
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise FilterError(f"{pattern!r} is no regular expression: {error}", at) from error
