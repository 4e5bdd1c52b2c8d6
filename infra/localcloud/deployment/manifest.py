"""`infra/functions.yaml`, read and checked."""

from collections.abc import Mapping
from enum import Enum
from pathlib import Path

import msgspec
import yaml


class ManifestError(Exception):
    """The file cannot be read as a manifest: says which file, where in it, and what is wrong."""


class Retry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How soon and how late an event comes again, in seconds."""

    minimum_seconds: float
    maximum_seconds: float


class Http(Enum):
    """Who may call a function that answers requests."""

    PUBLIC = "public"
    PRIVATE = "private"


class Function(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row; the file itself says what each field means."""

    name: str
    does: str
    memory: str
    timeout_seconds: int
    retry: Retry
    permissions: tuple[str, ...]
    bucket_permissions: tuple[str, ...] = ()
    bucket_writes: tuple[str, ...] = ("spotwarden/",)
    schedule: str = ""
    bucket_events: Mapping[str, str] = {}
    log_events: str = ""
    listens_to: tuple[str, ...] = ()
    wakes_itself: bool = False
    http: Http | None = None
    secrets: tuple[str, ...] = ()

    @property
    def deployed_name(self) -> str:
        """The name of the service, its topic and its Scheduler job."""
        return self.name.replace("_", "-")

    @property
    def topic(self) -> str:
        """The topic whose messages wake it, without the project."""
        return f"spotwarden-{self.deployed_name}"

    @property
    def signature(self) -> str:
        """How functions-framework calls it."""
        return "http" if self.http else "cloudevent"

    @property
    def is_woken(self) -> bool:
        """Whether it has a topic of its own; one that answers requests has none, but for its ticks."""
        return bool(self.http is None or self.schedule)


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file; `folder` is where it stands."""

    functions: tuple[Function, ...]
    topics: Mapping[str, str]
    folder: Path = Path()


def read_manifest(file: Path) -> Manifest:
    """Read the manifest; `ManifestError` says what is wrong with it."""
    try:
        manifest = msgspec.convert(yaml.safe_load(file.read_text(encoding="utf-8")), Manifest)
    except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise ManifestError(f"{file}: {error}") from error
    for function in manifest.functions:
        if problem := _problem(function, manifest.topics):
            raise ManifestError(f"{file}: {function.name}: {problem}")
    return msgspec.structs.replace(manifest, folder=file.parent)


def _problem(function: Function, topics: Mapping[str, str]) -> str:
    if unknown := [topic for topic in function.listens_to if topic not in topics]:
        return f"listens_to names {', '.join(unknown)}, and `topics` has {', '.join(topics) or 'none'}"
    if function.http and (function.bucket_events or function.log_events or function.listens_to):
        return "with `http` it answers requests, and takes no events"
    return ""
