"""Every command there is: its help, its examples, and that a mistake never ends in a traceback."""

import re
import shlex
import subprocess
import sys
import threading

import click
import pytest
from click.shell_completion import ShellComplete, get_completion_class
from click.testing import CliRunner

from spotwarden.cli import completing
from spotwarden.cli.main import COMMANDS, main


def walk(group, path=()):
    """Every command and group below this one, with the words that call it."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from walk(command, (*path, name))


ALL = dict(walk(main))
OURS = {path: one for path, one in ALL.items() if path[0] != "local"}
"""`local` has a world of its own, and tests of its own."""


def named(paths):
    """What a test is called after."""
    return [" ".join(path) for path in paths]


@pytest.mark.parametrize("path", OURS, ids=named(OURS))
def test_every_command_explains_itself(path):
    """In a sentence that ends, by -h as by --help."""
    done = CliRunner().invoke(main, [*path, "-h"])
    assert done.exit_code == 0, done.output
    first = (OURS[path].help or "").strip().splitlines()[0]
    assert first.endswith((".", ":", "?")) or len((OURS[path].help or "").splitlines()) > 1, first


WIDEST = 60


@pytest.mark.parametrize("path", ALL, ids=named(ALL))
def test_the_first_line_of_a_help_fits_beside_the_commands_name(path):
    """A list of commands is read at a glance, on a narrow terminal too."""
    first = (ALL[path].help or "").strip().partition("\n\n")[0]
    assert len(" ".join(first.split())) <= WIDEST, first


def test_the_list_of_commands_fits_a_narrow_terminal():
    """What stands there beside each name."""
    assert {name: len(told) for name, (_, told) in COMMANDS.items() if len(told) > WIDEST} == {}


@pytest.mark.parametrize("path", [one for one in OURS if len(one) == 1], ids=lambda path: path[0])
def test_every_command_of_the_first_row_shows_examples(path):
    """Lines that can be typed: each word of theirs is a command, each option one that it has."""
    help_text = OURS[path].help or ""
    assert "Examples:" in help_text, path
    for line in help_text.partition("Examples:")[2].splitlines():
        for typed in re.findall(r"spotwarden [a-z][^|;&)`\"]*", line.partition("  #")[0]):
            _is_one(shlex.split(typed.partition(" -- ")[0]))


def _is_one(words):
    """The words of a command line: commands as far as there are groups, then only options that exist."""
    command = main
    rest = words[1:]
    while isinstance(command, click.Group):
        name = rest.pop(0)
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"{words}: there is no command {name!r}"
        command = found
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)} | {
        "-h",
        "--help",
    }
    for word in rest:
        option = word.partition("=")[0]
        assert not option.startswith("-") or option in known, f"{words}: there is no option {word}"


@pytest.mark.parametrize("path", OURS, ids=named(OURS))
def test_a_mistake_is_told_in_words(path, monkeypatch, tmp_path):
    """An option that is none, and a cloud that is not configured: status 1 or 2, and no traceback."""
    for name in ("PROJECT", "BUCKET", "NOTICES", "POLICY"):
        monkeypatch.delenv(f"SPOTWARDEN_{name}", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, [*path, "--no-such-option"])
    assert done.exit_code == 2, done.output
    if isinstance(OURS[path], click.Group) or path[0] in {"config", "completion"}:
        return
    required = [one for one in OURS[path].params if isinstance(one, click.Argument) and one.required]
    done = CliRunner().invoke(main, [*path, *("x" for _ in required)])
    assert done.exit_code in {1, 2}, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception


def test_help_imports_no_command():
    """It is quick because of that: no command, no library of Google's, no shell grammar."""
    script = (
        "import sys; from spotwarden.cli.main import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "heavy = ('google.auth', 'google.api_core', 'tree_sitter', 'spotwarden.gcp', 'spotwarden.decide',"
        " 'spotwarden.engine')\n"
        "sys.exit(str([one for one in sys.modules if one.startswith(heavy)] or 0))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "0", done.stderr


# --- completion ---


def offered(*words):
    """What a shell is offered for the last of these words."""
    return [
        one.value
        for one in ShellComplete(main, {}, "spotwarden", "_X").get_completions(list(words[:-1]), words[-1])
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_given_what_it_needs(shell):
    """The script that click has for it, under our own name."""
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0, done.output
    assert "_SPOTWARDEN_COMPLETE" in done.output
    assert f"{shell}_complete" in done.output
    assert get_completion_class(shell) is not None


def test_commands_are_offered_from_the_table():
    """By what they begin with, none of them imported."""
    assert offered("") == list(COMMANDS)
    assert offered("sto") == ["stop"]
    assert offered("config", "un") == ["unset"]
    assert "--yes" in offered("stop", "x", "--")


def test_jobs_are_offered_from_the_bucket(workstation, monkeypatch):
    """Those that begin so; what is ours is no job."""
    for name, value in workstation._environment.items():
        monkeypatch.setenv(name, value)
    for name in (
        "train-1/output/a",
        "train-2/my-code.tar",
        "other/output/b",
        "spotwarden/open/x.json",
        "Bad One/x",
    ):
        workstation.store.write(name, b"", generation=None)
    assert offered("stop", "train-") == ["train-1", "train-2"]
    assert offered("keep", "") == ["other", "train-1", "train-2"]


def test_a_bucket_that_cannot_be_asked_offers_nothing(monkeypatch, tmp_path):
    """Neither where nothing is configured, nor where no answer comes in time."""
    for name in ("PROJECT", "BUCKET", "NOTICES"):
        monkeypatch.delenv(f"SPOTWARDEN_{name}", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert offered("stop", "") == []


def test_a_bucket_that_is_slow_offers_nothing(monkeypatch):
    """A shell that waits is felt as one that hangs."""
    late = threading.Event()
    monkeypatch.setattr(completing, "_ask", lambda _found: late.wait(30))
    assert completing.within(0.01) == []
    late.set()
