"""What every page of the report has around it, and how its links are written.

All links are relative: the same page works at the root of a host, below a path, as behind
`cloudfunctions.net/<function>/`, and as a file beside others in the copy that needs no server.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from urllib.parse import quote, urlencode

import msgspec

from spotwarden.report.views.safe import safe_url

NAV = (("index", "Experiments"), ("fleet", "Fleet"), ("trust", "Audit"))


class PageFrame(msgspec.Struct, frozen=True, kw_only=True):
    """Where a page stands, and what its figures are from.

    `page` is its name, as links to it have it. `updated` is the moment of the look that its figures are from;
    with `part` that look had not come to the end of all there is.
    `zone` is the IANA name of the time zone in which moments are shown, `home` that of the policy, in which
    days are counted. `depth` is how many folders down the page is; `static` that it is part of the copy
    without a server. `assets` are the names under which files are served, by their plain names. `bucket` is
    where records of the audit are.
    """

    updated: datetime | None = None
    part: bool = False
    zone: str = "UTC"
    home: str = "UTC"
    depth: int = 0
    static: bool = False
    assets: Mapping[str, str] = {}
    page: str = "index"
    project: str = ""
    bucket: str = ""

    @property
    def root(self) -> str:
        """The way to the first page."""
        return "../" * self.depth or "./"

    @property
    def here(self) -> str:
        """The way to this page itself, with nothing asked of it."""
        return f"{self.root}{'' if self.page == 'index' else self.page}"

    @property
    def copied(self) -> tuple[str, ...]:
        """Pages of which the copy without a server has the figures, too."""
        return ("index", "fleet")

    @property
    def nav(self) -> tuple[tuple[str, str, bool], ...]:
        """Each page of the head: where it is, its name, whether one is there."""
        return tuple((self.to(page), name, page == self.page) for page, name in NAV)

    @property
    def zones(self) -> tuple[str, ...]:
        """The time zones to choose from without a script."""
        return tuple(dict.fromkeys((self.zone, "UTC", self.home)))

    def asset(self, plain: str) -> str:
        """Where a file is served."""
        return f"{self.root}assets/{quote(self.assets.get(plain, plain))}"

    def to(self, page: str, asked: Iterable[tuple[str, str]] = ()) -> str:
        """The link to a page with what is asked of it; the time zone comes along."""
        if self.static:
            return f"{self.root}{page}.html"
        zone = [("tz", self.zone)] if self.zone != self.home else []
        query = urlencode([*asked, *zone])
        return f"{self.root}{'' if page == 'index' else page}{f'?{query}' if query else ''}"

    def figures(self, page: str, kind: str, asked: Iterable[tuple[str, str]] = ()) -> str:
        """The link to a page's figures, as `json` or `csv`."""
        return f"{self.root}{page}.{kind}" if self.static else self.to(f"{page}.{kind}", asked)

    def job(self, job: str) -> str:
        """The link to a job's page."""
        return self.to(f"jobs/{quote(job, safe='')}")

    def at(self, page: str, depth: int = 0) -> "PageFrame":
        """The frame of another page."""
        return msgspec.structs.replace(self, page=page, depth=depth)

    def cloud(self, url: str) -> str:
        """A link that leads elsewhere, if it is one to follow; "" for any other."""
        return safe_url(url)
