"""Clients from their registries, each once, in a folder outside the tree that the next run takes up again.

What a client itself brings along is not pinned one by one: only what was published before `BEFORE` is taken.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

BEFORE = "2026-11-23T00:00:00Z"
LIMIT = 600.0


def cache() -> Path:
    """Where clients are installed: `SPOTWARDEN_CLIENTS_CACHE`, else below the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("SPOTWARDEN_CLIENTS_CACHE") or f"{home}/spotwarden-clients")


def venv(name: str, requirements: Sequence[str]) -> Path:
    """The folder of programs of a virtual environment with these packages: `venv(…) / "python"`."""

    def make(folder: Path) -> None:
        _run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
        pip = [sys.executable, "-m", "pip", "--python", str(folder), "install", "--quiet"]
        _run([*pip, "--uploaded-prior-to", BEFORE, *requirements])

    return _once(name, [sys.version, *requirements], make) / "bin"


def source(requirement: str) -> Path:
    """The unpacked source distribution of `name==version`, where the tests of a package may be."""

    def make(folder: Path) -> None:
        parts = folder / "parts"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        _run([*pip, "--dest", str(parts), requirement])
        [archive] = parts.iterdir()
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
        shutil.rmtree(parts)

    [unpacked] = (item for item in _once("source", [requirement], make).iterdir() if item.is_dir())
    return unpacked


def node(name: str, packages: Sequence[str]) -> Path:
    """A folder whose `node_modules` has these packages; a program of Node's that lies in it finds them."""

    def make(folder: Path) -> None:
        quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--loglevel=error"]
        _run(["npm", "install", "--prefix", str(folder), *quiet, "--before", BEFORE, *packages])

    return _once(name, packages, make)


def _once(name: str, key: Sequence[str], make: Callable[[Path], None]) -> Path:
    """The folder that `make` has filled for this key; who comes second waits for the first."""
    digest = hashlib.sha256("\n".join([BEFORE, *key]).encode()).hexdigest()[:12]
    folder = cache() / f"{name}-{digest}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".whole").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / ".whole").touch()
    return folder


def _run(words: Sequence[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
