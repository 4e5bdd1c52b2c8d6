"""A staged function started as the platform starts it: nothing there but its own requirements.

The packages are those of this environment, which was made from the lock with its hashes: exactly the ones
that the staged `requirements.txt` names are put into a folder of their own, and nothing else is on the path.
The real installation, by pip with the hashes required, is part of `tests/bench/cold_start.py`.
"""

import contextlib
import http.client
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import distribution
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

ROOT = Path(__file__).resolve().parents[2]
PUSHED = ROOT / "tests/infra/pushed.json"
"""Bodies as Pub/Sub pushes them, with no more headers than it sends (Google: "Push subscriptions")."""
EXPORTED = 315532801
"""1980-01-01 00:00:01, the date of all files in an image that buildpacks made (buildpacks/lifecycle 1358)."""
TIMEOUT = 180
OWN_PORTS = (20_000, 32_000)
"""Linux gives ports from 32768 on to whoever asks for any, macOS from 49152 on."""
SET = {
    "SPOTWARDEN_BUCKET": "jobs",
    "SPOTWARDEN_NOTICES": "spotwarden-notices",
    "SPOTWARDEN_MODE": "observe",
    "SPOTWARDEN_OPS": "ops@example.com",
    "SPOTWARDEN_ANSWERS": "https://answers.example.com/",
    "SPOTWARDEN_SIGNING_KEYS": "k1:" + "A" * 43,
}
"""What a deployment sets."""
SCRUBBED = ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "HTTP_PROXY", "http_proxy")


def packages(requirements: Path) -> list[str]:
    """The names in a requirements file, but for those that this platform leaves out."""
    return re.findall(r"(?m)^([A-Za-z0-9._-]+)==", requirements.read_text())


def furnish(requirements: Path, site: Path) -> None:
    """Put exactly these packages into a folder."""
    for name in packages(requirements):
        for file in distribution(name).files or ():
            target = site / file
            if ".." in file.parts or target.exists() or file.parts[0] == "__pycache__":
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target)


def build(archive: Path, folder: Path, *, epoch: bool = True) -> None:
    """Unpack an archive and do to it what Google's builder does: compile with `-f`, then date all alike.

    `epoch`: whether `SOURCE_DATE_EPOCH` is set for it, as our deployment does.
    """
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    environment = clean_environment({"SOURCE_DATE_EPOCH": str(EXPORTED)} if epoch else {})
    command = [sys.executable, "-m", "compileall", "-f", "-q", "."]
    subprocess.run(command, check=True, cwd=folder, env=environment)
    for file in folder.rglob("*"):
        os.utime(file, (EXPORTED, EXPORTED))


def clean_environment(more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without what would change another Python's ways."""
    return {name: value for name, value in os.environ.items() if name not in SCRUBBED} | dict(more)


def free_port() -> int:
    """A port that nobody listens on, below those that systems draw from: no other test is given it."""
    while True:
        port = secrets.choice(range(*OWN_PORTS))
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port


class Running:
    """A function under functions-framework; the block's end is its end."""

    def __init__(self, folder: Path, target: str, site: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._target = target
        self._environment = clean_environment(
            {
                **environment,
                "PYTHONPATH": str(site),
                "FUNCTION_TARGET": target,
                "FUNCTION_SIGNATURE_TYPE": "http",
            }
        )
        self._port = free_port()

    def __enter__(self) -> Self:
        # The interpreter itself, not this environment's: -S keeps its own packages out as well.
        command = [getattr(sys, "_base_executable", sys.executable), "-S", "-P", "-m", "functions_framework"]
        command += ["--source", "main.py", "--target", self._target, "--host", "127.0.0.1"]
        self.begun = time.perf_counter()
        self._process = subprocess.Popen(
            [*command, "--port", str(self._port)],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        said, _ = self._process.communicate(timeout=TIMEOUT)
        self.said = said.decode(errors="replace")

    @property
    def pid(self) -> int:
        """The server's process; its workers are its children."""
        return self._process.pid

    def ask(self) -> int:
        """Ask for the page of a function that people ask, and wait for the status of its answer."""
        with contextlib.closing(self._connection()) as connection:
            connection.request("GET", "/")
            return connection.getresponse().status

    def push(self, body: Mapping[str, Any]) -> int:
        """Push a message as Pub/Sub does, and wait for the status that it is answered with."""
        with contextlib.closing(self._connection()) as connection:
            connection.request("POST", "/", json.dumps(body), {"Content-Type": "application/json"})
            return connection.getresponse().status

    def _connection(self) -> http.client.HTTPConnection:
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until and self._process.poll() is None:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT)
            try:
                connection.connect()
            except ConnectionRefusedError:
                time.sleep(0.002)
                continue
            return connection
        raise AssertionError(f"{self._target} does not listen")


def pushed(what: str, function: str) -> dict[str, Any]:
    """A recorded push, to this function."""
    text = PUSHED.read_text().replace("FUNCTION", function)
    found: dict[str, Any] = json.loads(text)[what]
    return found


@contextlib.contextmanager
def local_cloud(folder: Path) -> Iterator[dict[str, str]]:
    """A local cloud with the jobs' bucket and the topic of notices; gives a function's environment in it."""
    own = {**os.environ, "XDG_STATE_HOME": str(folder)}
    spotwarden = str(Path(sys.executable).with_name("spotwarden"))
    process = subprocess.Popen([spotwarden, "local", "serve"], stdout=subprocess.PIPE, text=True, env=own)
    try:
        assert process.stdout is not None
        http = json.loads(process.stdout.readline())["http"]
        said = subprocess.run(
            [spotwarden, "local", "env"], check=True, capture_output=True, text=True, env=own
        )
        lines = (line.removeprefix("export ").split("=", 1) for line in said.stdout.splitlines())
        environment = {name: value.strip("'\"") for name, value in lines} | SET
        environment["SPOTWARDEN_PROJECT"] = project = environment["GOOGLE_CLOUD_PROJECT"]
        with httpx.Client(base_url=http, trust_env=False) as client:
            client.post(f"/storage/v1/b?project={project}", json={"name": SET["SPOTWARDEN_BUCKET"]})
            client.put(f"/v1/projects/{project}/topics/{SET['SPOTWARDEN_NOTICES']}", json={})
        yield environment
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
