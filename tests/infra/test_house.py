"""The house keeps its own rules: folders, manifest, policy and pages agree."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ROWS = yaml.safe_load((ROOT / "infra/functions.yaml").read_text())["functions"]
FOLDERS = sorted(file.parent for file in (ROOT / "functions").glob("*/main.py"))
SOURCES = sorted([*(ROOT / "shared/spotwarden").rglob("*.py"), *(ROOT / "infra/localcloud").rglob("*.py")])
TOP = {
    ".ci", ".github", ".gitignore", ".pre-commit-config.yaml", "LICENSE", "README.md", "deploy.sh", "docs",
    "functions", "infra", "pyproject.toml", "requirements.lock", "shared", "tests",
}  # fmt: skip


def test_the_manifest_has_one_row_for_each_folder():
    """No function without a row, no row without a function."""
    assert sorted(row["name"] for row in ROWS) == [folder.name for folder in FOLDERS]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_entry_point_is_short_and_named_after_its_folder(folder):
    """10 to 25 lines: an entry and a call."""
    text = (folder / "main.py").read_text()
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert folder.name in names
    assert 10 <= len(text.splitlines()) <= 25


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_function_imports_no_sibling(folder):
    """A folder is deployed by itself: it imports packages, never a file beside it."""
    tree = ast.parse((folder / "main.py").read_text())
    imports = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    siblings = {file.stem for file in folder.glob("*.py")}
    assert not siblings & {name.split(".")[0] for name in imports}


def test_the_page_of_functions_names_every_one_as_the_manifest_does():
    """Its table says what each does, in the manifest's words."""
    page = (ROOT / "docs/functions.md").read_text(encoding="utf-8")
    for row in ROWS:
        assert f"[`{row['name']}`](../functions/{row['name']}/)" in page
        assert row["does"] in page


def test_the_readme_is_read_to_its_end():
    """It has at most 90 lines, and each file that it links to is there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 90
    targets = re.findall(r"\]\(([^)#]+)", readme)
    assert "docs/README.md" in targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


@cache
def outline(source):
    """The public classes of a file, and its functions with their lengths; each file is parsed once."""
    nodes = [*ast.walk(ast.parse(source.read_text(encoding="utf-8")))]
    classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = [(function.name, (function.end_lineno or 0) - function.lineno) for function in functions]
    return [name for name in classes if not name.startswith("_")], lengths


@pytest.mark.parametrize("program", ["shared/spotwarden", "infra/localcloud"])
def test_a_public_class_name_exists_once(program):
    """Whoever reads or searches a name finds one thing: in the product, and in the local cloud."""
    places = defaultdict(list)
    for file in sorted((ROOT / program).rglob("*.py")):
        for name in outline(file)[0]:
            places[name].append(file.relative_to(ROOT).as_posix())
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


@pytest.mark.parametrize("source", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_file_is_one_room(source):
    """Functions stay under 50 lines; a file is cut where there are two ideas, not at a line count."""
    assert [name for name, length in outline(source)[1] if length >= 50] == []


def test_nothing_else_stands_at_the_top():
    """Whoever opens the repository sees few things, and knows each."""
    tracked = {path.name for path in ROOT.iterdir() if not _ignored(path.name)}
    assert tracked <= TOP


def _ignored(name: str) -> bool:
    caches = {".git", ".hypothesis", ".import_linter_cache", "__pycache__", "build", "dist"}
    return name in caches or name.startswith(".venv") or name.endswith("_cache")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_what_a_function_needs_is_in_the_lock(folder):
    """Its requirements are names only; versions and hashes come from the one lock."""
    locked = {
        line.split("==")[0] for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line
    }
    lines = (folder / "requirements.txt").read_text().splitlines()
    needed = {line for line in lines if not line.startswith("#")}
    assert "functions-framework" in needed
    assert needed <= locked
