"""The files that a script can see, as far as they are known."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from spotwarden.script.command import Unknown
from spotwarden.script.refusal import Refused

Path: TypeAlias = tuple[str, ...]
Place: TypeAlias = Path | Unknown


def resolve(place: Place, path: str, line: int) -> Place:
    """Return where `path` leads from `place`; the folder of the script is `()`."""
    if path.startswith("/"):
        return Unknown(
            reason=f"{path} is a path of one machine, not of the files stored beside the script", line=line
        )
    if isinstance(place, Unknown):
        return place
    steps = list(place)
    for step in path.split("/"):
        if step == ".." and not steps:
            return Unknown(reason=f"{path} leads out of the folder of the script", line=line)
        if step == "..":
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return tuple(steps)


class Folder:
    """Files and folders beside the script, and what the script and its programs do to them."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files: dict[Path, bytes | Unknown] = {}
        self.folders: set[Path] = {()}
        for name, content in files.items():
            path = resolve((), name, 0)
            if not isinstance(path, Unknown):
                self._files[path] = content
                self._add_folders(path[:-1])

    def _add_folders(self, path: Path) -> None:
        self.folders.update(path[:length] for length in range(len(path) + 1))

    def view(self, place: Place) -> "View":
        """Return the files as they are now, as seen from `place`."""
        return View(self._files, place)

    def content(self, path: Path) -> bytes | Unknown | None:
        """Return a file's content; None where there is no such file."""
        return self._files.get(path)

    def is_folder(self, path: Path) -> bool:
        """Whether a folder is known to be there."""
        return path in self.folders

    def paths(self) -> Iterator[Path]:
        """Yield all files and folders but the folder of the script itself."""
        yield from self._files
        yield from (folder for folder in self.folders if folder)

    def taint(self, path: Path, why: Unknown) -> None:
        """Note that a file is there, with a content that is not known."""
        # A new mapping each time: the views given out before keep the files of their moment.
        self._files = {**self._files, path: why}

    def remove(self, path: Path) -> None:
        """Forget a file, or a folder with all that is in it."""
        size = len(path)
        self._files = {file: content for file, content in self._files.items() if file[:size] != path}
        self.folders = {folder for folder in self.folders if not folder or folder[:size] != path}

    def make_folder(self, path: Path) -> None:
        """Note a new folder and those above it."""
        self.folders = set(self.folders)
        self._add_folders(path)


class View(Mapping[str, bytes]):
    """Files by path from one folder. Asking for one whose content is not known raises `Refused`."""

    def __init__(self, files: Mapping[Path, bytes | Unknown], place: Place) -> None:
        self._files = files
        self._place = place

    def __getitem__(self, path: str) -> bytes:
        found = resolve(self._place, path, 0)
        content = found if isinstance(found, Unknown) else self._files[found]
        if isinstance(content, Unknown):
            raise Refused(content.reason, line=content.line)
        return content

    def __iter__(self) -> Iterator[str]:
        if isinstance(self._place, Unknown):
            return
        size = len(self._place)
        for path, content in self._files.items():
            if path[:size] == self._place and not isinstance(content, Unknown):
                yield "/".join(path[size:])

    def __len__(self) -> int:
        return sum(1 for _ in self)
