"""Turn a create script that cannot be read as data into one that can: run it here, and note its creates.

Nobody is turned away for a `$(date)` in a name. The script runs on the developer's own machine, as the
developer and in its own folder, under the real bash; but the gcloud it finds is a recorder: creates are
written down and not sent, questions are answered by the machine's real gcloud, everything else that
gcloud could change is left out.
"""

import base64
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from spotwarden.cli.launching import recorder

TIMEOUT_SECONDS = 600
"""A script may wait for a machine that is never made: it is stopped then, and what it asked for counts."""
NOWHERE = "http://127.0.0.1:9/compute/v1/"
"""Should the script reach the real gcloud in spite of all, that finds no Compute Engine here."""

# By its path, gcloud could not be stood in for.
_BY_PATH = re.compile(r"(?m)^[^#\n]*?((?:[\w.~$}{-]*/)+gcloud)(?=[\s\"';)]|$)")
_SETTINGS = {
    "project": ("core", "project"),
    "compute/zone": ("compute", "zone"),
    "compute/region": ("compute", "region"),
}


class Unresolved(click.ClickException):
    """The script could not be resolved: what went wrong, and what to do."""


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """A plain script of the creates that another one asked for.

    `files` are the contents of what it names, by path beside it; `commands` the creates word by word;
    `digest` the SHA-256 of the original; `status` how that ended.
    """

    text: bytes
    commands: tuple[tuple[str, ...], ...]
    files: Mapping[str, bytes]
    digest: str
    status: int


def resolve(path: Path, *, arguments: Sequence[str] = (), timeout: float = TIMEOUT_SECONDS) -> Resolved:
    """Run the script at `path` with the recorder in place of gcloud, and return what it would have created.

    Raises:
        Unresolved: it calls gcloud by a path, bash is not here, or it created nothing.
    """
    original = path.read_bytes()
    bash = shutil.which("bash")
    if bash is None:
        raise Unresolved("bash is missing here, and the script needs it")
    found = _BY_PATH.search(original.decode("utf-8", "replace"))
    if found is not None:
        raise Unresolved(
            f"the script calls {found.group(1)}: write `gcloud`, so that nothing is created here"
        )
    real = shutil.which("gcloud")
    with tempfile.TemporaryDirectory(prefix="spotwarden-") as folder:
        environment = _stage(Path(folder), real)
        status = _run([bash, str(path.resolve()), *arguments], path.parent, environment, timeout)
        entries = [json.loads(line) for line in (Path(folder) / "record").read_text().splitlines()]
    creates = [entry for entry in entries if entry["kind"] == "create"]
    if not creates:
        raise Unresolved(f"the script exited with status {status} before it created anything")
    digest = hashlib.sha256(original).hexdigest()
    lines = [*_header(path.name, digest), *_configured(real), *_lines(entries)]
    return Resolved(
        text=("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"),
        commands=tuple(("gcloud", *entry["words"]) for entry in creates),
        files={name: base64.b64decode(data) for entry in creates for name, data in entry["files"].items()},
        digest=digest,
        status=status,
    )


def _stage(folder: Path, real: str | None) -> dict[str, str]:
    """Lay out the recorder so that bash finds it as a function and everybody else on PATH."""
    (folder / "bin").mkdir()
    (folder / "record").touch()
    stand_in = folder / "bin" / "gcloud"
    command = f"{shlex.quote(sys.executable)} -I {shlex.quote(recorder.__file__)}"
    stand_in.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    stand_in.chmod(0o755)
    # A script may put its own folders in front of PATH; a function comes before all of them.
    start = folder / "start"
    start.write_text(f'gcloud() {{ {shlex.quote(str(stand_in))} "$@"; }}\nexport -f gcloud\n')
    return {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "BASH_ENV": str(start),
        "SPOTWARDEN_RECORD": str(folder / "record"),
        "SPOTWARDEN_REAL_GCLOUD": real or "",
        "SPOTWARDEN_ENDPOINT": os.environ.get(recorder.DEAD_ENDPOINT, ""),
        recorder.DEAD_ENDPOINT: NOWHERE,
    }


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float) -> int:
    # Its own process group, so that a script which waits for its machines can be stopped with all it started.
    process = subprocess.Popen(command, cwd=folder, env=dict(environment), start_new_session=True)  # noqa: S603 — the user's own script, which was asked for
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return 128 + signal.SIGTERM
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def _header(name: str, digest: str) -> list[str]:
    return [
        "#!/bin/bash",
        f"# What {name} asked of gcloud when it was resolved, and nothing else.",
        f"# sha256 of {name}: {digest}",
    ]


def _configured(real: str | None) -> Iterator[str]:
    """Yield the settings of the machine's gcloud that a create without them would take."""
    if real is None:
        return
    done = subprocess.run(  # noqa: S603 — the user's own gcloud, no shell
        [real, "config", "list", "--format=json", "--quiet"],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    known = json.loads(done.stdout or b"{}") if done.returncode == 0 else {}
    for setting, (section, name) in _SETTINGS.items():
        value = known.get(section, {}).get(name)
        if value:
            yield shlex.join(["gcloud", "config", "set", setting, value])


def _lines(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for entry in entries:
        if entry["kind"] in ("create", "config"):
            settings = [f"{key}={shlex.quote(value)}" for key, value in sorted(entry["environment"].items())]
            yield " ".join([*settings, shlex.join(["gcloud", *entry["words"]])])
