"""What docs/CONTRIBUTING.md tells people to do works: its example rule is run, its places are there."""

import re
import sys
from importlib import import_module
from pathlib import Path

import msgspec
import pytest

from spotwarden.model import policy, rule_limits

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = dict(
    re.findall(r"<!-- (\w+\.py)[^>]*-->\n```python\n(.*?)```", PAGE, re.DOTALL),
)
"""The files of the example rule, by name."""
PLACES = re.findall(r"^\| `([^`]+/[^`]+)` \| `([^`]+)`", PAGE, re.MULTILINE)
"""Rows of tables that name a file and what stands in it."""
TOLD = re.findall(r"^def (test_\w+)", EXAMPLES["test_rule.py"], re.MULTILINE)
FOLDERS = {"shared", "infra", "tests", "functions", "docs"}


@pytest.fixture
def example(monkeypatch, tmp_path):
    """The page's tests by name, with the rule in its folder and registered as the page says."""
    folder = tmp_path / "unlabelled"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "rule.py").write_text(EXAMPLES["rule.py"], encoding="utf-8")
    package = import_module("spotwarden.governance")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    limits = run("limits.py", {**vars(rule_limits)})["UnlabelledLimits"]
    field = ("unlabelled", limits, limits())
    with_it = msgspec.defstruct("Policy", [field], bases=(policy.Policy,), frozen=True, kw_only=True)
    monkeypatch.setattr(rule_limits, "UnlabelledLimits", limits, raising=False)
    monkeypatch.setattr(policy, "Policy", with_it)
    monkeypatch.setitem(policy.RULES, "unlabelled", limits)
    yield run("test_rule.py", {})
    for module in ("spotwarden.governance.unlabelled", "spotwarden.governance.unlabelled.rule"):
        sys.modules.pop(module, None)
    vars(package).pop("unlabelled", None)


def run(name, names):
    """The names that an example of the page defines, run with these."""
    names["__name__"] = name
    exec(compile(EXAMPLES[name], "docs/CONTRIBUTING.md", "exec"), names)  # noqa: S102 - the page's own code
    return names


@pytest.mark.parametrize("name", TOLD)
def test_the_example_rule_passes_the_tests_that_the_page_gives(example, name):
    """Whoever starts from the page starts from what works."""
    example[name]()


def test_the_page_has_a_rule_and_tests_of_both_sides():
    """Else nothing is run above."""
    assert list(EXAMPLES) == ["limits.py", "rule.py", "test_rule.py"]
    assert len(TOLD) >= 5


@pytest.mark.parametrize(("path", "what"), PLACES, ids=[f"{path}:{what}" for path, what in PLACES])
def test_a_place_of_the_page_is_there(path, what):
    """The file, and in it what the page says to look for."""
    assert what in (ROOT / path).read_text(encoding="utf-8")


def test_every_path_of_the_page_is_there():
    """But for the folder that the reader makes, and for what stands for any name."""
    spans = re.findall(r"`([\w./-]+/[\w./-]*)`", PAGE)
    paths = {span for span in spans if span.split("/")[0] in FOLDERS and "unlabelled" not in span}
    assert len(paths) > 20
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_the_page_names_every_registration_of_a_rule():
    """Each module that has all of today's rules by name: their limits, their subjects, and their samples."""
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "shared/spotwarden").rglob("*.py")
        if all(f'"{rule}"' in path.read_text(encoding="utf-8") for rule in ("stall", "job_cap", "compliance"))
    }
    assert len(files) == 3
    assert [path for path in files if f"`{path}`" not in PAGE] == []
