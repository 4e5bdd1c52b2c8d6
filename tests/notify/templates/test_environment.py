"""Templates are files: what is filled in is escaped, and nothing that is missing passes for empty."""

import ast
import re
import sys
from pathlib import Path

import pytest
from jinja2 import UndefinedError, meta

from spotwarden.notify.templates.environment import environment

ROOT = Path(__file__).resolve().parents[3]
TREES = ("shared/spotwarden", "infra/localcloud")
FILES = sorted(file for tree in TREES for file in (ROOT / tree).rglob("*.j2"))
MARKUP = re.compile(
    r"<!doctype|</(html|head|body|main|section|div|p|h[1-6]|ul|li|table|tr|td|form|style)>", re.IGNORECASE
)
GOOGLES = {"infra/localcloud/machines/metadata/refusal.py"}
"""The pages of Google's metadata server, to the message."""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a template of each sort."""
    folder = tmp_path / "made_up"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name in ("note.html.j2", "note.txt.j2", "note.css"):
        (folder / name).write_text("{{ said }}")
    (folder / "whole.html.j2").write_text(
        '{% extends "document.html.j2" %}{% block body %}here{% endblock %}'
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "made_up"
    sys.modules.pop("made_up", None)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("note.html.j2", "&lt;b&gt;"), ("note.css", "&lt;b&gt;"), ("note.txt.j2", "<b>")],
)
def test_a_text_is_escaped_everywhere_but_in_plain_text(package, name, shown):
    """Also in a file of a kind that nobody thought of."""
    assert environment(package).get_template(name).render(said="<b>") == shown


def test_a_name_that_nobody_gave_is_an_error(package):
    """A mail with a gap where the VM's name should be would be sent."""
    with pytest.raises(UndefinedError):
        environment(package).get_template("note.txt.j2").render()


def test_every_page_has_the_same_document_around_it(package):
    """It is read in the package of the mails, whichever package asks."""
    page = environment(package).get_template("whole.html.j2").render()
    assert page.startswith('<!doctype html>\n<html lang="en">\n')
    assert page.endswith("<body>\nhere</body>\n</html>")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_template_refers_to_templates_that_are_there(file):
    """And it can be read at all."""
    text = file.read_text(encoding="utf-8")
    for name in meta.find_referenced_templates(environment("spotwarden.notify.templates").parse(text)):
        beside = [file.with_name(str(name)), ROOT / TREES[0] / "notify/templates/shared" / str(name)]
        assert any(one.is_file() for one in beside), name


def markup(source: str) -> list[str]:
    """The texts of a module that hold HTML, but for its docstrings."""
    if not MARKUP.search(source):
        return []  # most modules hold none, and need not be parsed
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in bare)
    return [node.value for node in texts if isinstance(node.value, str) and MARKUP.search(node.value)]


@pytest.mark.parametrize("tree", TREES)
def test_no_page_and_no_mail_stands_in_python(tree):
    """It is a file that an editor knows as HTML; single marked words, such as a `<time>`, are no page."""
    files = (ROOT / tree).rglob("*.py")
    found = {file.relative_to(ROOT).as_posix() for file in files if markup(file.read_text(encoding="utf-8"))}
    assert found - GOOGLES == set()


def test_markup_in_a_text_is_found():
    """In an f-string, too; and not in a docstring."""
    assert markup('PAGE = f"<p>{said}</p>"')
    assert not markup('"""Gives a <p>."""\nx = "a < b > c"')
