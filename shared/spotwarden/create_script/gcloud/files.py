"""Files that a flag names, as they were stored beside the script."""

import posixpath
from collections.abc import Iterator, Mapping

from spotwarden.create_script.gcloud.values import Misfit

# The library reads about 100,000 characters of YAML a second.
MOST_YAML = 50_000
# A VM takes less than 512 KB of metadata, and nothing else that a file may hold is large.
MOST_READ = 4 * 1024 * 1024
_PORTION = 500


def content(files: Mapping[str, bytes], path: str) -> bytes:
    """Give the bytes of a file; raise `Misfit` if it is not with the script."""
    for name in (path, posixpath.normpath(path) if path else ""):
        if name in files:
            return files[name]
    if path == "/dev/null":
        return b""
    raise Misfit(f"the file {path!r} is not with the script; store it beside the script")


class Rations:
    """What the creates of one script may read together: bytes of files, and characters of slow formats."""

    def __init__(self) -> None:
        self._bytes = MOST_READ
        self._portions = MOST_YAML // _PORTION

    def read(self, size: int) -> None:
        """Account for so many bytes of a file; raise `Misfit` where that is too much."""
        self._bytes -= size
        if self._bytes < 0:
            raise Misfit(f"makes more than {MOST_READ} bytes that are read of the files of one script")

    def parse(self, size: int) -> None:
        """Account for so many characters of a slow format; raise `Misfit` where that is too much."""
        self._portions -= -(-size // _PORTION)
        if self._portions < 0:
            raise Misfit(
                f"makes more than {MOST_YAML} characters of YAML and JSON in the files of one script"
            )


class Rationed(Mapping[str, bytes]):
    """Files as all the creates of one script read them, who share what may be spent on them."""

    def __init__(self, files: Mapping[str, bytes], rations: Rations) -> None:
        self._files = files
        self.rations = rations

    def __getitem__(self, path: str) -> bytes:
        found = self._files[path]
        self.rations.read(len(found))
        return found

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def parsed_text(files: Mapping[str, bytes], path: str) -> str:
    """Give a file of YAML or JSON as text, and account for it; raise `Misfit` also where it is too much."""
    found = text(files, path)
    if isinstance(files, Rationed):
        files.rations.parse(len(found))
    return found


def text(files: Mapping[str, bytes], path: str) -> str:
    """Give a file as text with line feeds only; raise `Misfit` if it is missing or not UTF-8."""
    try:
        found = content(files, path).decode()
    except UnicodeDecodeError as error:
        raise Misfit(f"the file {path!r} is not UTF-8 text at byte {error.start}") from None
    return found.replace("\r\n", "\n").replace("\r", "\n")
