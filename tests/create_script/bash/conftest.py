"""The real bash beside ours: what words does each hand to gcloud?"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping

import pytest

from spotwarden.create_script.bash.evaluator.script import run_script
from spotwarden.create_script.request.command import Unknown

FILES = {"x.txt": b"l1\nl2 b\nl3", "d/y.sh": b'Y="why $1"\n', "d/z.sh": b"Z=1\n"}
# A gcloud that writes down its words, each closed by a NUL, and a 1 behind the last.
RECORDER = (
    'gcloud() { [ $# -gt 0 ] && printf "%s\\0" "$@" >> "$OUT"; printf "\\1\\0" >> "$OUT"; return 0; }\n'
)
Words = list[list[str]]
Reader = Callable[..., Words]


@pytest.fixture
def ours() -> Reader:
    """The words of each gcloud command as `run_script` computes them."""

    def words(text: bytes, files: Mapping[str, bytes] = FILES) -> Words:
        run = run_script(text, files=files, environment={})
        return [[told(word.value) for word in command.words[1:]] for command in run.commands]

    def told(value: str | Unknown) -> str:
        return value if isinstance(value, str) else f"unknown: {value.reason}"

    return words


@pytest.fixture
def bash(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """The words of each gcloud command as the real bash hands them over."""
    program = shutil.which("bash")
    if program is None:
        pytest.skip("bash is not installed: ours is not held against it")

    def words(text: bytes, files: Mapping[str, bytes] = FILES) -> Words:
        folder = tmp_path_factory.mktemp("bash")
        work = folder / "work"
        work.mkdir()
        for name, content in files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_bytes(content)
        (folder / "start").write_text(RECORDER)
        (folder / "script.sh").write_bytes(text)
        (folder / "out").touch()
        environment = {
            "PATH": os.defpath,
            "BASH_ENV": str(folder / "start"),
            "OUT": str(folder / "out"),
            "LANG": "C.UTF-8",
        }
        command = [program, str(folder / "script.sh")]
        quiet = subprocess.DEVNULL
        subprocess.run(  # it may well fail: some of these scripts are broken on purpose
            command,
            cwd=work,
            env=environment,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            check=False,
            timeout=30,
        )
        return _commands((folder / "out").read_bytes())

    return words


def _commands(written: bytes) -> Words:
    commands: Words = [[]]
    for word in written.split(b"\0")[:-1]:
        if word == b"\1":
            commands.append([])
        else:
            commands[-1].append(word.decode("utf-8", "surrogateescape"))
    return commands[:-1]
