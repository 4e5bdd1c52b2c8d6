"""Functions of the job kit, called one by one in a bash of their own."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.job.lab import HARD_SECONDS, KIT

PARTS = (
    "text",
    "metadata",
    "settings",
    "bucket",
    "attempt",
    "marker",
    "files",
    "progress",
    "gang",
    "members",
    "tpu",
    "program",
    "handover",
    "life",
    "end",
)
BEATING = """
OUTPUT=$PWD/output CODE=$PWD/code TURN_FILE=$PWD/turn PROGRESS=$PWD/progress LOG=$PWD/3.log CURVE=$PWD/3.jsonl
PREFIX="" JOB=job HERE=job NODE=vm ID=17 ATTEMPT=3 NODES=1 TRANSPORT=curl
mkdir -p output code
read_rules
may_write() { return 0; }
put() {
  echo "== ${2#job/metadata/}"
  cat "$1"
  [ "$#" -le 4 ] || printf 'beside %s\n' "${@:5}"
}
"""
"""What a heartbeat needs; what is uploaded is printed, and its custom metadata a line each."""


def functions() -> str:
    """The kit without its main program."""
    return (
        "set -u\n"
        + "\n".join((KIT / f"parts/{part}.sh").read_text(encoding="utf-8") for part in PARTS)
        + "\n"
    )


class Shell:
    """Runs lines of bash after the kit's functions were read, in a folder that stands for the VM's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.state = self.home / ".spotwarden"
        (self.state / "metadata").mkdir(parents=True)
        self.environment: dict[str, str] = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def set(self, **settings: str) -> None:
        """Give attributes of the metadata, as if they had been read; `_` in a name is `-`."""
        for name, value in settings.items():
            (self.state / "metadata" / f"spotwarden-{name.replace('_', '-')}").write_text(value)

    def run(self, script: str, *words: str, **environment: str) -> str:
        """What the lines print; the words are `$1` and so on."""
        done = self.attempt(script, *words, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def attempt(self, script: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """The same, however it ends."""
        defaults: Mapping[str, str] = {"HOME": str(self.home), "GCE_METADATA_HOST": "127.0.0.1:9"}
        return subprocess.run(
            ["bash", "-c", f"{functions()}{script}", "kit", *words],
            cwd=self.folder,
            env={**defaults, **self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HARD_SECONDS,
            check=False,
        )
