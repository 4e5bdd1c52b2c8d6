"""What is staged once for all tests of staging."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.infra.clean_room import ROOT


@pytest.fixture(scope="session")
def staging(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every function of the manifest, staged."""
    out = tmp_path_factory.mktemp("build")
    command = [sys.executable, str(ROOT / "infra/staging/stage.py"), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return out


@pytest.fixture(scope="session")
def staged(staging: Path) -> dict[str, Any]:
    """What staging said of it."""
    said: dict[str, Any] = json.loads((staging / "staged.json").read_text())
    return said
