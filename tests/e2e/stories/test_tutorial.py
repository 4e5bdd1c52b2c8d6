"""docs/tutorial.md, typed word by word into one bash."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import marked

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/tutorial.md").read_text()
BLOCK = re.compile(r"```(sh|text)\n(.*?)```", re.DOTALL)
DONE = "-- typed --"
LIMIT_SECONDS = 400
"""A minute and a half, and a lot more on a machine that is busy with other tests."""
SETS_UP = "./deploy.sh local --once\n. .venv-local/bin/activate\n"
"""Makes what these tests run in, and tells a story that has tests of its own."""


def steps():
    """Each block to type, with the lines that the page shows below it."""
    found = []
    for kind, text in BLOCK.findall(PAGE):
        if kind == "sh":
            found.append((text, []))
        else:
            found[-1][1].extend(text.splitlines())
    return found


def pattern(line):
    """What fits a line that is shown: `…` is anything, and so much blank as one likes."""
    parts = (re.escape(part.strip()) for part in re.split(r"…|\s+", line.strip()))
    gaps = (".*" if gap == "…" else r"\s+" for gap in re.findall(r"…|\s+", line.strip()))
    return "".join(part + gap for part, gap in zip(parts, [*gaps, ""], strict=True))


def typed(blocks, home):
    """Type them into one bash, in the clone; gives what is seen after each."""
    script = home / "typed.sh"
    script.write_text("".join(f"{block}\necho; echo '{DONE}'\n" for block in blocks))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SPOTWARDEN")}
    told = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "PYTHONFAULTHANDLER": "1",  # an interpreter that crashes says where
    }
    done = subprocess.run(
        ["bash", str(script)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        timeout=LIMIT_SECONDS,
        check=False,
        env={**kept, **told, "XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home)},
    )
    return done.stdout.split(f"\n{DONE}\n")


@pytest.fixture
def home(tmp_path):
    """A home folder of this test's own; whatever was started from it ends with the test."""
    yield tmp_path
    for left in marked(tmp_path):
        left.kill()


def test_each_block_does_what_the_page_shows(home):
    """From the clone to the end of the local cloud; nothing of it runs on."""
    blocks = [one for one in steps() if one[0] != SETS_UP]
    assert len(blocks) == len(steps()) - 1
    seen = typed([block for block, _ in blocks], home)
    for (block, shown), said in zip(blocks, seen, strict=False):
        rest = said
        for line in shown:
            found = re.search(pattern(line), rest)
            assert found, f"{block}\n-- shows\n{line}\n-- and one sees\n{said}"
            rest = rest[found.end() :]
    assert len(seen) == len(blocks) + 1, seen[-1]
    assert marked(home) == []


@pytest.mark.parametrize(
    ("line", "seen", "fits"),
    [
        ("step … loss", "step 12 loss 3", True),
        ("step … loss", "step 12 gain 3", False),
        ("a.b", "axb", False),
        ("line  ended   2  …", "line  ended     2         us-central1-a", True),
        ("… the end", "2026 +1s the end", True),
    ],
)
def test_a_line_that_is_shown_stands_for_those_that_fit(line, seen, fits):
    """Else nothing is tested above."""
    assert bool(re.search(pattern(line), seen)) is fits
