"""The virtual environment of tests/run and deploy.sh is made by a Python that outlives it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_an_active_virtual_environment_is_not_what_makes_itself_anew():
    """It is removed first, and its own Python with it."""
    folder = Path(sys.prefix, "bin")
    found = subprocess.run(
        ["bash", "-c", ". infra/bootstrap.sh; find_python"],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHON": ""},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert Path(found.stdout.strip()).is_file()
    assert not Path(found.stdout.strip()).is_relative_to(sys.prefix)
