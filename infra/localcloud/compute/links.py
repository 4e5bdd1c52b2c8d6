"""The URLs of resources: how they are written in answers, and the ways in which a request may name one."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from localcloud.compute.refusals import invalid_field

_HOST = re.compile(r"https?://[^/]+/(?:compute/)?(?:v1|beta|alpha)/|//compute\.googleapis\.com/")
_PATH = re.compile(
    r"(?:projects/(?P<project>[^/]+)/)?(?:(?P<scope>global|(?:zones|regions)/[^/]+)/)?"
    r"(?P<collection>[a-zA-Z]+(?:/family)?)/(?P<name>[^/]+)"
)
_NAME = re.compile(r"[^/]+")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A resource that a request names. `scope` is `global`, `zones/Z` or `regions/R`; "" where unsaid."""

    project: str
    scope: str
    collection: str
    name: str

    @property
    def path(self) -> str:
        """`projects/P/…`, the form in which error messages name a resource."""
        return f"projects/{self.project}/{self.scope}/{self.collection}/{self.name}"


@lru_cache(maxsize=2048)
def _joined(root: str, project: str, path: str) -> str:
    """Kept, so that a thousand instances share the URLs of their zone, machine type and network."""
    return f"{root}projects/{project}/{path}"


@dataclass(frozen=True, kw_only=True)
class Links:
    """Writes and reads URLs of one project. `base_url` gives the URL of the HTTP port."""

    base_url: Callable[[], str]
    project: str

    @property
    def root(self) -> str:
        """Where everything begins."""
        return f"{self.base_url()}/compute/v1/"

    def link(self, path: str, *, project: str | None = None) -> str:
        """The URL of `zones/Z/instances/N` and the like."""
        return _joined(self.root, project or self.project, path)

    def read(self, text: str, *, field: str, collection: str, scope: str) -> Reference:
        """Read a full URL, a partial one or a bare name; what it leaves out is this project and `scope`.

        Raises:
            ApiError: 400 when it is none of these, or of another collection.
        """
        rest = unquote(_HOST.sub("", text, count=1))
        if _NAME.fullmatch(rest):
            return Reference(project=self.project, scope=scope, collection=collection, name=rest)
        match = _PATH.fullmatch(rest)
        if match is None or match["collection"].partition("/")[0] != collection:
            raise invalid_field(field, text, "The URL is malformed.")
        return Reference(
            project=match["project"] or self.project,
            scope=match["scope"] or scope,
            collection=match["collection"],
            name=match["name"],
        )


def last(url: str) -> str:
    """The name at the end of a URL."""
    return url.rpartition("/")[2]


def region_of(zone: str) -> str:
    """The region that a zone's name tells."""
    return zone.rpartition("-")[0]
