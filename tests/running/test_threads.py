"""No helper thread keeps a process from ending."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("shared", "functions", "infra", "tests")


def threads(text: str) -> Iterator[ast.Call]:
    """Each thread and timer that a file makes."""
    if "Thread(" not in text and "Timer(" not in text:
        return  # most files make none, and need not be parsed
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("Thread", "Timer"):
            yield node


def test_every_thread_is_a_daemon():
    """One that is none keeps the process alive when whoever should have joined it has failed."""
    found = []
    for file in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        for call in threads(text):
            said = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
            if said.get("daemon") != "True" and ".daemon = True" not in text:
                found.append(f"{file.relative_to(ROOT)}:{call.lineno}")
    assert found == []
