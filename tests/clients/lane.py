"""The lane of clients that nobody here wrote: where it is asked for, and what each of them may see."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ASKED = os.environ.get("SPOTWARDEN_CLIENTS") == "all"
asked = pytest.mark.skipif(
    not ASKED, reason="installs a client of somebody else's; SPOTWARDEN_CLIENTS=all plays it"
)
"""The mark of every module that plays a client."""

KEPT = ("PATH", "LANG", "TMPDIR", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
LIMIT = 420.0
"""Seconds that one client may take."""


def program(name: str, package: str = "") -> str:
    """The path of a program that Debian has; without it the test is skipped, and says how to install it."""
    found = shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed: apt-get install {package or name}")
    return found


def play(
    words: Sequence[str | Path],
    cloud: Mapping[str, str],
    home: Path,
    *,
    more: Mapping[str, str] | None = None,
    limit: float = LIMIT,
) -> subprocess.CompletedProcess[str]:
    """Run a client in a home of its own, with the environment of `spotwarden local env` and little else."""
    own = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment = {**own, **cloud, "HOME": str(home), **(more or {})}
    return subprocess.run(
        [str(word) for word in words],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
