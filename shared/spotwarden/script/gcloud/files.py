"""Files that a flag names, as they were stored beside the script."""

import posixpath
from collections.abc import Iterator, Mapping

from spotwarden.script.gcloud.values import Misfit

# The library reads about 100,000 characters of YAML a second.
MOST_YAML = 50_000
_PORTION = 500


def content(files: Mapping[str, bytes], path: str) -> bytes:
    """Give the bytes of a file; raise `Misfit` if it is not with the script."""
    for name in (path, posixpath.normpath(path) if path else ""):
        if name in files:
            return files[name]
    if path == "/dev/null":
        return b""
    raise Misfit(f"the file {path!r} is not with the script; store it beside the script")


class Rationed(Mapping[str, bytes]):
    """Files as all the creates of one script read them, who share what may be spent on slow formats."""

    def __init__(self, files: Mapping[str, bytes], left: Iterator[int]) -> None:
        self._files = files
        self._left = left

    def __getitem__(self, path: str) -> bytes:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def spend(self, size: int) -> None:
        """Account for `size` characters of a slow format; raise `Misfit` where that is too much."""
        for _ in range(-(-size // _PORTION)):
            if next(self._left, None) is None:
                raise Misfit(f"makes more than {MOST_YAML} characters of YAML in the files of one script")


def portions() -> Iterator[int]:
    """Return what the creates of one script may spend on slow formats together."""
    return iter(range(MOST_YAML // _PORTION))


def yaml_text(files: Mapping[str, bytes], path: str) -> str:
    """Give a YAML file as text, and account for it; raise `Misfit` as `text` does, and if it is too much."""
    found = text(files, path)
    if isinstance(files, Rationed):
        files.spend(len(found))
    return found


def text(files: Mapping[str, bytes], path: str) -> str:
    """Give a file as text with line feeds only; raise `Misfit` if it is missing or not UTF-8."""
    try:
        found = content(files, path).decode()
    except UnicodeDecodeError as error:
        raise Misfit(f"the file {path!r} is not UTF-8 text at byte {error.start}") from None
    return found.replace("\r\n", "\n").replace("\r", "\n")
