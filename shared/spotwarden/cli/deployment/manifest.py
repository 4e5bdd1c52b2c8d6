"""`infra/functions.yaml`, as far as a command needs it: what is to be there."""

from collections.abc import Mapping
from pathlib import Path

import click
import msgspec
import yaml

from spotwarden import typed

MANIFEST = Path(__file__).resolve().parents[4] / "infra" / "functions.yaml"


class DeployedFunction(msgspec.Struct, frozen=True, kw_only=True):
    """One row; the file says what each field means."""

    name: str
    permissions: tuple[str, ...] = ()
    schedule: str = ""
    bucket_events: Mapping[str, str] = {}
    log_events: str = ""
    listens_to: tuple[str, ...] = ()
    wakes_itself: bool = False
    http: str = ""
    secrets: tuple[str, ...] = ()

    @property
    def deployed_name(self) -> str:
        """The name of its service."""
        return self.name.replace("_", "-")

    @property
    def topic(self) -> str:
        """The name of its topic, its subscription, its sink and its Scheduler job."""
        return f"spotwarden-{self.deployed_name}"

    @property
    def is_woken(self) -> bool:
        """Whether it has a topic of its own."""
        return bool(not self.http or self.schedule)


class DeploymentManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    functions: tuple[DeployedFunction, ...]
    topics: Mapping[str, str]


typed.prepare(DeploymentManifest)


def read_manifest(file: Path) -> DeploymentManifest:
    """Read it; a `ClickException` says why not."""
    try:
        return typed.convert(yaml.safe_load(file.read_text(encoding="utf-8")), DeploymentManifest)
    except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise click.ClickException(f"{file}: {error}; name the manifest with --manifest") from error
