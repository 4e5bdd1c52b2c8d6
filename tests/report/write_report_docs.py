"""Writes the page about the report that is made from the code: `python -m tests.report.write_report_docs`."""

import json
from pathlib import Path

from spotwarden.report.export.schema import schema

PATH = Path(__file__).resolve().parents[2] / "docs/report/schema.json"


def text() -> str:
    """The schema of the report's JSON, as its file has it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
