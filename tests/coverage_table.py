"""Prints how much of each package the tests have run through: `python -m tests.coverage_table FOLDER`.

The folder has what each lane measured. Processes that tests start are not in it: the figures are a floor.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from coverage import Coverage

NAME = "lane"
"""What the files of the folder begin with, as `tests/run` names them."""
COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def package_of(file: str) -> str:
    """`recovery` for a file of that package; a function's entry point counts among `functions`."""
    parts = Path(file).parts
    below = parts[parts.index("spotwarden") + 1 :] if "spotwarden" in parts else ("functions", "")
    return below[0] if len(below) > 1 else "(top)"


def table(files: Mapping[str, Any]) -> Iterator[str]:
    """A line for each package, and one for all; `files` is that part of coverage's JSON report."""
    counts: dict[str, Counter[str]] = {}
    for file, found in files.items():
        for name in (package_of(file), "total"):
            counts.setdefault(name, Counter()).update({count: found["summary"][count] for count in COUNTS})
    yield f"{'package':16}{'lines':>8}{'run':>8}{'branches':>10}{'taken':>8}{'both':>8}"
    for name in sorted(counts, key=lambda name: (name == "total", name)):
        lines, run, branches, taken = (counts[name][count] for count in COUNTS)
        yield (
            f"{name:16}{lines:8}{_share(run, lines):>8}{branches:10}{_share(taken, branches):>8}"
            f"{_share(run + taken, lines + branches):>8}"
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def measured(folder: Path) -> Mapping[str, Any]:
    """What all lanes have measured together; `NoDataError` where there is nothing."""
    with TemporaryDirectory() as scratch:
        data = Coverage(data_file=str(Path(scratch) / NAME))
        data.combine([str(folder)], strict=True, keep=True)
        report = Path(scratch) / "report.json"
        data.json_report(outfile=str(report))
        files: Mapping[str, Any] = json.loads(report.read_text(encoding="utf-8"))["files"]
        return files


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in table(measured(Path(sys.argv[1]))))
