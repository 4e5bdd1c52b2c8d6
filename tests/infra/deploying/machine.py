"""A project in Google Cloud that is made of answers, and a machine to deploy to it from."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
FAKE = Path(__file__).with_name("fake.sh")
TOOLS = ("terraform", "gcloud", "curl", "sleep")
PROJECT, NUMBER = "my-project", "4711"
ALL = (
    "--project",
    PROJECT,
    "--region",
    "us-central1",
    "--bucket",
    "ml-jobs",
    "--alert-email",
    "ops@example.com",
)
KEPT = {
    "project": PROJECT,
    "region": "us-central1",
    "bucket": "ml-jobs",
    "alert_email": "ops@example.com",
    "mode": "observe",
    "job_vms": ["jobs@my-project.iam.gserviceaccount.com"],
}
TREE = (
    "deploy.sh",
    "infra/bootstrap.sh",
    "infra/deploy",
    "infra/functions.yaml",
    "infra/policy.toml",
    "infra/terraform",
)

State = list[list[Any]]


def found(pattern: str, out: str = "", status: int = 0, complaint: str = "", *most: int) -> list[Any]:
    """An answer."""
    return [pattern, status, out, complaint, *most]


def missing(pattern: str, complaint: str = "ERROR: 404 not found") -> list[Any]:
    """The answer of what is not there."""
    return [pattern, 1, "", complaint]


def apis() -> str:
    """Every API that is needed, on."""
    lines = (ROOT / "infra/terraform/services.tf").read_text().split('"')
    return "\n".join(
        [*(one for one in lines if one.endswith(".googleapis.com")), "serviceusage.googleapis.com"]
    )


def rights() -> str:
    """Every right that is asked for, held."""
    lines = (ROOT / "infra/deploy/checks.sh").read_text().partition("RIGHTS=(")[2].partition(")")[0].split()
    return json.dumps({"permissions": lines})


def project() -> State:
    """A project where all is well and nothing is deployed yet."""
    return [
        found("^terraform version", '{"terraform_version": "1.12.2"}'),
        found("^terraform [^ ]+ plan ", status=2),
        found("^terraform .*output -raw answers", "https://answer.example.com/"),
        found("^gcloud auth list", "ada@example.com\n"),
        found("^gcloud auth application-default", "a-token\n"),
        found("^gcloud projects describe", f"{NUMBER}\tACTIVE\n"),
        found("^gcloud billing", "True\n"),
        found("^gcloud services list", apis()),
        found("^gcloud storage buckets describe gs://ml-jobs", f"{NUMBER}\n"),
        missing("^gcloud storage buckets describe"),
        missing("^gcloud storage cat"),
        missing("^gcloud secrets describe"),
        found("^gcloud secrets versions add", "1\n"),
        found("^curl", rights()),
    ]


def deployed(kept: dict[str, Any] | None = None) -> State:
    """The same once it is deployed: with a state bucket, and signing keys."""
    keys = "^gcloud secrets versions access 3 --secret=spotwarden-signing-keys"
    return [
        found("^gcloud storage buckets describe gs://my-project-spotwarden-state", f"{NUMBER}\n"),
        found("^gcloud storage cat", json.dumps(kept or KEPT)),
        found("^gcloud secrets describe"),
        found(keys, "k2:bmV3,k1:b2xk\n"),
        found("^gcloud secrets versions access", "an-old-value\n"),
        found("^gcloud secrets versions list spotwarden-signing-keys", "3\n"),
        found("^gcloud secrets versions add spotwarden-signing-keys", "4\n"),
        *project(),
    ]


class Machine:
    """Where deploy.sh runs: a copy of what it needs, and tools that pretend."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "spotwarden"
        self._log, self._answers = folder / "calls", folder / "answers"
        for name in TREE:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / name, self.root / name)
        self.tools, self._venv = folder / "bin", folder / "venv"
        for tool in TOOLS:
            self._fake(self.tools / tool)
        for tool in ("python", "spotwarden"):
            self._fake(self._venv / "bin" / tool)

    def pretend(self, tool: str) -> None:
        """Have one tool more that says nothing and does nothing."""
        self._fake(self.tools / tool)

    def _fake(self, tool: Path) -> None:
        tool.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FAKE, tool)

    def really(self, tool: str) -> None:
        """Have the real Terraform, whose state is a file here: where it is kept is not said to it."""
        real = shutil.which(tool)
        (self.tools / tool).write_text(
            "#!/usr/bin/env bash\n"
            f'printf "%s\\0\\0" "{tool} $*" >>"$FAKE_LOG"\n'
            'for word; do shift; case "$word" in -backend-config=*) ;; *) set -- "$@" "$word" ;; esac; done\n'
            f'exec {real} "$@"\n'
        )
        versions = self.root / "infra/terraform/versions.tf"
        versions.write_text(versions.read_text().replace('backend "gcs" {}', 'backend "local" {}'))
        for row in yaml.safe_load((ROOT / "infra/functions.yaml").read_text())["functions"]:
            archive = self.root / "build" / f"{row['name']}.zip"
            archive.parent.mkdir(exist_ok=True)
            archive.write_bytes(row["name"].encode())

    def deploy(
        self, *words: str, answers: State | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `./deploy.sh gcp …`, without a terminal."""
        rows = project() if answers is None else answers
        self._answers.write_text("".join(f"answer {shlex.join(map(str, row))}\n" for row in rows))
        self._log.unlink(missing_ok=True)
        return subprocess.run(
            [str(self.root / "deploy.sh"), "gcp", *words],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={
                "PATH": f"{self.tools}:{os.environ['PATH']}",
                "HOME": str(self.root),
                "PYTHON": sys.executable,
                "SPOTWARDEN_VENV": str(self._venv),
                "FAKE_LOG": str(self._log),
                "FAKE_ANSWERS": str(self._answers),
                **environment,
            },
        )

    @property
    def calls(self) -> list[dict[str, str]]:
        """Every call of a tool, in order: its command line, and what it heard on standard input."""
        words = self._log.read_text().split("\0")[:-1] if self._log.exists() else []
        return [{"line": line, "heard": heard} for line, heard in zip(words[::2], words[1::2], strict=True)]

    @property
    def lines(self) -> list[str]:
        """The command lines."""
        return [one["line"] for one in self.calls]

    def said(self, *words: str) -> list[str]:
        """The command lines that hold all of these words."""
        return [line for line in self.lines if all(word in line for word in words)]

    def order(self, *marks: str) -> list[str]:
        """Which marks the command lines hold, in the order of the calls, repeats left out."""
        seen = [mark for line in self.lines for mark in marks if mark in line]
        return [mark for at, mark in enumerate(seen) if at == 0 or seen[at - 1] != mark]

    def settings(self) -> dict[str, Any]:
        """What Terraform is told."""
        file = self.root / "build/deploy" / PROJECT / "settings.json"
        told: dict[str, Any] = json.loads(file.read_text())
        return told
