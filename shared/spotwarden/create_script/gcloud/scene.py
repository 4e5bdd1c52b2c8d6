"""What the rooms that build a request share: the flags, the place, the files, the links."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from spotwarden.create_script.gcloud import files
from spotwarden.create_script.gcloud.argv import Args
from spotwarden.create_script.gcloud.letters import BULK, TEMPLATE
from spotwarden.create_script.gcloud.links import ResourceLink, ResourceLinks, region_of
from spotwarden.create_script.gcloud.values import Misfit, Raw
from spotwarden.create_script.refusal import ScriptRefused


class GcloudScene(msgspec.Struct, frozen=True, kw_only=True):
    """One create command on its way to a request.

    `home` is the project of the configuration, `project` that of the machines; they differ when a
    machine is named by its URL. `place` is the zone, or the region if `regional`.
    """

    args: Args
    command: str
    track: str
    version: int
    links: ResourceLinks
    files: Mapping[str, bytes]
    home: str
    project: str
    place: str
    regional: bool = False

    @property
    def region(self) -> str:
        """The region of the place."""
        return self.place if self.regional else region_of(self.place)

    @property
    def bare(self) -> bool:
        """Whether most types go out as bare names: for no VM in particular, as of `bulk create`."""
        return self.command in {BULK, TEMPLATE}

    @property
    def from_template(self) -> bool:
        """Whether the API fills in what is not named, so that gcloud's own defaults stay out."""
        return self.args.given("source-instance-template", "source-machine-image")

    def at(self, project: str, place: str, *, regional: bool = False) -> "GcloudScene":
        """Give the scene in a project and a place."""
        return msgspec.structs.replace(self, project=project, place=place, regional=regional)

    def link(self, flag: str, value: str, collection: str, **parts: str | None) -> ResourceLink:
        """Give the link of what a flag names; a refusal names the flag and its line."""
        with self.blame(flag):
            return self.links.find(value, collection, **parts)

    def zonal(self, flag: str, value: str, collection: str) -> ResourceLink:
        """Give the link of what a flag names in the zone of the machine."""
        return self.link(flag, value, collection, project=self.project, zone=self.place)

    @contextmanager
    def blame(self, flag: str) -> Iterator[None]:
        """Name this flag in whatever is refused inside."""
        try:
            yield
        except Misfit as error:
            raise self.args.refusal(flag, str(error)) from None
        except ScriptRefused as refused:
            if refused.line:
                raise
            raise self.args.refusal(flag, refused.reason) from None

    def text(self, flag: str, path: str) -> str:
        """Give a file that a flag names as text; a refusal names the flag and its line."""
        with self.blame(flag):
            return files.text(self.files, path)

    def parsed_text(self, flag: str, path: str) -> str:
        """Give a file of YAML or JSON that a flag names as text; a refusal names the flag and its line."""
        with self.blame(flag):
            return files.parsed_text(self.files, path)


def compact(**fields: Raw) -> dict[str, Any]:
    """Make a JSON object of the fields that have a value; lists and objects may be empty."""
    return {name: value for name, value in fields.items() if value is not None}
