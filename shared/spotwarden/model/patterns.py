"""Lists of names that a policy allows."""

from collections.abc import Sequence
from fnmatch import fnmatchcase


def allows(patterns: Sequence[str], name: str) -> bool:
    """Whether a name fits one of these patterns, written as for a shell; an empty list allows every name."""
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
