"""Files of this machine → the bucket: only what is not there yet, several at a time."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import msgspec

from spotwarden.cli.bars import amount, bar
from spotwarden.cli.launching.inputs import LaunchInput, name_of
from spotwarden.cli.launching.package import Packed
from spotwarden.layout import Layout
from spotwarden.ports import HeldObject, Transfers

AT_ONCE = 8
"""Files on their way at a time; each holds one piece of `gcp.transfers` in memory."""


class Synced(msgspec.Struct, frozen=True, kw_only=True):
    """What it came to: files in all, those that were sent with their bytes, objects that no file has now."""

    files: int
    sent: int
    size: int
    stale: tuple[HeldObject, ...]


def send_code(files: Transfers, packed: Packed, name: str) -> str:
    """Store the tarball, unless its very bytes are there; gives its checksum as the bucket has it."""
    held = _held(files, name)
    if held is not None and files.same(packed.tarball, held):
        click.echo(f"code: unchanged, {amount(held.size)} not sent again", err=True)
        return held.crc32c
    with bar("sending code", packed.tarball.stat().st_size) as moved:
        files.upload(packed.tarball, name, moved=moved)
    held = _held(files, name)
    return held.crc32c if held else ""


def _held(files: Transfers, name: str) -> HeldObject | None:
    return next((held for held in files.held(name) if held.name == name), None)


def send_input(files: Transfers, job: str, launch_input: LaunchInput, layout: Layout) -> Synced:
    """Make the objects of a local input what the file or folder is now: what changed is sent."""
    wanted = _wanted(job, launch_input, layout)
    held = {there.name: there for there in files.held(name_of(job, launch_input, "", layout))}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        names = list(wanted)
        same = pool.map(lambda name: name in held and files.same(wanted[name], held[name]), names)
        changed = [name for name, is_same in zip(names, same, strict=True) if not is_same]
    size = sum(wanted[name].stat().st_size for name in changed)
    if changed:
        _upload(files, {name: wanted[name] for name in changed}, f"sending {launch_input.name}", size)
    below = name_of(job, launch_input, "", layout)
    ours = [there for name, there in held.items() if name == below or name.startswith(f"{below}/")]
    stale = tuple(there for there in ours if there.name not in wanted)
    return Synced(files=len(wanted), sent=len(changed), size=size, stale=stale)


def _wanted(job: str, launch_input: LaunchInput, layout: Layout) -> Mapping[str, Path]:
    """Every file by its object's name; links to files count as files, links to folders are not followed."""
    local = launch_input.local
    if local is None:
        return {}
    if local.is_file():
        return {name_of(job, launch_input, "", layout): local}
    found = (path for path in sorted(local.rglob("*")) if path.is_file())
    return {name_of(job, launch_input, path.relative_to(local).as_posix(), layout): path for path in found}


def _upload(files: Transfers, wanted: Mapping[str, Path], label: str, size: int) -> None:
    """Send them all; the first failure ends it, and what has arrived need not be sent again."""
    with bar(label, size) as moved:
        pool = ThreadPoolExecutor(AT_ONCE)
        waiting = [pool.submit(files.upload, file, name, moved=moved) for name, file in wanted.items()]
        try:
            for transfer in waiting:
                transfer.result()
        finally:
            # Nothing is waited for: all are done, or the bar cuts short those that still run.
            pool.shutdown(wait=False, cancel_futures=True)
