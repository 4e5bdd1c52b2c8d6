"""A server beside a bench, in a process of its own: its work is not the bench's."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@contextmanager
def server(script: str, *arguments: int) -> Iterator[Any]:
    """Start a script of this folder on a folder of its own; yields what it says, in JSON, once it serves."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(HERE / script), *map(str, arguments), folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()
            process.wait()
