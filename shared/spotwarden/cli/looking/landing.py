"""Puts objects of the bucket into a local folder: nowhere else, never half, and no byte twice."""

import contextlib
import os
from collections.abc import Callable
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path

import msgspec

from spotwarden.ports import HeldObject, Transfers, UnansweredError

TRIES = 3
"""A job that runs may write an object anew while it is fetched."""
DELETE = "\x7f"
BLANK = "\t\n\r"
"""Control characters that names of files have by mistake, and that steer no terminal."""
PART = ".spotwarden-{key}-{generation}.part"


class UnsafePathError(Exception):
    """This must not be written; the message says why."""


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """One file that is there now; it was `fetched`, so many bytes of it, or was there already."""

    path: str
    fetched: bool = False
    moved: int = 0


def safe(path: str) -> str:
    """The relative path itself; `UnsafePathError` where it could lead, or be understood to lead, elsewhere.

    What comes from the bucket may have been written by anybody.
    """
    parts = path.split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        raise UnsafePathError("a part of it is empty, '.' or '..'")
    if "\\" in path:
        raise UnsafePathError("it has a backslash, which separates folders on some systems")
    if any((ord(name) < ord(" ") and name not in BLANK) or name == DELETE for name in path):
        raise UnsafePathError("it has control characters")
    return path


class Landing:
    """One folder; safe to use from several threads for different paths."""

    def __init__(self, folder: Path, files: Transfers) -> None:
        self._folder = folder
        self._files = files

    def land(self, path: str, held: HeldObject, moved: Callable[[int], None]) -> Landed:
        """Have the object there under this path, unless the very bytes are.

        Raises:
            UnsafeError: the path leads out of the folder.
            UnansweredError: it could not be fetched; what was is gone on with next time.
            OSError: it could not be written.
        """
        target = self._inside(path)
        if self.is_there(path, held):
            return Landed(path=path)
        part = target.with_name(PART.format(key=_key(target.name), generation=held.generation))
        fetched = self._fetch(held, part, moved)
        # A name that stands for a whole file is never one that is still being written.
        part.replace(target)
        _tidy(target)
        return Landed(path=path, fetched=True, moved=fetched)

    def is_there(self, path: str, held: HeldObject) -> bool:
        """Whether the very bytes are there already; what is a link is not the file itself."""
        target = self._folder / safe(path)
        return not target.is_symlink() and target.is_file() and self._files.same(target, held)

    def _inside(self, path: str) -> Path:
        """The target, its folder made; a link that stands there already may lead nowhere else."""
        target = self._folder / safe(path)
        root = self._folder.resolve()
        if not target.parent.resolve().is_relative_to(root):
            raise UnsafePathError(f"{target.parent} is a link that leads out of {self._folder}")
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.parent.resolve().is_relative_to(root):
            raise UnsafePathError(f"{target.parent} is a link that leads out of {self._folder}")
        if target.is_dir() and not target.is_symlink():
            raise UnsafePathError(f"{target} is a folder")
        return target

    def _fetch(self, held: HeldObject, part: Path, moved: Callable[[int], None]) -> int:
        """Fetch what is not there yet of it; gives how many bytes came."""
        start = part.stat().st_size if part.is_file() and not part.is_symlink() else 0
        if start and self._go_on(held, part, start, moved):
            return held.size - start
        part.unlink(missing_ok=True)
        with _new(part) as into:
            self._files.download(held, into, moved=moved)
        return held.size

    def _go_on(self, held: HeldObject, part: Path, start: int, moved: Callable[[int], None]) -> bool:
        """Fetch the rest; whether it is then the whole object, undamaged."""
        moved(min(start, held.size))
        if start < held.size:
            with part.open("ab") as into:
                self._files.download(held, into, start=start, moved=moved)
        whole = self._files.same(part, held)
        if not whole:
            moved(-held.size)
        return whole


def _new(part: Path) -> BufferedWriter:
    """A file that was not there; never through a link that somebody put there."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(part, flags, 0o666), "wb")


def _tidy(target: Path) -> None:
    """Take away what was begun of older generations of it."""
    for left in target.parent.glob(PART.format(key=_key(target.name), generation="*")):
        with contextlib.suppress(OSError):
            left.unlink()


def _key(name: str) -> str:
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def insist(
    landing: Landing, files: Transfers, path: str, held: HeldObject, moved: Callable[[int], None]
) -> Landed:
    """Land it; where it is written anew meanwhile, what it is then. `UnansweredError` where it goes on so."""
    for left in reversed(range(TRIES)):
        try:
            return landing.land(path, held, moved)
        except UnansweredError:
            newer = next((file for file in files.held(held.name) if file.name == held.name), None)
            if not left or newer is None or newer.generation == held.generation:
                raise
            held = newer
    raise AssertionError("unreachable")
