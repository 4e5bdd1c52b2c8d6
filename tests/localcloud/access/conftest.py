"""A whole local cloud as a developer starts it, with functions, and in an environment full of settings."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

SPOTWARDEN = Path(sys.executable).with_name("spotwarden")
STILL_SECONDS = 30
"""Where nothing moves for so long, nothing will."""
UMASK = 0o027
"""That of the developer's shell; neither the usual one nor the local cloud's own."""
SETTINGS = {
    "SPOTWARDEN_SMTP": "smtps://me@mail.example.com:465",
    "SPOTWARDEN_SMTP_PASSWORD": "sesame",
    "SPOTWARDEN_SIGNING_KEYS": "real:key",
    "SPOTWARDEN_PROJECT": "production",
    "SPOTWARDEN_DRY_RUN": "no",
    "SPOTWARDEN_HOOKS": '{"chat": {"shape": "slack", "url": "http://127.0.0.1:1/hook"}}',
}
"""What a developer of a real deployment may have set."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """A local cloud under way; `told` is what its clients are told."""

    http: str
    grpc: str
    pid: int
    state: Path
    told: dict[str, str]

    @property
    def instances(self) -> str:
        """Where VMs are made and listed."""
        return f"{self.http}/compute/v1/projects/demo/zones/us-central1-a/instances"

    @property
    def smtp(self) -> int:
        """The port of the mailbox's SMTP server, as this process has it open."""
        (function,) = [each for each in self.functions() if each["name"] == "notify_developers"]
        environ = Path(f"/proc/{function['pid']}/environ").read_bytes().split(b"\0")
        (url,) = [line for line in environ if line.startswith(b"SPOTWARDEN_SMTP=")]
        return int(url.rpartition(b":")[2])

    def functions(self) -> list[dict[str, Any]]:
        """The functions, each with its URL and process id."""
        found: list[dict[str, Any]] = self.get("/local/functions")["functions"]
        return found

    def get(self, path: str) -> Any:
        """What a path answers its owner."""
        return httpx.get(self.http + path, trust_env=False).raise_for_status().json()

    @property
    def names(self) -> list[str]:
        """The VMs that there are."""
        return [item["name"] for item in httpx.get(self.instances, trust_env=False).json().get("items", [])]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for all tests of this folder."""
    home = tmp_path_factory.mktemp("home")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("SPOTWARDEN_")}
    words = ["local", "serve", "--functions", "--project", "demo", "--state", str(home / "state")]
    words += ["--limit", "insert_times=0.02"]  # as in the stories: nobody waits for minutes
    process = subprocess.Popen(
        [SPOTWARDEN, *words],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**plain, "XDG_STATE_HOME": str(home), **SETTINGS},
        umask=UMASK,
    )
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        told = httpx.get(f"{ready['http']}/local/env", trust_env=False).json()
        yield Served(
            http=ready["http"], grpc=ready["grpc"], pid=ready["pid"], state=home / "state", told=told
        )
    finally:
        process.terminate()
        process.communicate(timeout=60)


def vm(name: str, script: str = "") -> dict[str, Any]:
    """The body of an insert."""
    image = "projects/debian-cloud/global/images/family/debian-12"
    return {
        "name": name,
        "machineType": "zones/us-central1-a/machineTypes/e2-medium",
        "disks": [{"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": image}}],
        "networkInterfaces": [{"network": "global/networks/default"}],
        "metadata": {"items": [{"key": "startup-script", "value": script}]},
    }
