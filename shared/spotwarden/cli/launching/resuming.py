"""Whether a spot job keeps anything over a preemption, as far as its words and its code tell."""

from collections.abc import Iterator
from pathlib import Path

from spotwarden.cli.launching.asked import LaunchRequest
from spotwarden.cli.launching.ignoring import walk
from spotwarden.model.launch import Launch

PLACES = (b"SPOTWARDEN_OUTPUT", b"gs://", b"/gcs/")
"""Whoever names one of them may keep a checkpoint there; nothing else outlives a VM that is deleted."""
FETCHES = (b"docker", b"podman", b"git ", b"curl ", b"wget ", b"http", b"/mnt/")
"""Who does that may get a program that nobody sees here, or keep its output there."""
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
    return "" if _any_names(asked.code) else LOST


def warning_of_script(launch: Launch, code: Path | None) -> str:
    """The same of a create script whose VMs get their program by metadata; "" where nobody can know.

    A VM that is only stopped keeps its disk.
    """
    body = launch.properties
    scheduling, metadata = body.get("scheduling", {}), body.get("metadata", {})
    items = {item.get("key"): str(item.get("value", "")) for item in metadata.get("items", ())}
    # With a command the startup script is the job kit, which names all of them.
    own = [text for key, text in items.items() if key.startswith("spotwarden-")]
    said = own if items.get("spotwarden-command") else [items.get("startup-script", "")]
    words = "\n".join(said).encode()
    kept = any(disk.get("source") and not disk.get("boot") for disk in body.get("disks", ()))
    if not launch.spot or scheduling.get("instanceTerminationAction") != "DELETE" or kept or not words:
        return ""
    if items.get("spotwarden-container") or any(word in words for word in FETCHES) or _is_named(words):
        return ""
    if code is not None and code.is_file():
        return ""
    return LOST if code is None or not _any_names(code) else ""


def _any_names(code: Path) -> bool:
    """Whether any file that is sent names a place; of more than it looks through, one may."""
    looked = 0
    for text in _texts(code):
        looked += len(text)
        if looked > ALL_AT_MOST or _is_named(text):
            return True
    return False


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
