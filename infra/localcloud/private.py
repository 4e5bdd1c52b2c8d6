"""What the local cloud keeps on disk is for its user alone."""

import os
from pathlib import Path

FOLDERS = ("storage", "vms", "logs", "home")
FILES = ("signing-keys", "ahead")
OTHERS = 0o077


def keep_private() -> int:
    """Let this process make files and folders for its user alone; gives the umask that there was before."""
    return os.umask(OTHERS)


def tighten(state: Path) -> None:
    """Take from others what an earlier local cloud left open to them below a state folder.

    The folder itself stays as whoever named it made it: it may hold other things as well.
    """
    for name in (*FOLDERS, *FILES):
        path = state / name
        if path.exists():
            path.chmod(path.stat().st_mode & ~OTHERS)
