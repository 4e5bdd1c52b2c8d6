"""What nobody asks for goes; what vulture cannot see is listed with its reason in pyproject.toml."""

import fnmatch
import re
import subprocess
import sys
import tomllib

from tests.infra.clean_room import ROOT
from tests.long import long

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["vulture"]


def vulture(*words: str) -> list[str]:
    """What it says, a line for each name that nobody asks for."""
    command = [sys.executable, "-m", "vulture", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()


def test_a_function_that_nobody_calls_is_found(tmp_path):
    """Beside one that is called, with the settings of the project."""
    planted = tmp_path / "planted.py"
    planted.write_text("def asked():\n    pass\n\n\ndef forgotten():\n    pass\n\n\nasked()\n")
    [found] = vulture(str(planted))
    assert found.startswith(f"{planted}:5: unused function 'forgotten'")


@long
def test_every_name_that_is_listed_is_one_that_nobody_asks_for():
    """One that is used now, or gone, needs no reason, and would hide the next one of that name."""
    bare = ROOT / "tests/infra/no_such_settings.toml"
    decorators = ",".join(SETTINGS["ignore_decorators"])
    paths = [str(ROOT / path) for path in SETTINGS["paths"]]
    said = vulture("--config", str(bare), "--ignore-decorators", decorators, *paths)
    found = {match[1] for line in said if (match := re.search(r" unused \w+ '(\w+)'", line))}
    assert len(found) > 1
    assert [name for name in SETTINGS["ignore_names"] if not fnmatch.filter(found, name)] == []
