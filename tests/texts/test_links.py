"""Links of every page, beside code too, lead to files and headings that are there."""

import re
from pathlib import Path

import pytest

from tests.texts.source import ROOT

PAGES = [
    path
    for folder in ("docs", "shared", "infra", "tests", "functions", ".github")
    for path in sorted((ROOT / folder).rglob("*.md"))
    if "build" not in path.parts and path.name != "snapshot.md"
]


def headings(page: str) -> set[str]:
    """The anchors of a page, as GitHub names them."""
    plain = re.sub(r"(?ms)^```.*?^```$", "", page)
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
        for title in re.findall(r"(?m)^#+ (.+)$", plain)
    }


def broken(path: Path, page: str) -> list[str]:
    """Links to no file, or to no heading of a page; links to the web are not looked at."""
    plain = re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "", page)
    found = []
    for link in re.findall(r"\]\(([^)\s]+)\)", plain):
        name, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            found.append(link)
        elif anchor and target.suffix == ".md":
            text = page if target == path else target.read_text(encoding="utf-8")
            found += [link] if anchor not in headings(text) else []
    return found


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *PAGES], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_each_link_of_a_page_leads_somewhere(path: Path) -> None:
    """The site checks those within docs; a reader of a clone follows the others as well."""
    assert broken(path, path.read_text(encoding="utf-8")) == []


def test_a_link_that_leads_nowhere_is_found() -> None:
    """A file, a heading of another page, a heading of this one."""
    here = ROOT / "docs/run.md"
    page = "# Run\n[a](gone.md) [b](recovery.md#nothing) [c](#nothing) [d](#run) [e](https://x.example/)\n"
    assert broken(here, page) == ["gone.md", "recovery.md#nothing", "#nothing"]
