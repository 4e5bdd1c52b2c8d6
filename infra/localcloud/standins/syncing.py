"""Making one folder like another: `rsync`.

Files and objects of the same size are compared by their MD5, never by their times: slower for large ones than
the real command, and never wrong.
"""

import base64
import hashlib
import os
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from localcloud.standins import copying, gs
from localcloud.standins.bucket import CHUNK, Storage, Stored
from localcloud.standins.copying import Copy, How
from localcloud.standins.gs import Address
from localcloud.standins.sources import Place, files_below


class SyncRules(NamedTuple):
    """`delete` removes what the source does not have; `exclude` is a pattern of names to leave alone."""

    recursive: bool
    delete: bool
    exclude: re.Pattern[str] | None
    dry_run: bool


class Side:
    """A folder and what is in it; `names` maps each file's or object's name, seen from the folder."""

    def __init__(self, storage: Storage, text: str) -> None:
        self._storage = storage
        self.remote = gs.parse(text) if gs.is_remote(text) else None
        self.text = text

    def names(self, rules: SyncRules) -> dict[str, Place]:
        """Everything that the rules are about."""
        found = self._remote(self.remote) if self.remote else self._local()
        return {name: place for name, place in found if _is_meant(name, rules)}

    def place(self, name: str) -> Place:
        """Where a name is, or would be."""
        return self.remote.below(name) if self.remote else os.path.join(self.text, name)

    def exists(self) -> bool:
        """Whether there is such a folder; every name in a bucket is one."""
        return bool(self.remote) or os.path.isdir(self.text)

    def _remote(self, address: Address) -> Iterable[tuple[str, Place]]:
        inside = address if address.is_folder else Address(address.bucket, f"{address.name}/")
        for stored in self._storage.below(inside):
            if not stored.address.name.endswith("/"):
                yield stored.address.name.removeprefix(inside.name), stored.address

    def _local(self) -> Iterable[tuple[str, Place]]:
        for name in files_below(self.text):
            yield name, os.path.join(self.text, name)


def _is_meant(name: str, rules: SyncRules) -> bool:
    if "/" in name and not rules.recursive:
        return False
    return not (rules.exclude and rules.exclude.match(name))


def sync(storage: Storage, source: Side, target: Side, rules: SyncRules, say: Callable[[str], None]) -> None:
    """Copy what is missing or different, delete what is too much if told so."""
    here, there = source.names(rules), target.names(rules)
    copies = [
        Copy(place, target.place(name))
        for name, place in here.items()
        if name not in there or _differ(storage, place, there[name])
    ]
    extra = [place for name, place in there.items() if name not in here] if rules.delete else []
    if rules.dry_run:
        for copy in copies:
            say(f"Would copy {copying.show(copy.place)} to {copying.show(copy.target)}")
        for place in extra:
            say(f"Would remove {copying.show(place)}")
        return
    copying.execute(storage, copies, How(keep=False, kind="", say=say))
    for place in extra:
        say(f"Removing {copying.show(place)}...")
        remove(storage, place)


def remove(storage: Storage, place: Place) -> None:
    """Delete a file or an object."""
    if isinstance(place, Address):
        storage.delete(place)
    else:
        os.remove(place)


def _differ(storage: Storage, place: Place, other: Place) -> bool:
    if _size(storage, place) != _size(storage, other):
        return True
    return _digest(storage, place) != _digest(storage, other)


def _size(storage: Storage, place: Place) -> int:
    return _stored(storage, place).size if isinstance(place, Address) else os.path.getsize(place)


def _digest(storage: Storage, place: Place) -> str:
    if isinstance(place, Address):
        # A composed object has no MD5: what it has makes it differ from every file, so it is copied.
        resource = _stored(storage, place).resource
        return str(resource.get("md5Hash") or f"crc32c {resource.get('crc32c')}")
    digest = hashlib.md5(usedforsecurity=False)
    with open(place, "rb") as content:
        while chunk := content.read(CHUNK):
            digest.update(chunk)
    return base64.b64encode(digest.digest()).decode()


def _stored(storage: Storage, address: Address) -> Stored:
    stored = storage.stat(address)
    if stored is None:
        raise FileNotFoundError(f"{address} went away while it was compared")
    return stored
