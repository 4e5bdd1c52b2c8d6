"""The job's code as one tarball, and the local files that its create script names."""

import tarfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import click
import msgspec

from spotwarden.cli.bars import amount
from spotwarden.cli.launching.ignoring import NEVER, walk
from spotwarden.cli.table import plain
from spotwarden.notify.templates.text import count

FILE_AT_MOST = 256 * 1024
"""Bytes: Compute Engine takes no metadata value that is longer (Google: "About VM metadata")."""
UNTOLD = (".git", ".spotwarden")
"""Left out of every job's code, and no news to anybody."""
NAMED = 5
"""So many of what is left out are told by name."""


class FolderFiles(Mapping[str, bytes]):
    """The files below a folder by relative path, read when asked for; remembers which were."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.used: dict[str, bytes] = {}

    def __getitem__(self, path: str) -> bytes:
        """The content; KeyError where there is none, or where it is too long to be metadata."""
        file = self._folder / path
        if not file.resolve().is_relative_to(self._folder.resolve()) or not file.is_file():
            raise KeyError(path)
        if file.stat().st_size > FILE_AT_MOST:
            raise KeyError(path)
        return self.used.setdefault(path, file.read_bytes())

    def __iter__(self) -> Iterator[str]:
        for file in _files(self._folder):
            if file.is_file():
                yield str(file.relative_to(self._folder))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in NEVER:
            continue
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """A tarball on this machine's disk: how many files, how many bytes, and what was left out by name.

    `outside` are links that lead out of the folder, and so nowhere on the VM.
    """

    tarball: Path
    files: int = 0
    size: int = 0
    left_out: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()

    def told(self) -> Iterator[str]:
        """What a person should know, a line each."""
        if self.files:
            yield f"code: {count(self.files, 'file')}, {amount(self.size)}"
        if self.left_out:
            shown = ", ".join(plain(name) for name in self.left_out[:NAMED])
            more = f" and {len(self.left_out) - NAMED} more" if len(self.left_out) > NAMED else ""
            yield f"  left out: {shown}{more} (.gitignore, .spotwardenignore, caches, inputs)"
        yield from (
            f"  warning: {plain(name)} points outside the folder, and will be broken on the VM"
            for name in self.outside
        )


def has_requirements(code: Path | None) -> bool:
    """Whether there is a requirements.txt at the top of the code, for pip to install."""
    return code is not None and (code / "requirements.txt").is_file()


@contextmanager
def packed(code: Path, without: Collection[Path] = ()) -> Iterator[Packed]:
    """The tarball of a folder's content, or the one that was given; the same input gives the same bytes.

    A tarball that was made lies on the disk as long as it is needed, and never in memory. `without` are files
    and folders that go another way.
    """
    if code.is_file():
        if not tarfile.is_tarfile(code):
            raise click.ClickException(f"{code} is neither a folder nor a tarball")
        yield Packed(tarball=code, size=code.stat().st_size)
        return
    with NamedTemporaryFile(prefix="spotwarden-", suffix=".tar") as file:
        done = pack(code, file.file, without)
        file.flush()
        yield msgspec.structs.replace(done, tarball=Path(file.name))


def pack(code: Path, into: IO[bytes], without: Collection[Path] = ()) -> Packed:
    """Write the tarball of a folder's content into an open file."""
    folder, elsewhere = code.resolve(), {path.resolve() for path in without}
    files, left_out, outside = 0, list[str](), list[str]()
    try:
        with tarfile.open(fileobj=into, mode="w") as tar:
            for found in walk(folder, elsewhere):
                name = found.path.relative_to(folder).as_posix()
                if found.left_out:
                    left_out += [name] if name not in UNTOLD else []
                    continue
                if found.path.is_symlink() and not found.path.resolve().is_relative_to(folder):
                    outside.append(name)
                tar.add(found.path, arcname=name, recursive=False, filter=_plain)
                files += found.path.is_file()
    except OSError as error:
        raise click.ClickException(f"{code} cannot be packed: {error}") from error
    return Packed(
        tarball=code, files=files, size=into.tell(), left_out=tuple(left_out), outside=tuple(outside)
    )


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without what differs from one machine to the next: people, umasks, split seconds."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = int(info.mtime)
    info.mode = 0o755 if info.mode & 0o100 else 0o644
    return info
