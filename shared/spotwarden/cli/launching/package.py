"""The job's code as one tarball, and the local files that its create script names."""

import io
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

SKIPPED = {".git", "__pycache__", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache", "node_modules"}
"""Folders that are never a job's code."""
FILE_AT_MOST = 256 * 1024
"""Bytes: Compute Engine takes no metadata value that is longer (Google: "About VM metadata")."""


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


def pack(code: Path) -> bytes:
    """The tarball of a folder's content, or the one that was given; the same input gives the same bytes."""
    if code.is_file():
        if not tarfile.is_tarfile(code):
            raise click.ClickException(f"{code} is neither a folder nor a tarball")
        return code.read_bytes()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for file in _files(code):
            tar.add(file, arcname=str(file.relative_to(code)), recursive=False, filter=_plain)
    return buffer.getvalue()


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in SKIPPED:
            continue
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without the developer's name and numbers, which mean nothing on the VM."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info
