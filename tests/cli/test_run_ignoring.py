"""What is no code: as git itself leaves it out."""

import os
import subprocess

import pytest

from spotwarden.cli.launching.ignoring import walk

PATHS = [
    "a.log", "keep.log", "b/a.log", "b/x.txt", "data/big.bin", "data/small.txt", "doc/frotz/x",
    "doc/y/frotz/z", "build/out", "src/build/out", "src/a.tmp", "src/[x].py", "c!d", "#hash", "!bang",
    "abc/def/x", "abc/q/def/y", "w/x1.py", "w/x2.py", "w/xa.py", "deep/one/two/three.txt",
    "deep/one/keep/three.txt", "v/t.ckpt", "v/best.ckpt", "p/q/r/s", "Makefile", "x.pyc", "a/foo/bar",
    "foo/bar", "z/foo/bar/baz", "out/keep/me.txt", "über.txt", "é/x", "q]x.py", "n-a.txt", "n-b.txt",
    "star*.txt", "stars.txt",
]  # fmt: skip
IGNORED = """\
# a comment
*.log
!keep.log
/data/*
!/data/small.txt
doc/frotz/
build/
*.tmp
\\#hash
\\!bang
abc/**/def
w/x[0-9].py
**/two
trail\\ \u0020
foo/bar
p/**
src/\\[x\\].py
x.py?
out/
!out/keep/me.txt
é/
q[]]x.py
*.ckpt
n-[!a].txt
star\\*.txt
/
!
"""


@pytest.fixture
def repository(tmp_path):
    """A repository with many files and a rule for most of them."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name in [*PATHS, "trail ", "two words.txt"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / ".gitignore").write_text(IGNORED)
    (tmp_path / "v/.gitignore").write_text("*.txt\n!best.ckpt\n")
    return tmp_path


def kept(folder) -> set[str]:
    """The files that are code, by their way from the folder."""
    found = (one for one in walk(folder) if not one.left_out and one.path.is_file())
    return {one.path.relative_to(folder.resolve()).as_posix() for one in found}


def listed(repository, *below) -> set[str]:
    """What git does not ignore."""
    words = ["git", "-C", str(repository), "ls-files", "-co", "--exclude-standard", "-z", *below]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return set(filter(None, done.stdout.split("\0")))


def test_git_leaves_out_the_same(repository):
    """Of the whole, and of a part of it, for which the rules above count as well."""
    assert kept(repository) == listed(repository)
    assert kept(repository / "src") == {name.removeprefix("src/") for name in listed(repository, "src")}


def test_what_is_above_the_repository_says_nothing(tmp_path):
    """As in git; each folder between the repository's top and the one that is packed does."""
    (tmp_path / ".gitignore").write_text("*.py\n")
    repository = tmp_path / "repository"
    for name in ("a/b/x.py", "a/b/x.log", "a/b/x.tmp"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("x")
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / ".gitignore").write_text("*.log\n")
    (repository / "a/.gitignore").write_text("*.tmp\n")
    assert kept(repository / "a/b") == {"x.py"}


def test_our_own_file_says_the_last_word(tmp_path):
    """It leaves out more, and brings back what git leaves out."""
    for name in ("a.log", "b.log", "notes.md"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / ".spotwardenignore").write_text("*.md\n!b.log\n")
    assert kept(tmp_path) == {"b.log", ".gitignore", ".spotwardenignore"}


def test_a_folder_that_goes_another_way_is_left_out(tmp_path):
    """An input is sent once, not in the code as well."""
    for name in ("data/x", "train.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    found = {one.path.name: one.left_out for one in walk(tmp_path, {(tmp_path / "data").resolve()})}
    assert found == {"data": True, "train.py": False}


def test_a_file_of_rules_that_is_no_text_has_none(tmp_path):
    """Nobody is turned away for it."""
    (tmp_path / ".gitignore").write_bytes(b"\xff\xfe*\n")
    (tmp_path / "x").write_text("x")
    assert kept(tmp_path) == {".gitignore", "x"}


@pytest.mark.parametrize("line", ["", "   ", "# a comment", "/", "!", "!/", "[z-a]"])
def test_a_line_that_says_nothing_is_no_rule(tmp_path, line):
    """As in git; what the others say holds."""
    (tmp_path / ".gitignore").write_text(f"*.log\n{line}\n")
    for name in ("a", "z", "a.log"):
        (tmp_path / name).write_text("x")
    assert kept(tmp_path) == {".gitignore", "a", "z"}


def test_a_name_that_is_not_utf_8_is_a_name(tmp_path):
    """Linux takes any bytes; such a file is packed, or left out, as any other."""
    (tmp_path / ".gitignore").write_text("*.log\n")
    for name in (b"\xff", b"\xff.log"):
        (tmp_path / os.fsdecode(name)).write_text("x")
    assert kept(tmp_path) == {".gitignore", os.fsdecode(b"\xff")}


def test_a_folder_that_was_asked_for_is_packed_though_git_leaves_it_out(repository):
    """Code that is generated, say; the other rules of the folders above hold in it."""
    (repository / "build/a.log").write_text("x")
    assert kept(repository / "build") == {"out"}
