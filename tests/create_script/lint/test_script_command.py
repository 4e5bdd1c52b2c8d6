"""`spotwarden script request | check | resolve`, as a person types them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from spotwarden.cli.launching import recorder
from spotwarden.cli.launching.resolve import Unresolved, resolve
from spotwarden.cli.main import main
from spotwarden.create_script import Defaults, requests

VM = "gcloud compute instances create vm --zone=us-central1-a"
needs_bash = pytest.mark.skipif(
    shutil.which("bash") is None, reason="bash is not installed: nothing is resolved"
)


def run(*words: str | Path) -> Result:
    """Call the command line."""
    return CliRunner().invoke(main, ["script", *(str(word) for word in words)])


@pytest.fixture
def create(tmp_path: Path):
    """Write a create script, with files beside it."""

    def write(text: str, **files: str) -> Path:
        path = tmp_path / "create.sh"
        path.write_text(text)
        for name, content in files.items():
            beside = tmp_path / name.replace("__", "/").replace("_", ".")
            beside.parent.mkdir(exist_ok=True)
            beside.write_text(content)
        return path

    return write


def test_request_prints_what_gcloud_would_send(create):
    """A list of method, path, query and body, as JSON."""
    result = run("request", create(VM), "--project", "demo-project")
    (sent,) = json.loads(result.stdout)
    assert result.exit_code == 0
    assert list(sent) == ["method", "path", "query", "body"]
    assert sent["path"] == "/compute/v1/projects/demo-project/zones/us-central1-a/instances"
    assert sent["query"] == {"alt": "json"}
    assert sent["body"]["name"] == "vm"


def test_request_takes_project_zone_and_region_as_configured(create):
    """What the script names itself goes before."""
    file = create("gcloud compute instances create vm --subnet=s")
    result = run("request", file, "--project", "demo-project", "--zone", "us-east1-b", "--region", "us-east1")
    (sent,) = json.loads(result.stdout)
    assert "/us-east1-b/" in sent["path"]


def test_request_refuses_with_file_line_and_reason(create):
    """Exit status 2, nothing on standard output."""
    file = create(f"#!/bin/bash\n\n{VM}-$(date)\n")
    result = run("request", file, "--project", "demo-project")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"{file}:3: ")


def test_request_names_the_sourced_file_that_is_to_blame(create):
    """With its own line."""
    file = create("source ./more.env", more_env=f"\n{VM}-$USER\n")
    result = run("request", file, "--project", "demo-project")
    assert result.stderr.startswith(f"{file.parent / 'more.env'}:2: ")


def test_files_lie_beside_the_script_or_where_files_says(create, tmp_path: Path):
    """In folders below, too."""
    file = create(f"{VM} --metadata-from-file=startup-script=up/boot.sh", up__boot_sh="echo\n")
    assert run("request", file, "--project", "demo-project").exit_code == 0
    other = tmp_path / "other"
    other.mkdir()
    missing = run("request", file, "--project", "demo-project", "--files", other)
    assert missing.exit_code == 2
    assert "up/boot.sh" in missing.stderr


def test_check_explains_and_warns(create):
    """What is launched on standard output, warnings with file and line on standard error."""
    file = create(f"{VM} --provisioning-model=SPOT")
    result = run("check", file)
    assert result.exit_code == 0
    assert result.stdout.startswith("launches vm in zone us-central1-a")
    assert f"{file}:1: warning: " in result.stderr


def test_check_fails_for_what_recovery_could_not_run_again(create):
    """And says how to go on."""
    result = run("check", create(f"{VM}-$(date)"))
    assert result.exit_code == 2
    assert "script resolve" in result.stderr


@pytest.fixture
def no_gcloud(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A PATH on which the only gcloud is one that tells a few things and must create nothing."""
    folder = tmp_path / "sdk"
    folder.mkdir()
    real = folder / "gcloud"
    real.write_text(
        '#!/bin/sh\necho "$@" >> "$0.log"\ncase "$*" in\n'
        '*"config list"*) echo \'{"core": {"project": "machine-project"}}\';;\n'
        '*get-value*) echo "told $CLOUDSDK_COMPUTE_ZONE";;\nesac\n'
    )
    real.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder / "gcloud.log"


IMPURE = """#!/bin/bash
NAME=$(echo Trainer | tr 'A-Z' 'a-z')
gcloud config set compute/zone us-west1-a --quiet
ZONE=$(gcloud config get-value compute/zone)
gcloud compute networks create somewhere
printf 'echo %s\\n' "$NAME" > boot.sh
for i in $(seq 1 2); do
  gcloud compute instances create "$NAME-$i" --description="it's $ZONE" \\
    --metadata-from-file=startup-script=boot.sh,note=<(echo "number $i") || exit 1
done
rm boot.sh
gcloud compute instances delete other --quiet
"""


@needs_bash
def test_resolve_makes_a_plain_script_of_what_was_asked(create, no_gcloud: Path):
    """It reads as data and sends what the original would have sent; nothing was created on the way."""
    file = create(IMPURE)
    resolved = resolve(file)
    first, second = requests(resolved.text, files=resolved.files, defaults=Defaults())
    assert first.path == "/compute/v1/projects/machine-project/zones/us-west1-a/instances"
    assert [first.body["name"], second.body["name"]] == ["trainer-1", "trainer-2"]
    assert first.body["description"] == "it's told us-west1-a"
    notes = {item["key"]: item["value"] for item in second.body["metadata"]["items"]}
    assert notes == {"startup-script": "echo trainer\n", "note": "number 2\n"}
    assert "create" not in no_gcloud.read_text()
    assert "delete" not in no_gcloud.read_text()


@needs_bash
def test_resolve_says_which_script_it_came_from(create, no_gcloud: Path):
    """By the SHA-256 of the original, in a comment."""
    resolved = resolve(create(IMPURE))
    assert no_gcloud.exists()
    assert resolved.digest.encode() in resolved.text.splitlines()[2]
    assert [command[4] for command in resolved.commands] == ["trainer-1", "trainer-2"]
    assert resolved.status == 0


@needs_bash
@pytest.mark.parametrize(
    "way",
    [
        "PATH={sdk}:$PATH gcloud",
        "export PATH={sdk}:$PATH; gcloud",
        "bash -c 'gcloud \"$@\"' x",
        "env gcloud",
        "xargs gcloud",
    ],
)
def test_resolve_records_creates_however_gcloud_is_found(create, no_gcloud: Path, way: str):
    """A changed PATH, another shell, another program."""
    words = "compute instances create vm --zone=us-central1-a"
    command = way.format(sdk=no_gcloud.parent)
    text = f"echo {words} | {command}" if command.startswith("xargs") else f"{command} {words}"
    assert resolve(create(text)).commands == (("gcloud", *words.split()),)
    assert "create" not in no_gcloud.read_text()


UNRESOLVED = {
    "gcloud by its path": (f"/usr/bin/{VM}", "write `gcloud`"),
    "no create": ("echo hello", "before it created anything"),
    "a failure before the create": (f"set -e; false; {VM}", "status 1"),
}


@needs_bash
@pytest.mark.parametrize("what", UNRESOLVED)
def test_what_cannot_be_resolved_is_told(create, no_gcloud: Path, what: str):
    """With what to do about it."""
    text, reason = UNRESOLVED[what]
    with pytest.raises(Unresolved, match=reason):
        resolve(create(text))
    assert not no_gcloud.exists() or "create" not in no_gcloud.read_text()


@needs_bash
def test_resolve_stops_a_script_that_waits_for_ever(create, no_gcloud: Path):
    """What it had asked for by then counts; nothing of it runs on."""
    file = create(f"{VM}\necho $$ > pid\nwhile :; do read -t 1 < <(read -t 9); done")
    resolved = resolve(file, timeout=5)
    assert len(resolved.commands) == 1
    assert resolved.status != 0
    assert not Path("/proc", (file.parent / "pid").read_text().strip()).exists()
    assert no_gcloud.exists()


@needs_bash
def test_the_resolve_command_writes_the_script_and_its_files(create, no_gcloud: Path, tmp_path: Path):
    """And `request` reads them from there."""
    output = tmp_path / "plain" / "create.sh"
    output.parent.mkdir()
    result = run("resolve", create(IMPURE), "-o", output)
    assert result.exit_code == 0
    assert result.stderr.count("creates: gcloud compute instances create") == 2
    assert run("request", output).exit_code == 0
    assert no_gcloud.exists()


KINDS = {
    "compute instances create vm": "create",
    "beta compute instances bulk create --count=2": "create",
    "compute instances create-with-container vm": "create",
    "sql instances create db": "else",
    "compute instances delete vm": "else",
    "compute instances describe create": "question",
    "config set project p": "config",
    "config get-value project": "question",
    "storage cp a b": "else",
    "storage ls gs://b": "question",
    "auth login": "else",
    "--version": "question",
}


@pytest.mark.parametrize(("words", "kind"), KINDS.items())
def test_the_recorder_knows_questions_from_changes(words: str, kind: str):
    """Whatever it does not know for a question is left out."""
    assert recorder.kind_of(words.split()) == kind


def test_importing_the_package_is_quick_work():
    """It loads neither stage, nor anything that is not the standard library's."""
    program = (
        "import sys; known = set(sys.modules);"
        " import spotwarden.create_script; print(*set(sys.modules) - known)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = [
        name for name in done.stdout.split() if "shell" in name or "gcloud" in name or "msgspec" in name
    ]
    assert loaded == []
