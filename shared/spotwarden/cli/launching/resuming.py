"""Whether a spot job keeps anything over a preemption, as far as its words and its code tell."""

from collections.abc import Iterator
from pathlib import Path

from spotwarden.cli.launching.asked import LaunchRequest
from spotwarden.cli.launching.ignoring import walk

PLACES = (b"SPOTWARDEN_OUTPUT", b"gs://", b"/gcs/")
"""Whoever names one of them may keep a checkpoint there; nothing else outlives a VM that is deleted."""
FILE_AT_MOST = 1024 * 1024
"""Bytes: larger files are data."""
ALL_AT_MOST = 32 * 1024 * 1024
"""Bytes that are looked through; of more code nothing is said."""
LOST = (
    "warning: neither the command nor the code names $SPOTWARDEN_OUTPUT, so nothing outlives a preemption: "
    "each one pays for all work again.\n"
    "  Write checkpoints there and resume from them (docs/run.md), or use --on-demand"
)


def warning_of(asked: LaunchRequest, setup: str) -> str:
    """What to tell whoever launches a spot job that keeps nothing; "" where it does, or nobody can know.

    Code that is a tarball, in the image or in a container is not looked at.
    """
    if asked.on_demand or asked.container or asked.code is None or asked.code.is_file():
        return ""
    words = (*asked.command, setup, *asked.env.values())
    said = (word.encode() for word in words)
    if any(_is_named(text) for text in said):
        return ""
    looked = 0
    for text in _texts(asked.code):
        looked += len(text)
        if looked > ALL_AT_MOST or _is_named(text):
            return ""
    return LOST


def _is_named(text: bytes) -> bool:
    return any(place in text for place in PLACES)


def _texts(code: Path) -> Iterator[bytes]:
    """The files that are sent, but for large ones and links."""
    for found in walk(code):
        path = found.path
        if (
            not found.left_out
            and not path.is_symlink()
            and path.is_file()
            and path.stat().st_size <= FILE_AT_MOST
        ):
            yield path.read_bytes()
