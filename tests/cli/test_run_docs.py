"""What docs/run.md shows is what `spotwarden run` takes."""

import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/run.md"
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
LINES = [line for block in BLOCKS for line in block.splitlines() if line.startswith("spotwarden run ")]


@pytest.mark.parametrize("line", LINES)
def test_an_example_is_understood(workstation, tmp_path, monkeypatch, line):
    """Shown, not launched: with its files in place there is nothing to say against it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    words = shlex.split(line)[1:]
    at = words.index("--")
    assert "\ngcloud compute instance" in workstation.ok(*words[:at], "--dry-run", *words[at:])


def test_the_page_has_examples():
    """Else nothing is tested above."""
    assert len(LINES) >= 8
