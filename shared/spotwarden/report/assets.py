"""What the report's pages load besides their HTML: a style sheet and three scripts, from beside this file.

Each is served under a name that has a digest of its content, so that browsers may keep it for ever:
changed content has another name.
"""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

import msgspec

FOLDER = Path(__file__).with_name("assets")
FILES: Mapping[str, str] = {
    "report.css": "text/css; charset=utf-8",
    "report.js": "text/javascript; charset=utf-8",
    "curves.js": "text/javascript; charset=utf-8",
    "uplot/uPlot.iife.min.js": "text/javascript; charset=utf-8",
}
"""What is served, by its path in the folder, with its content type; the rest of the folder is for people."""
KEPT = "public, max-age=31536000, immutable"
"""Their Cache-Control: a year, the longest that RFC 2616 wanted (section 14.21)."""


class Asset(msgspec.Struct, frozen=True, kw_only=True):
    """One file as it is served."""

    name: str
    kind: str
    body: bytes


@cache
def assets() -> Mapping[str, Asset]:
    """All of them, by the plain name of the file: `report.css`."""
    found = {}
    for path, kind in FILES.items():
        body = _licence(FOLDER / path) + (FOLDER / path).read_bytes()
        plain = path.rpartition("/")[2]
        stem, _, ending = plain.partition(".")
        name = f"{stem}.{sha256(body).hexdigest()[:16]}.{ending}"
        found[plain] = Asset(name=name, kind=kind, body=body)
    return MappingProxyType(found)


def _licence(file: Path) -> bytes:
    """The licence of what others wrote, which goes wherever it goes; b"" for what is ours."""
    licence = file.with_name("LICENSE")
    return b"/*\n" + licence.read_bytes() + b"*/\n" if licence.exists() else b""


@cache
def names() -> Mapping[str, str]:
    """The name under which each is served, by its plain name."""
    return MappingProxyType({plain: asset.name for plain, asset in assets().items()})


def served(name: str) -> Asset | None:
    """The file that is served under this name; None where there is none, or a newer one took its place."""
    return next((asset for asset in assets().values() if asset.name == name), None)
