"""A local cloud in a process of its own, as its users start it."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

Serve = Callable[..., AbstractContextManager[Mapping[str, str]]]

PROJECT = "demo-project"
END = 60.0


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """Starts a local cloud with such flags as `--no-machines`; gives the environment of its clients."""

    @contextmanager
    def serving(*flags: str) -> Iterator[Mapping[str, str]]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith("SPOTWARDEN")}
        words = [sys.executable, "-m", "localcloud", "serve", "--project", PROJECT, *flags]
        state = ["--state", str(tmp_path / "state")]
        process = subprocess.Popen([*words, *state], stdout=subprocess.PIPE, text=True, env=plain)
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["http"]
            with urllib.request.urlopen(f"{url}/local/env", timeout=END) as answer:
                told = json.load(answer)
            yield told
        finally:
            process.terminate()
            process.communicate(timeout=END)

    return serving


@pytest.fixture
def cloud(serve: Serve) -> Iterator[Mapping[str, str]]:
    """A local cloud whose VMs have no processes: the environment of its clients."""
    with serve("--no-machines") as environment:
        yield environment


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder for a client to be at home in."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder
