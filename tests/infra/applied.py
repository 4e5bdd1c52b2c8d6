"""The configuration, applied by the real Terraform to a cloud that is made up (terraform_schema)."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.infra.terraform_schema.provider import google

ROOT = Path(__file__).resolve().parents[2]
VM = "vm@a-project.iam.gserviceaccount.com"
VIEWER = "group:ml@example.com"
GIVEN: Mapping[str, Any] = {
    "project": "a-project",
    "region": "us-central1",
    "bucket": "runs",
    "prefix": "users/",
    "alert_email": "ops@example.com",
    "job_vms": [VM],
    "act_as": [VM],
    "viewers": [VIEWER],
    "billing_account": "000000-000000-000000",
    "secret_versions": {"SPOTWARDEN_SIGNING_KEYS": "3"},
}


class Applied:
    """A folder with the configuration, and Terraform in it."""

    def __init__(self, folder: Path, provider: Mapping[str, str]) -> None:
        self._at = folder / "infra/terraform"
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TF_")},
            **provider,
            "TF_CLI_CONFIG_FILE": os.devnull,
            "TF_IN_AUTOMATION": "1",
            "CHECKPOINT_DISABLE": "1",
            "GOGC": "400",  # it ends before there is much garbage
        }

    def run(self, *words: str, given: Mapping[str, Any] = GIVEN) -> subprocess.CompletedProcess[str]:
        """One command of Terraform's."""
        (self._at / "given.auto.tfvars.json").write_text(json.dumps(given))
        return subprocess.run(
            ["terraform", *words],
            cwd=self._at,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def must(self, *words: str, given: Mapping[str, Any] = GIVEN) -> str:
        """The same, where anything but success is a fault."""
        done = self.run(*words, given=given)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def planned(self, given: Mapping[str, Any] = GIVEN) -> list[Mapping[str, Any]]:
        """What a plan would do: resources, each with `values` as they will be."""
        self.must("plan", "-input=false", "-refresh=false", "-out=plan", given=given)
        plan = json.loads(self.must("show", "-json", "plan", given=given))
        return list(_resources(plan["planned_values"]["root_module"]))

    def there(self) -> list[Mapping[str, Any]]:
        """What was made, and what was looked at."""
        values = json.loads(self.must("show", "-json"))["values"]
        return list(_resources(values["root_module"]))


def prepare(folder: Path) -> Path:
    """A copy of what Terraform reads, with archives to deploy and its state beside it."""
    shutil.copytree(
        ROOT / "infra/terraform", folder / "infra/terraform", ignore=shutil.ignore_patterns(".terraform*")
    )
    shutil.copy(ROOT / "infra/functions.yaml", folder / "infra/functions.yaml")
    (folder / "infra/terraform/local_override.tf").write_text('terraform {\n  backend "local" {}\n}\n')
    (folder / "build").mkdir()
    for row in manifest()["functions"]:
        (folder / "build" / f"{row['name']}.zip").write_bytes(row["name"].encode())
    return folder


def applied(folder: Path) -> Iterator[Applied]:
    """Terraform, ready in a folder of its own, while the provider runs."""
    with google() as environment:
        terraform = Applied(prepare(folder), environment)
        terraform.must("init", "-input=false")
        yield terraform


def manifest() -> Mapping[str, Any]:
    """infra/functions.yaml."""
    read: Mapping[str, Any] = yaml.safe_load((ROOT / "infra/functions.yaml").read_text(encoding="utf-8"))
    return read


def _resources(module: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from module.get("resources", ())
    for child in module.get("child_modules", ()):
        yield from _resources(child)
