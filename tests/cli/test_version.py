"""`spotwarden --version`: which version runs, at once."""

import subprocess
import sys

from click.testing import CliRunner

import spotwarden
from spotwarden.cli.main import main


def test_the_version_is_told():
    """In one line, by the command's name; nothing else is asked for."""
    done = CliRunner().invoke(main, ["--version"], prog_name="spotwarden")
    assert (done.exit_code, done.output) == (0, f"spotwarden {spotwarden.__version__}\n")


def test_the_version_needs_no_metadata_of_packages():
    """Reading them takes longer than all the rest of a command's start."""
    code = "import sys, spotwarden.cli.main; sys.exit('importlib.metadata' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
