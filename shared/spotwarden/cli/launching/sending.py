"""Files of this machine → what a launch brings: only what the job has not got yet."""

from collections.abc import Mapping
from pathlib import Path

import click
import msgspec

from spotwarden.cli.bars import amount
from spotwarden.cli.launching.inputs import LaunchInput, name_of
from spotwarden.cli.launching.package import Packed
from spotwarden.cli.launching.staging import Staging
from spotwarden.layout import Layout
from spotwarden.ports import HeldObject


class Synced(msgspec.Struct, frozen=True, kw_only=True):
    """What it came to: files in all, those that differ with their bytes, objects that no file has now."""

    files: int
    sent: int
    size: int
    stale: tuple[HeldObject, ...]


def send_code(stage: Staging, packed: Packed, name: str) -> str:
    """Send the tarball, unless the job has its very bytes; gives its checksum as the bucket has it."""
    held = stage.held(name).get(name)
    if not stage.add({name: packed.tarball}, {name: held} if held else {}, "sending code").names and held:
        click.echo(f"code: unchanged, {amount(held.size)} not sent again", err=True)
    return stage.checksum(name, held)


def send_input(stage: Staging, job: str, launch_input: LaunchInput, layout: Layout) -> Synced:
    """Make the objects of a local input what the file or folder is now: what changed is sent."""
    wanted = _wanted(job, launch_input, layout)
    below = name_of(job, launch_input, "", layout)
    held = stage.held(below)
    sent = stage.add(wanted, held, f"sending {launch_input.name}")
    ours = [there for name, there in held.items() if name == below or name.startswith(f"{below}/")]
    stale = tuple(there for there in ours if there.name not in wanted)
    for there in stale:
        stage.outdate(there)
    return Synced(files=len(wanted), sent=len(sent.names), size=sent.size, stale=stale)


def _wanted(job: str, launch_input: LaunchInput, layout: Layout) -> Mapping[str, Path]:
    """Every file by its object's name; links to files count as files, links to folders are not followed."""
    local = launch_input.local
    if local is None:
        return {}
    if local.is_file():
        return {name_of(job, launch_input, "", layout): local}
    found = (path for path in sorted(local.rglob("*")) if path.is_file())
    return {name_of(job, launch_input, path.relative_to(local).as_posix(), layout): path for path in found}
