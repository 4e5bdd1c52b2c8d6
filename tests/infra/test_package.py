"""What is installed from a wheel, and what the project says of itself."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml
from trove_classifiers import classifiers

import spotwarden

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this repository."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=ROOT, check=True, timeout=120)
    [built] = folder.glob("*.whl")
    return built


def metadata(wheel):
    """What the wheel says of itself."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def test_the_version_stands_in_one_place(wheel):
    """The wheel's is the one that the command prints."""
    assert "version" not in PROJECT
    assert metadata(wheel)["Version"] == spotwarden.__version__


def test_a_command_from_the_wheel_tells_the_same_version(wheel, tmp_path):
    """Not only the one that is installed for development."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = (
        f"import spotwarden; assert spotwarden.__file__.startswith({str(tmp_path)!r}), spotwarden.__file__\n"
    )
    code += "import sys; from spotwarden.cli.entry import main; sys.argv[0] = 'spotwarden'; main()"
    told = subprocess.run(
        [sys.executable, "-c", code, "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert told.stdout == f"spotwarden {spotwarden.__version__}\n"


@pytest.mark.parametrize("package", ["spotwarden", "localcloud"])
def test_the_types_are_published(wheel, package):
    """Type checkers of others read annotations only where this file says that they are meant (PEP 561)."""
    assert f"{package}/py.typed" in zipfile.ZipFile(wheel).namelist()


@pytest.mark.parametrize("root", ["shared/spotwarden", "infra/localcloud"])
def test_templates_and_what_pages_load_are_in_the_wheel(wheel, root):
    """They stand beside the code that reads them."""
    folder = ROOT / root
    there = {
        file.relative_to(folder.parent).as_posix()
        for ending in ("j2", "css", "js")
        for file in folder.rglob(f"*.{ending}")
    }
    assert there
    assert there <= set(zipfile.ZipFile(wheel).namelist())


def test_the_metadata_are_whole(wheel):
    """Who, what, under which licence, for which Python; and no address that does not exist."""
    said = metadata(wheel)
    assert said["Author"] == "The Spotwarden maintainers"
    assert said["License-Expression"] == "Apache-2.0"
    assert said["License-File"] == "LICENSE"
    assert said["Requires-Python"] == ">=3.11"
    assert said["Keywords"]
    assert said.get_all("Project-URL") is None
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert set(PROJECT["classifiers"]) <= classifiers


def test_ci_runs_every_python_that_the_project_names():
    """The classifiers, the workflow and the oldest that is allowed agree."""
    named = [name.rpartition(" ")[2] for name in PROJECT["classifiers"]]
    assert [version for version in named if re.fullmatch(r"3\.\d+", version)] == PYTHONS
    assert WORKFLOW["jobs"]["check"]["strategy"]["matrix"]["python"] == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_ci_runs_what_everybody_runs():
    """The workflow calls `.ci/run` and the build of the site, and repeats nothing of them."""
    ran = [step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step]
    assert ran[0] == ".ci/run"
    assert "mkdocs build --strict" in ran[-1]


def test_the_changelog_begins_with_this_version():
    """Whoever changes the version says what has changed."""
    page = (ROOT / "docs/CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[([^\]]+)\]", page, re.MULTILINE)[0] == spotwarden.__version__


def test_only_supported_versions_are_named_so():
    """The newest minor version, whatever else the page says."""
    page = (ROOT / ".github/SECURITY.md").read_text(encoding="utf-8")
    minor = spotwarden.__version__.rpartition(".")[0]
    assert re.search(rf"(?m)^\| {re.escape(minor)} .*\| yes \|$", page)
