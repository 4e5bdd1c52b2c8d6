"""Fuzz both stages of reading a create script with atheris: `script_fuzz.py [MINUTES] [FOLDER]`.

Anything but `ScriptRefused` that escapes, and any input that takes over two seconds of processor time or a
minute of any, ends the run, and leaves that input in FOLDER. It starts from the scripts of
tests/create_script/corpus; FOLDER keeps what it finds interesting, for the next run. `pip install atheris`
comes first: nothing else here needs it.
"""

import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["spotwarden"]):
    from spotwarden.create_script import Defaults, ScriptRefused, requests
    from spotwarden.create_script.bash.evaluator import script  # noqa: F401 — likewise
    from spotwarden.create_script.gcloud import session  # noqa: F401 — instrumented now, not at the first script

CORPUS = Path(__file__).parents[1] / "create_script" / "corpus"
DEFAULTS = Defaults(project="demo-project", zone="us-central1-a", region="us-central1")
FILES = {"startup.sh": b"#!/bin/bash\ntrain\n", "flags.yaml": b"--zone: us-east1-b\n", "conf/env": b"A=1\n"}
LONGEST_BYTES = 4096
SLOW_SECONDS = 2
HUNG_SECONDS = 60


class SlowInputError(Exception):
    """An input that takes too much processor time."""


def one_input(data: bytes) -> None:
    """Read it as a stored script would be."""
    began = time.process_time()
    with suppress(ScriptRefused):
        requests(data, files=FILES, defaults=DEFAULTS)
    if (took := time.process_time() - began) > SLOW_SECONDS:
        raise SlowInputError(f"{took:.1f} s")


def main(minutes: float, folder: Path) -> None:
    """Fuzz for so long."""
    for file in CORPUS.glob("*.sh"):
        shutil.copy(file, folder / file.name)
    options = [
        f"-max_total_time={int(minutes * 60)}",
        f"-max_len={LONGEST_BYTES}",
        f"-timeout={HUNG_SECONDS}",
        f"-artifact_prefix={folder}/",
    ]
    atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", str(folder)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    length = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    kept = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(prefix="fuzz-"))
    kept.mkdir(parents=True, exist_ok=True)
    main(length, kept)
