"""What is deployed of each function: its code, its requirements, nothing else, and always the same bytes."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.infra.clean_room import ROOT, packages

STAGE = ROOT / "infra/staging/stage.py"
NAMES = [row["name"] for row in yaml.safe_load((ROOT / "infra/functions.yaml").read_text())["functions"]]


def stage(script: Path, out: Path, *words: str, **environment: str) -> dict[str, Any]:
    """Stage, and give what staged.json says."""
    command = [sys.executable, str(script), "--out", str(out), *words]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    said: dict[str, Any] = json.loads((out / "staged.json").read_text())
    return said


def files(folder: Path) -> set[str]:
    """The names of what is in a staged folder, but for what is compiled."""
    found = {one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()}
    return {one for one in found if "__pycache__" not in one}


def test_every_function_of_the_manifest_is_staged(staged: dict[str, Any]):
    """And nothing else is."""
    assert sorted(staged) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_staged_function_is_its_code_its_policy_and_its_requirements(staging: Path, name: str):
    """No test, no local cloud, no command, no notes: what a stranger could read there is what runs there."""
    found = files(staging / name)
    loose = {one for one in found if not one.startswith("spotwarden/")}
    assert {"main.py", "policy.toml", "requirements.txt"} <= loose <= {
        "main.py", "policy.toml", "price-list.json", "prices.toml", "requirements.txt"
    }  # fmt: skip
    served = {one for one in found if one.startswith("spotwarden/report/assets/")}
    assert bool(served) is (name == "report_jobs")
    assert all(one.endswith((".css", ".js", "LICENSE")) for one in served)
    templates = {one for one in found - served if re.search(r"/(templates|pages)/.*\.(css|j2)$", one)}
    assert bool(templates) is (name in {"answer_notice", "notify_developers", "report_jobs"})
    tables = found & {"spotwarden/recovery/forecast/markets.json"}
    assert bool(tables) is (name == "report_jobs")
    assert all(one.endswith(".py") for one in found - loose - served - templates - tables)
    assert not [one for one in found if re.search(r"(^|/)(cli|localcloud|tests|fakes)/|test_|README", one)]


@pytest.mark.parametrize("name", ["answer_notice", "notify_developers", "report_jobs"])
def test_a_staged_function_has_the_templates_of_the_pages_that_it_shows(staging: Path, name: str):
    """Each file that a template names is there with it, and so are those of folders without code."""
    found = {file.name: file for file in (staging / name).rglob("*") if file.suffix in {".css", ".j2"}}
    named = {
        "answer_notice": {"answer.html.j2"},
        "notify_developers": {"mail.html.j2", "mail.txt.j2"},
        "report_jobs": {"experiments.html.j2", "job.html.j2", "fleet.html.j2", "trust.html.j2"},
    }[name]
    for file in found.values():
        named |= set(re.findall(r'{% (?:extends|include|from) "([^"]+)"', file.read_text(encoding="utf-8")))
    assert "document.html.j2" in named
    assert named <= set(found)


def test_a_function_holds_only_what_its_imports_reach(staging: Path):
    """Governance reads no create script; what nobody prices needs no prices."""
    assert "spotwarden/create_script/request/stored.py" in files(staging / "recover_spot")
    assert "spotwarden/create_script/request/stored.py" not in files(staging / "check_compliance")
    assert "prices.toml" in files(staging / "cap_runtime")
    for name in NAMES:
        priced = "spotwarden/recovery/kinds/price_file.py" in files(staging / name)
        for file in ("prices.toml", "price-list.json"):
            assert (file in files(staging / name)) is priced


@pytest.mark.parametrize("name", NAMES)
def test_every_source_is_compiled_beside_itself(staging: Path, name: str):
    """So that a folder can be started as it is; its time does not matter (PEP 552: flags 1, unchecked)."""
    for file in (staging / name).rglob("*.py"):
        [compiled] = (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc")
        assert int.from_bytes(compiled.read_bytes()[4:8], "little") == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_archive_holds_the_folder_and_its_checksum_is_said(
    staging: Path, staged: dict[str, Any], name: str
):
    """It is deployed under that name, which changes when, and only when, something of the function did."""
    archive = staging / f"{name}.zip"
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == staged[name]["sha256"]
    with zipfile.ZipFile(archive) as packed:
        assert set(packed.namelist()) == files(staging / name)
        assert packed.read("main.py") == (ROOT / "functions" / name / "main.py").read_bytes()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources at another place, all of another day."""
    copy = tmp_path_factory.mktemp("tree")
    ignored = shutil.ignore_patterns("__pycache__", "localcloud", "cli")
    for part in ("infra", "shared", "functions"):
        shutil.copytree(ROOT / part, copy / part, ignore=ignored)
    shutil.copy(ROOT / "requirements.lock", copy)
    for file in copy.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))
    return copy


def test_the_same_sources_give_the_same_bytes_anywhere(tree: Path, tmp_path: Path, staged: dict[str, Any]):
    """Another folder, other times, another order of hashes: an apply without a change deploys nothing."""
    again = stage(tree / "infra/staging/stage.py", tmp_path, "recover_spot", PYTHONHASHSEED="7")
    assert again["recover_spot"] == staged["recover_spot"]


def test_a_changed_policy_is_another_archive(tmp_path: Path, staged: dict[str, Any]):
    """Ops may have a policy of their own."""
    own = tmp_path / "own.toml"
    own.write_text((ROOT / "infra/policy.toml").read_text() + "# ours\n")
    again = stage(STAGE, tmp_path, "check_compliance", "--policy", str(own))
    assert again["check_compliance"]["sha256"] != staged["check_compliance"]["sha256"]
    assert (tmp_path / "check_compliance/policy.toml").read_text().endswith("# ours\n")


@pytest.mark.parametrize("name", NAMES)
def test_requirements_are_the_locks_with_every_hash(staging: Path, name: str):
    """Same versions, at least one hash each, no index: pip refuses whatever else it is offered."""
    lock = (ROOT / "requirements.lock").read_text()
    text = (staging / name / "requirements.txt").read_text()
    blocks = re.split(r"(?m)^(?=[a-z0-9])", text)[1:]
    assert blocks
    for block in blocks:
        first, *hashes = block.rstrip("\n").split(" \\\n")
        assert f"\n{first} \\\n" in lock
        assert hashes
        assert all(re.fullmatch(r" {4}--hash=sha256:[0-9a-f]{64}", one) for one in hashes)


GRPC = {"grpcio", "google-cloud-monitoring", "google-cloud-pubsub"}
WITHOUT_GRPC = {"answer_notice", "notify_developers"}
"""They neither publish nor read metrics, so nothing of it is installed for them."""


@pytest.mark.parametrize("name", NAMES)
def test_a_function_carries_grpc_only_where_it_speaks_it(staging: Path, name: str):
    """It costs a cold start a tenth of a second's processor time, whether it is spoken or not."""
    carried = set(packages(staging / name / "requirements.txt"))
    assert carried & GRPC == (set() if name in WITHOUT_GRPC else GRPC)


@pytest.mark.parametrize("name", NAMES)
def test_a_function_carries_nothing_of_our_tools(staging: Path, name: str):
    """Nor Compute Engine's client, which costs a start more than all the rest together."""
    carried = set(packages(staging / name / "requirements.txt"))
    assert not carried & {"google-cloud-compute", "pip", "pytest", "psutil", "httpx", "aiosmtpd"}
