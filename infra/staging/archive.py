"""A folder as an archive whose bytes depend on nothing but names and content, and the folder compiled."""

import hashlib
import marshal
import sys
import zipfile
from functools import cache
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can say."""
WORKSPACE = "/workspace"
"""Where Google's builder puts a function's source; tracebacks name it."""
UNCHECKED = (1).to_bytes(4, "little")
"""The flags of a compiled file that holds without a look at its source (PEP 552)."""


def pack(folder: Path, file: Path) -> str:
    """Write the archive of a folder's sources and give its SHA-256.

    Nothing is compressed, for compressors differ between machines, and nothing compiled goes in, for that
    differs between Pythons: the same sources are the same bytes everywhere.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for path in sources(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), EPOCH)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, path.read_bytes())
    return hashlib.sha256(file.read_bytes()).hexdigest()


def sources(folder: Path) -> list[Path]:
    """The files of a folder, but for what Python has made of them."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")


def compile_all(folder: Path) -> None:
    """Compile a folder so that no file's time matters.

    Raises:
        SystemExit: a file does not compile.
    """
    for source in folder.rglob("*.py"):
        target = Path(cache_from_source(str(source)))
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(_compiled(source.read_bytes(), source.relative_to(folder).as_posix()))


@cache
def _compiled(source: bytes, name: str) -> bytes:
    """What Python makes of a source; most functions share most of theirs."""
    try:
        code = compile(source, f"{WORKSPACE}/{name}", "exec", dont_inherit=True)
    except SyntaxError as error:
        sys.exit(f"{name} does not compile: {error}")
    return MAGIC_NUMBER + UNCHECKED + source_hash(source) + marshal.dumps(code)
