"""Cloud Custodian, as it comes from its registry, against the server of `govern_scale.py`.

It lives in a virtual environment of its own; nothing in it is changed. Google's client that it uses is told
by its documented `client_options` where to ask, and a made-up service account gets its token there, too.
"""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

VERSIONS = ("c7n==0.9.53", "c7n-gcp==0.4.52")
RUN = """
import sys
from googleapiclient import discovery
build, here = discovery.build, sys.argv.pop(1)

def there(**said):
    path = f"/compute/{said['version']}/" if said["serviceName"] == "compute" else "/"
    said |= {"client_options": {"api_endpoint": here + path}, "static_discovery": True}
    return build(**said)

discovery.build = there
from c7n.cli import main
main()
"""
FILTERS: Sequence[Any] = (
    {"tag:managed-by": "spotwarden"},
    {"status": "RUNNING"},
    {
        "type": "metrics",
        "name": "agent.googleapis.com/gpu/utilization",
        "metric-key": "resource.labels.instance_id",
        "aligner": "ALIGN_MEAN",
        "days": 0.0417,
        "value": 5,
        "op": "lt",
    },
)
"""By label, by state, and by the mean of the last hour; by id, which is not what it does unless told."""


class Custodian:
    """One installation, and runs of it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._python = home / "venv/bin/python"
        home.mkdir(parents=True, exist_ok=True)
        if not self._python.exists():
            venv.create(home / "venv", with_pip=True)
            subprocess.run([self._python, "-m", "pip", "-q", "install", *VERSIONS], check=True)

    def command(self, url: str, *, stop: bool) -> tuple[list[str], dict[str, str]]:
        """What to run, and in which environment."""
        policy: dict[str, Any] = {"name": "idle", "resource": "gcp.instance", "filters": list(FILTERS)}
        if stop:
            policy["actions"] = ["stop"]
        file = self._home / "policy.json"
        file.write_text(json.dumps({"policies": [policy]}))
        out = ["--cache-period", "0", "--output-dir", str(self._home / "out")]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._home),
            "GOOGLE_CLOUD_PROJECT": "project",
            "GOOGLE_APPLICATION_CREDENTIALS": str(self._account(url)),
        }
        return [str(self._python), "-c", RUN, url, "run", *out, str(file)], environment

    def matched(self) -> int:
        """How many VMs its last run has found."""
        return len(json.loads((self._home / "out/idle/resources.json").read_text()))

    def _account(self, url: str) -> Path:
        key = subprocess.run(
            ["openssl", "genpkey", "-algorithm", "RSA"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        file = self._home / "account.json"
        account = {
            "type": "service_account",
            "project_id": "project",
            "private_key_id": "1",
            "private_key": key.stdout.decode(),
            "client_email": "bench@project.iam.gserviceaccount.com",
            "client_id": "1",
            "token_uri": f"{url}/token",
        }
        file.write_text(json.dumps(account))
        return file


if __name__ == "__main__":
    sys.exit(f"run tests/bench/govern_scale.py; {__doc__}")
