"""The threat model says what happens, and names the test that plays it."""

import ast
import re
from pathlib import Path

import pytest

from tests.recovery.job_vm import patterns

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "deploy" / "threat-model.md").read_text()
SECTION = re.split(r"^## ", PAGE, flags=re.MULTILINE)[2]
ROWS = [
    [cell.strip() for cell in line.strip("|\n ").split(" | ")]
    for line in SECTION.splitlines()
    if line.startswith("| ") and "they try" not in line and len(line.split(" | ")) > 2
]


def test_the_table_is_found():
    """One that is written in another way would else be held by nothing."""
    assert SECTION.startswith("A stolen job VM")
    assert len(ROWS) >= 20


@pytest.mark.parametrize("row", ROWS, ids=[row[0].replace("`", "")[:50] for row in ROWS])
def test_each_row_names_a_test_that_is_there(row):
    """By its file and its name."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row[-1])
    assert named
    for file, name in named:
        functions = [
            node.name
            for node in ast.walk(ast.parse((ROOT / file).read_text()))
            if isinstance(node, ast.FunctionDef)
        ]
        assert name in functions, f"{file} has no {name}"


def test_each_test_of_a_stolen_vm_stands_in_the_table():
    """What is played is told."""
    tests = ast.parse((ROOT / "tests" / "recovery" / "test_stolen_job_vm.py").read_text())
    names = [node.name for node in tests.body if isinstance(node, ast.FunctionDef)]
    missing = [name for name in names if name.startswith("test_") and f"::{name}`" not in SECTION]
    assert missing == []


@pytest.mark.parametrize("pattern", patterns())
def test_all_that_a_job_vm_may_write_is_listed(pattern):
    """As Terraform has it."""
    said = pattern.replace("{job}", "<job>")
    assert f"`{said}`" in SECTION or f"`{said}…`" in SECTION
