"""Writes the pages about notices that are made from the code.

`python -m tests.notify.templates.write_notice_docs`
"""

import json
from collections.abc import Iterator
from pathlib import Path

from spotwarden.notify.templates.schema import schema, table

FOLDER = Path(__file__).resolve().parents[3] / "docs/notices"


def pages() -> Iterator[tuple[Path, str]]:
    """Each file of docs/notices that is made from the code, with its text."""
    yield FOLDER / "schema.json", json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
    yield FOLDER / "kinds.md", table()


if __name__ == "__main__":
    for path, text in pages():
        path.write_text(text, encoding="utf-8")
