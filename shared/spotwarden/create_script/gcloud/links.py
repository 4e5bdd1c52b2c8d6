"""Names of resources → the URLs that gcloud puts into a request.

A flag may name a resource by its bare name, by its path from `projects/` on, or by a full URL.
Anything else is taken for a bare name, slashes and all: that is what gcloud sends.
"""

import re
from functools import cache
from urllib.parse import unquote

from spotwarden.create_script.refusal import ScriptRefused

# Collection of the API → path of one of its resources; the last part is the bare name.
PATHS = {
    "acceleratorTypes": "projects/{project}/zones/{zone}/acceleratorTypes/{name}",
    "addresses": "projects/{project}/regions/{region}/addresses/{name}",
    "diskTypes": "projects/{project}/zones/{zone}/diskTypes/{name}",
    "disks": "projects/{project}/zones/{zone}/disks/{name}",
    "imageFamilyViews": "projects/{project}/zones/{zone}/imageFamilyViews/{name}",
    "images": "projects/{project}/global/images/{name}",
    "instanceGroupManagers": "projects/{project}/zones/{zone}/instanceGroupManagers/{name}",
    "instanceTemplates": "projects/{project}/global/instanceTemplates/{name}",
    "instances": "projects/{project}/zones/{zone}/instances/{name}",
    "instantSnapshots": "projects/{project}/zones/{zone}/instantSnapshots/{name}",
    "machineImages": "projects/{project}/global/machineImages/{name}",
    "machineTypes": "projects/{project}/zones/{zone}/machineTypes/{name}",
    "networks": "projects/{project}/global/networks/{name}",
    "projects": "projects/{name}",
    "regionDiskTypes": "projects/{project}/regions/{region}/diskTypes/{name}",
    "regionDisks": "projects/{project}/regions/{region}/disks/{name}",
    "regionInstanceTemplates": "projects/{project}/regions/{region}/instanceTemplates/{name}",
    "regionSnapshots": "projects/{project}/regions/{region}/snapshots/{name}",
    "resourcePolicies": "projects/{project}/regions/{region}/resourcePolicies/{name}",
    "snapshots": "projects/{project}/global/snapshots/{name}",
    "storagePools": "projects/{project}/zones/{zone}/storagePools/{name}",
    "subnetworks": "projects/{project}/regions/{region}/subnetworks/{name}",
    "zones": "projects/{project}/zones/{name}",
}
_VERSIONS = ("v1", "beta", "alpha")
_URL = re.compile(
    rf"""(?P<base>https?://(?: [^/]+/compute/(?P<version>{"|".join(_VERSIONS)})
    | compute\.[^/]+/(?P<short>{"|".join(_VERSIONS)}) )/)(?P<path>.+)""",
    re.VERBOSE | re.DOTALL,
)


class ResourceLink(str):
    """The URL of one resource, its path from `projects/` on, and the parts of that by name."""

    __slots__ = ("parts", "path")
    parts: dict[str, str]
    path: str

    @classmethod
    def make(cls, base: str, path: str, parts: dict[str, str]) -> "ResourceLink":
        """Fill the parts into the path."""
        filled = path.format_map(parts)
        link = cls(base + filled)
        link.parts, link.path = parts, filled
        return link


class ResourceLinks:
    """Builds the URLs of one command.

    A URL in a flag moves all names that are resolved behind it to the version that it names: gcloud
    registers that version for the rest of its run, and so do we.
    """

    def __init__(self, version: str) -> None:
        self._version = version

    def find(self, value: str, collection: str, **parts: str | None) -> ResourceLink:
        """Give the link of a resource; `parts` complete a bare name.

        Raises `ScriptRefused` (without a line) for an empty name, for a URL of something else, and for a
        path that is nearly one.
        """
        if not value:
            raise ScriptRefused(f"the name of the {_singular(collection)} is empty; write it")
        if value.startswith(("https://", "http://")):
            return self._by_url(value, collection)
        if value.startswith("gs://"):
            raise ScriptRefused(
                f"{value!r} is an object of Cloud Storage; name a {_singular(collection)} instead"
            )
        path, pattern, prefixes = _shape(collection)
        match = pattern.match(value)
        if match:
            return ResourceLink.make(self._base, path, match.groupdict())
        if all(prefix in value for prefix in prefixes):
            raise ScriptRefused(
                f"{value!r} looks like the path of a {_singular(collection)}; write it as {path}"
            )
        return self._by_name(value, collection, parts)

    @property
    def _base(self) -> str:
        return f"https://compute.googleapis.com/compute/{self._version}/"

    def _by_name(self, name: str, collection: str, parts: dict[str, str | None]) -> ResourceLink:
        known = {part: value for part, value in parts.items() if value} | {"name": name}
        missing = [part for part in re.findall(r"\{(\w+)\}", PATHS[collection]) if part not in known]
        if missing:
            raise ScriptRefused(f"{name!r} needs a {' and a '.join(missing)}, and the command names none")
        return ResourceLink.make(self._base, PATHS[collection], known)

    def _by_url(self, url: str, collection: str) -> ResourceLink:
        match = _URL.fullmatch(url)
        if not match:
            raise ScriptRefused(
                f"{url!r} is not a Compute Engine URL; write the name alone, or {PATHS[collection]}"
            )
        path, pattern, _ = _shape(collection)
        found = pattern.fullmatch(match["path"])
        if not found:
            raise ScriptRefused(
                f"{url!r} is not the URL of a {_singular(collection)}; its path must be {path}"
            )
        self._version = match["version"] or match["short"]
        return ResourceLink.make(
            match["base"], path, {part: unquote(value) for part, value in found.groupdict().items()}
        )


def path_of(url: str) -> str:
    """Give the path of a URL of the API from `projects/` on; raise `ScriptRefused` for any other URL."""
    match = _URL.fullmatch(url)
    if not match or not match["path"].startswith("projects/"):
        raise ScriptRefused(
            f"{url!r} is not a Compute Engine URL; write one, such as https://compute.googleapis.com/compute/v1/projects/…"
        )
    return unquote(match["path"])


@cache
def _shape(collection: str) -> tuple[str, re.Pattern[str], tuple[str, ...]]:
    path = PATHS[collection]
    pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path.removesuffix("{name}")) + r"(?P<name>.*)"
    prefixes = tuple(part + "/" for part in path.split("/")[::2])
    return path, re.compile(pattern), prefixes


def _singular(collection: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", collection).lower()
    return (
        words[:-3] + "y"
        if words.endswith("policies")
        else words.removesuffix("es" if words.endswith("sses") else "s")
    )


def region_of(zone: str) -> str:
    """Give the region of a zone, by its name."""
    return zone.rsplit("-", 1)[0]
