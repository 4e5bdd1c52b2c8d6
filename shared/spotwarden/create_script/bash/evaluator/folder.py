"""The files that a script can see, as far as they are known."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from spotwarden.create_script.bash.limits import MAX_FOLDERS, Budget
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

Path: TypeAlias = tuple[str, ...]
Place: TypeAlias = Path | Unknown


def resolve(place: Place, path: str, line: int) -> Place:
    """Return where `path` leads from `place`; the folder of the script is `()`."""
    if path.startswith("/"):
        reason = f"{path} is a path of one machine, not of the files stored beside the script"
        return Unknown(reason=reason, line=line)
    if isinstance(place, Unknown):
        return place
    steps = list(place)
    if path.count("/") > MAX_FOLDERS * 2:
        return Unknown(reason=f"{path[:80]} leads through too many folders", line=line)
    for step in path.split("/"):
        if step == ".." and not steps:
            return Unknown(reason=f"{path} leads out of the folder of the script", line=line)
        if step == "..":
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    if len(steps) > MAX_FOLDERS:
        return Unknown(reason=f"{path[:80]} is in too many nested folders", line=line)
    return tuple(steps)


class ScriptFolder:
    """Files and folders beside the script, and what the script and its programs do to them.

    Contents are asked for only when the script looks at them, so `stored` may read them on demand.
    Nobody stores which files are `executable`: only those are known that the script makes so itself.
    """

    def __init__(self, stored: Mapping[str, bytes], budget: Budget) -> None:
        self._stored = stored
        self._budget = budget
        self._changes: Mapping[Path, Unknown | None] = {}
        self._made: frozenset[Path] = frozenset()
        self.executable: frozenset[Path] = frozenset()
        self._names: frozenset[Path] | None = None

    def view(self, place: Place) -> "FolderView":
        """Return the files as they are now, as seen from `place`."""
        return FolderView(self, self._changes, place)

    def content(
        self, path: Path, changes: Mapping[Path, Unknown | None] | None = None
    ) -> bytes | Unknown | None:
        """Return a file's content; None where there is no such file."""
        changes = self._changes if changes is None else changes
        self._budget.items(1 + len(path))
        if path in changes:
            return changes[path]
        if any(path[:length] in changes for length in range(1, len(path))):
            return None
        try:
            return self._stored["/".join(path)]
        except KeyError:
            return None

    def is_folder(self, path: Path) -> bool:
        """Whether a folder is known to be there."""
        if path in self._made or not path:
            return True
        self._budget.items(1 + len(path))
        return any(file[: len(path)] == path and len(file) > len(path) for file in self._files())

    def paths(self) -> Iterator[Path]:
        """Yield all files and folders but the folder of the script itself."""
        seen = set(self._made)
        for file in self._files():
            self._budget.items(len(file))
            seen.update(file[:length] for length in range(1, len(file) + 1))
        yield from seen

    def _files(self) -> Iterator[Path]:
        if self._names is None:
            found = (resolve((), name, 0) for name in self._stored)
            self._names = frozenset(path for path in found if not isinstance(path, Unknown))
        self._budget.items(len(self._names) + len(self._changes))
        yield from (path for path in self._names | self._changes.keys() if not self._removed(path))

    def _removed(self, path: Path) -> bool:
        if path in self._changes:
            return self._changes[path] is None
        return any(path[:length] in self._changes for length in range(1, len(path)))

    def taint(self, path: Path, why: Unknown) -> None:
        """Note that a file is there, with a content that is not known."""
        self._budget.items(1 + len(self._changes))
        # A new mapping each time: the views given out before keep the files of their moment.
        self._changes = {**self._changes, path: why}

    def remove(self, path: Path) -> None:
        """Forget a file, or a folder with all that is in it."""
        size = len(path)
        self._budget.items(1 + len(self._changes) + len(self._made))
        kept = {file: why for file, why in self._changes.items() if file[:size] != path}
        self._changes = {**kept, path: None}
        self._made = frozenset(folder for folder in self._made if folder[:size] != path)

    def make_folder(self, path: Path) -> None:
        """Note a new folder and those above it."""
        self._budget.items(len(self._made) + len(path))
        self._made |= {path[:length] for length in range(1, len(path) + 1)}


class FolderView(Mapping[str, bytes]):
    """Files by path from one folder. Asking for one whose content is not known raises `ScriptRefused`."""

    def __init__(self, folder: ScriptFolder, changes: Mapping[Path, Unknown | None], place: Place) -> None:
        self._folder = folder
        self._changes = changes
        self._place = place

    def __getitem__(self, path: str) -> bytes:
        found = resolve(self._place, path, 0)
        content = found if isinstance(found, Unknown) else self._folder.content(found, self._changes)
        if isinstance(content, Unknown):
            raise ScriptRefused(content.reason, line=content.line)
        if content is None:
            raise KeyError(path)
        return content

    def __iter__(self) -> Iterator[str]:
        if isinstance(self._place, Unknown):
            return
        size = len(self._place)
        for path in self._folder.paths():
            known = path[:size] == self._place and isinstance(
                self._folder.content(path, self._changes), bytes
            )
            if known:
                yield "/".join(path[size:])

    def __len__(self) -> int:
        return sum(1 for _ in self)
