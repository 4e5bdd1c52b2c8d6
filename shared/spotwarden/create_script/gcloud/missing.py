"""Flags, words and keys that the gcloud whose commands are read does not take, and others do."""

import re

from msgspec.structs import replace

from spotwarden.create_script.gcloud.letters import full_name
from spotwarden.create_script.gcloud.surface import Presence, SurfaceFlag, Taker, surface
from spotwarden.create_script.gcloud.values import Misfit, Raw, Reader
from spotwarden.create_script.gcloud.versions import newer
from spotwarden.model.gcloud import NEWEST, VERSIONS

_LATER_TRACKS = {"v1": ("beta", "alpha"), "beta": ("alpha",), "alpha": ()}
# Fields in there are keys of a flag, and no flags.
_PARTS = ("disks.", "networkInterfaces.")


def missing_flag(word: str, taker: Taker) -> str | None:
    """Say which gcloud has this flag, or that one must come to have it; None if it may be misspelt."""
    name = word.removeprefix("--")
    known = surface().flags.get(name) or surface().flags.get(name.removeprefix("no-"))
    if known:
        return _elsewhere(f"--{name}", known.where, taker)
    for path, version in surface().fields.items():
        if _dashed(path) == name and not path.startswith(_PARTS):
            first = version if version and version > taker.version else NEWEST + 1
            return newer(f"--{name} sets {path} of Compute Engine", first, taker.version)
    return None


def _dashed(path: str) -> str:
    leaf = path.rsplit(".", 1)[-1]
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", leaf).lower()


def _elsewhere(what: str, where: Presence, taker: Taker) -> str | None:
    for version in VERSIONS:
        if version > taker.version and where.has(replace(taker, version=version)):
            return newer(what, version, taker.version)
    for track in _LATER_TRACKS[taker.track]:
        if where.has(replace(taker, track=track)):
            return (
                f"{what}: only gcloud {track} has it; write gcloud {track} compute {full_name(taker.command)}"
            )
    return None


def dated(read: Reader, flag: SurfaceFlag, taker: Taker) -> Reader:
    """Read as `read` does; a refused word or key that another gcloud takes is refused with its version."""
    hints = {
        name: hint
        for name, where in {**flag.choices, **flag.keys}.items()
        if not where.has(taker) and (hint := _elsewhere(name, where, taker))
    }
    if not hints:
        return read

    def read_dated(value: Raw) -> Raw:
        try:
            return read(value)
        except Misfit:
            said = {_folded(word) for word in re.split(r"[,=^]", value)} if isinstance(value, str) else set()
            for name, hint in hints.items():
                if _folded(name) in said:
                    raise Misfit(hint) from None
            raise

    return read_dated


def _folded(word: str) -> str:
    return word.replace("_", "-").lower()
