"""Names in Cloud Storage as the command line writes them: `gs://BUCKET/OBJECT`, and wildcards in them.

`*` and `?` stop at a slash, `**` does not, `[…]` is one character out of several ("Wildcards" in the
documentation of gcloud storage).
"""

import re
from typing import NamedTuple

SCHEME = "gs://"
WILD = re.compile(r"[*?\[]")


class Address(NamedTuple):
    """A bucket, an object, or the folder that objects with this prefix seem to be in."""

    bucket: str
    name: str = ""

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.name}"

    @property
    def is_folder(self) -> bool:
        """Whether it is a bucket or is written as a folder."""
        return not self.name or self.name.endswith("/")

    @property
    def is_wild(self) -> bool:
        """Whether it stands for whatever matches it."""
        return bool(WILD.search(self.name))

    def below(self, name: str) -> "Address":
        """A name inside this folder."""
        inside = self.name if self.is_folder else f"{self.name}/"
        return Address(self.bucket, inside + name)


class BadAddress(Exception):
    """Not a name in Cloud Storage."""


def is_remote(text: str) -> bool:
    """Whether an argument names something in Cloud Storage."""
    return text.startswith(SCHEME)


def parse(text: str) -> Address:
    """Read `gs://BUCKET[/NAME]`; raises `BadAddress`."""
    bucket, _, name = text.removeprefix(SCHEME).partition("/")
    if not is_remote(text) or not re.fullmatch(r"[a-z0-9][a-z0-9._-]+[a-z0-9]", bucket):
        raise BadAddress(f"not a Cloud Storage URL with a bucket's name: {text!r}")
    return Address(bucket, name)


def fixed_part(pattern: str) -> str:
    """The beginning of a pattern that holds no wildcard."""
    found = WILD.search(pattern)
    return pattern[: found.start()] if found else pattern


def matcher(pattern: str) -> re.Pattern[str]:
    """The regular expression for a pattern; use it with `fullmatch`. Raises `BadAddress` for `[z-a]`."""
    parts = re.split(r"(\*\*/?|\*|\?|\[!?[^\]!][^\]]*\])", pattern)
    literal, wild = map(re.escape, parts[::2]), map(_expression, parts[1::2])
    texts = (text for pair in zip(literal, [*wild, ""], strict=True) for text in pair)
    try:
        return re.compile("".join(texts), re.DOTALL)
    except re.error as error:
        raise BadAddress(f"not a pattern: {pattern!r}: {error}") from error


EXPRESSIONS = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}


def _expression(wildcard: str) -> str:
    if wildcard in EXPRESSIONS:
        return EXPRESSIONS[wildcard]
    body = re.sub(r"[\\\[^&|~]|--", r"\\\g<0>", wildcard[1:-1])  # what means something to Python and not here
    return f"[^{body[1:]}]" if body.startswith("!") else f"[{body}]"


def folders_of(name: str) -> list[str]:
    """The folders that an object's name seems to be in, outermost first, without the slash at the end."""
    parts = name.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]
