"""Copying and moving files and objects: `cp` and `mv`.

Where things land follows what gcloud storage was seen to do: below a folder that exists under their own
names, and in one that does not exist without them.
"""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from localcloud.standins import gs
from localcloud.standins.bucket import PRECONDITION_FAILED, Storage
from localcloud.standins.gs import Address
from localcloud.standins.sources import STDIO, Place, Source
from localcloud.standins.transport import CloudError

UNFINISHED = "_.gstmp"
"""What gsutil adds to the name of a file that it is still downloading."""


class BadTarget(Exception):
    """The things to copy cannot go where they should."""


class Copy(NamedTuple):
    """One file or object and where to."""

    place: Place
    target: Place


class How(NamedTuple):
    """`keep` leaves alone what exists, `kind` is a content type, `say` tells what is being done.

    Where `generation` is given an object is written over this one of it alone, "0" for none. `custom` is
    the metadata that an uploaded object gets.
    """

    keep: bool
    kind: str
    say: Callable[[str], None]
    generation: str = ""
    custom: Mapping[str, str] | None = None

    @property
    def over(self) -> str:
        """The generation that an object has to have to be written over; "" for any."""
        return "0" if self.keep else self.generation


def plan(storage: Storage, sources: Sequence[Source], target: str) -> list[Copy]:
    """Decide where each file or object goes; raises `BadTarget`."""
    if target == STDIO:
        return [Copy(item.place, STDIO) for source in sources for item in source.items]
    if gs.is_remote(target):
        return _plan_remote(storage, sources, gs.parse(target))
    return _plan_local(sources, target)


def _plan_remote(storage: Storage, sources: Sequence[Source], target: Address) -> list[Copy]:
    if target.is_wild:
        raise BadTarget(f"Destination ({target}) must match exactly one URL.")
    inside = target.is_folder or len(sources) > 1 or storage.is_folder(target)
    copies = []
    for source in sources:
        root = target.below(source.base) if inside and source.base else target
        if root.is_folder and not source.is_folder:
            raise BadTarget(f"Standard input needs the full name of an object, not the folder {target}.")
        copies += [
            Copy(item.place, root.below(item.relative) if source.is_folder else root) for item in source.items
        ]
    return copies


def _plan_local(sources: Sequence[Source], target: str) -> list[Copy]:
    exists = os.path.isdir(target)
    several = len(sources) > 1 or any(source.is_folder for source in sources)
    if not exists and (several or target.endswith("/")):
        raise BadTarget(f"Destination URL must name an existing directory. Provided: {target}.")
    copies = []
    for source in sources:
        root = os.path.join(target, source.base) if exists else target
        copies += [
            Copy(item.place, _inside(root, item.relative) if source.is_folder else root)
            for item in source.items
        ]
    return copies


def _inside(root: str, relative: str) -> str:
    """A path below a folder; an object called `../x` must not get out of it."""
    path = os.path.normpath(os.path.join(root, relative))
    if os.path.commonpath([os.path.abspath(root), os.path.abspath(path)]) != os.path.abspath(root):
        raise BadTarget(f"The object's name {relative!r} leads out of {root}.")
    return path


def execute(storage: Storage, copies: Sequence[Copy], how: How) -> None:
    """Do the copies one after the other; raises `CloudError` or `OSError` at the first that fails."""
    for copy in copies:
        how.say(f"Copying {show(copy.place)} to {show(copy.target)}")
        if not _copy(storage, copy, how):
            how.say(f"Skipping existing destination item (no-clobber): {show(copy.target)}")


def show(place: Place) -> str:
    """A place as messages name it."""
    return str(place) if isinstance(place, Address) else f"file://{place}"


def _copy(storage: Storage, copy: Copy, how: How) -> bool:
    """Whether it was copied: with `keep`, what exists already is not."""
    try:
        match copy:
            case Copy(Address() as source, Address() as target):
                storage.copy(source, target, generation=how.over)
            case Copy(str() as path, Address() as target):
                _upload(storage, path, target, how)
            case Copy(Address() as source, str() as path):
                return _download(storage, source, path, how)
            case Copy(str() as source, str() as target):
                shutil.copyfile(source, target)
    except CloudError as error:
        if how.keep and error.status == PRECONDITION_FAILED:
            return False
        raise
    return True


def _upload(storage: Storage, path: str, target: Address, how: How) -> None:
    if path == STDIO:
        storage.write(target, sys.stdin.buffer, kind=how.kind, generation=how.over, custom=how.custom)
    else:
        with open(path, "rb") as content:
            storage.write(target, content, kind=how.kind, generation=how.over, custom=how.custom)


def _download(storage: Storage, source: Address, path: str, how: How) -> bool:
    if path == STDIO:
        storage.read(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return True
    if how.keep and os.path.exists(path):
        return False
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + UNFINISHED, "wb") as content:
        storage.read(source, content)
    os.replace(path + UNFINISHED, path)
    return True
