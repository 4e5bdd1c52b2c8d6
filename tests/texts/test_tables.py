"""Tables of pages are shown as tables: each row below a head, none cut off by an empty line."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.texts.source import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / ".github").glob("*.md"))]


def tables(page: str) -> Iterator[list[str]]:
    """The rows of each table, outside of blocks of code."""
    rows: list[str] = []
    for line in [*re.sub(r"(?ms)^```.*?^```$", "", page).splitlines(), ""]:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            yield rows
            rows = []


def wrong(page: str) -> list[str]:
    """The first row of each table without a head, and each row with more or fewer cells than its head."""
    found = []
    for rows in tables(page):
        if len(rows) < 3 or not re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", rows[1]):
            found.append(rows[0])
            continue
        found += [row for row in rows[2:] if cells(row) != cells(rows[0])]
    return found


def cells(row: str) -> int:
    """How many cells a row has; a bar in a span of code is written with a backslash before it."""
    return row.rstrip().removesuffix("|").replace("\\|", "").count("|")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_each_table_of_a_page_is_whole(path: Path) -> None:
    """GitHub and the site show anything else as text with bars."""
    assert wrong(path.read_text(encoding="utf-8")) == []


def test_a_row_that_an_empty_line_cuts_off_is_found() -> None:
    """And one that lacks a cell."""
    whole = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert wrong(whole) == []
    assert wrong(f"{whole}\n| 3 | 4 |\n") == ["| 3 | 4 |"]
    assert wrong(f"{whole}| 5 |\n") == ["| 5 |"]
