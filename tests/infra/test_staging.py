"""One lock, and what is taken out of it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUBSET = ROOT / "infra/staging/subset.py"
LOCK = ROOT / "requirements.lock"


def subset(*extras: str, lock: Path = LOCK) -> subprocess.CompletedProcess[str]:
    """Run it as deploy.sh does: any Python, nothing installed, no site packages."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(SUBSET), str(lock), str(ROOT / "pyproject.toml"), *extras],
        capture_output=True,
        text=True,
        check=False,
    )


def names(text: str) -> set[str]:
    """The packages that are named."""
    return set(re.findall(r"(?m)^([a-z0-9-]+)==", text))


def test_the_product_alone_needs_neither_the_local_cloud_nor_the_tests():
    """What a function could need, and no more."""
    found = names(subset().stdout)
    assert {"google-cloud-storage", "msgspec", "protobuf"} <= found
    assert not {"psutil", "pytest", "mypy", "hatchling"} & found


def test_an_extra_brings_what_it_asks_for_and_what_that_asks_for():
    """Roots and everything below them."""
    found = names(subset("local").stdout)
    assert {"uvicorn", "h11", "psutil", "hatchling", "pathspec"} <= found
    assert "pytest" not in found


def test_all_extras_are_the_whole_lock():
    """Nothing in the lock is there for nobody."""
    assert names(subset("local", "dev").stdout) == names(LOCK.read_text())


def test_a_package_that_is_locked_for_each_range_of_pythons_keeps_all_its_versions(tmp_path):
    """Otherwise it would be missing where the Python is an older one."""
    forked = tmp_path / "forked.lock"
    older = 'click==1.0 ; python_full_version < "3.11.5"\n    # via spotwarden (pyproject.toml)\n'
    forked.write_text(re.sub(r"(?m)^(?=click==)", older, LOCK.read_text()))
    assert len(re.findall(r"(?m)^click==", subset(lock=forked).stdout)) == 2


def test_every_package_keeps_its_hashes():
    """Pip refuses a file in which one is missing."""
    text = subset("local").stdout
    assert all("--hash=sha256:" in block for block in re.split(r"(?m)^(?=[a-z0-9])", text)[1:])


def test_a_lock_older_than_the_project_is_refused(tmp_path):
    """The message names what is missing."""
    old = tmp_path / "old.lock"
    old.write_text(re.sub(r"(?ms)^click==.*?(?=^[a-z])", "", LOCK.read_text()))
    refused = subset(lock=old)
    assert refused.returncode == 1
    assert "click" in refused.stderr


def test_the_lock_names_no_index_and_every_hash():
    """A registry's address does not belong into the repository."""
    text = LOCK.read_text()
    assert "://" not in text
    assert "index-url https" not in text


@pytest.mark.parametrize("script", ["deploy.sh", "tests/run", ".ci/run"])
def test_a_script_can_be_started(script):
    """They are executable, as the README says them."""
    assert (ROOT / script).stat().st_mode & 0o111


@pytest.mark.parametrize(
    ("words", "says"),
    [([], "deploy.sh local"), (["nonsense"], "deploy.sh local")],
)
def test_deploy_refuses_what_it_cannot_do(words, says):
    """Nothing is pretended: exit 2, and what there is instead."""
    refused = subprocess.run([str(ROOT / "deploy.sh"), *words], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert says in refused.stderr
