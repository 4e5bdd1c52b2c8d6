"""What a stored create script comes to."""

from collections.abc import Mapping

import msgspec

from spotwarden.model.attempt import Script
from spotwarden.model.request import Request


class StoredScript(msgspec.Struct, frozen=True, kw_only=True):
    """A create script as it stands in the bucket, with the files stored beside it by relative path."""

    name: str
    text: bytes
    generation: int
    files: Mapping[str, bytes] = {}


class Launch(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The request that launches the job's node in `place`, a zone."""

    node: str
    place: str
    request: Request
    script: Script


class NoLaunch(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Why the script cannot be re-run, for a person: file, line and reason."""

    reason: str
