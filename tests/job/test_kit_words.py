"""What the kit makes of names, numbers and lines, and what it leaves alone."""

import json
from urllib.parse import unquote

import pytest

NUMBERS = {
    "1": 1,
    "-0.5": -0.5,
    "007": 7,
    ".5": 0.5,
    "1.": 1,
    "+3": 3,
    "1e-4": 1e-4,
    "1E5": 1e5,
    "-.25e+2": -25,
    "nan": "nan",
    "NaN": "nan",
    "Infinity": "inf",
    "-inf": "-inf",
}


def test_numbers_become_what_json_has_for_them(shell):
    """However a program spells them; JSON has nothing but text for not a number and the infinities."""
    made = shell.run('for one; do measured "$one" && echo "$REPLY"; done', *NUMBERS)
    assert [json.loads(line) for line in made.splitlines()] == list(NUMBERS.values())


def test_what_is_no_number_is_none(shell):
    """Nothing is guessed from a text that only begins like one."""
    words = ["", "-", ".", "e5", "1e", "1,5", "0x10", "1 2", "--1", "true", "null", "1e5e5", "+-1"]
    assert shell.run('for one; do measured "$one" && echo "$one is $REPLY"; done; true', *words) == ""


@pytest.mark.parametrize("name", ["a b/ü+?#&%.pt", "x" * 300, "日本/ä~_-.", "%2F", "\\n"])
def test_an_object_name_survives_a_url(shell, name):
    """Every byte that means something in a URL is encoded, and comes back the same."""
    made = shell.run('encoded "$1" && printf %s "$REPLY"', name)
    assert unquote(made) == name
    assert made.isascii()
    assert "/" not in made


FIGURES = 'read_progress "$1" || echo refused; figures; echo "{\\"x\\":0$REPLY}"'


def figures(shell, line):
    """What the kit takes over from a line of the program's progress file."""
    said = shell.run(FIGURES, line).splitlines()
    return said[:-1], {name: value for name, value in json.loads(said[-1]).items() if name != "x"}


def test_a_line_of_progress_is_taken_over(shell):
    """Step, steps and checkpoint have places of their own, all other numbers are metrics."""
    line = {"step": 5, "steps": 80, "checkpoint": 'a "b"\\c/ü.pt', "loss": 0.1, "lr": 1e-5, "ok": True}
    assert figures(shell, json.dumps(line)) == (
        [],
        {"step": 5, "steps": 80, "checkpoint": 'a "b"\\c/ü.pt', "metrics": {"loss": 0.1, "lr": 1e-5}},
    )


def test_what_python_writes_for_nan_is_understood(shell):
    """Python's own writer makes NaN and Infinity, which are no JSON."""
    line = json.dumps({"loss": float("nan"), "norm": float("inf"), "step": float("nan")})
    assert figures(shell, line) == ([], {"metrics": {"loss": "nan", "norm": "inf"}})


@pytest.mark.parametrize(
    "line",
    ["", "{", '{"step": 5', '{"step": 5, "lo', "step 5", "[1]", '{"step": 5} and more', '{"deep": {"a": 1}}'],
)
def test_a_line_that_is_no_whole_object_changes_nothing(shell, line):
    """The program may just be writing it."""
    assert figures(shell, line) == (["refused"], {})


def test_a_name_that_is_no_metrics_name_is_left_out(shell):
    """It would become part of a JSON text, of pages and tables."""
    line = json.dumps({"loss": 1, 'a"b': 2, "<b>": 3, "=1+1": 4, "": 5, "n" * 65: 6, "val/acc-1.0": 7})
    assert figures(shell, line) == ([], {"metrics": {"loss": 1, "val/acc-1.0": 7}})


def test_a_commands_words_in_a_progress_file_are_not_run(shell):
    """What a program writes is data."""
    line = json.dumps(
        {"checkpoint": "$(touch hacked) `touch hacked`", "a[$(touch hacked)]": 1, "loss": "$(touch hacked)"}
    )
    _, known = figures(shell, line)
    assert known["checkpoint"].startswith("$(touch")
    assert not (shell.folder / "hacked").exists()


def test_metrics_are_found_in_the_log_by_regular_expressions(shell):
    r"""The newest line counts; `\d` means what it means in Python; a progress bar's returns end lines."""
    shell.set(metrics="loss=loss[=:] ?([\\d.e-]+)\nstep=step (\\d+)\nnone=nothing (x)\nbroken=(((")
    log = shell.folder / "log"
    log.write_text("step 1 loss=0.5\nepoch\rstep 2 loss: 2.5e-1\rstep 3\n")
    refused, said = shell.run('LOG=$1; read_rules; follow_log; figures; echo "$REPLY"', str(log)).splitlines()
    assert refused == "spotwarden: invalid regular expression: broken=((("
    assert json.loads(f'{{"x":0{said}}}') == {"x": 0, "step": 3, "metrics": {"loss": 0.25}}


@pytest.mark.parametrize(
    ("record", "mine"),
    [
        ('{"instances":{"j":"17"},"replaces":{"j":"4"}}', True),
        ('{"instances":{"j":"4"},"replaces":{"j":"17"}}', False),
        ('{"instances":{},"replaces":{"j":"17"},"tries":[{"kind":"start"}]}', True),
        ('{"instances":{},"replaces":{"j":"17"},"tries":[{"kind":"start"},{"kind":"create"}]}', False),
        ('{"instances":{},"replaces":{"j":"17"},"tries":[{"kind":"start"}],"early":true}', False),
        ('{"instances":{},"replaces":{},"tries":[]}', False),
        ('{"instances":{"j":"117"}}', False),
    ],
)
def test_a_record_of_the_ledger_is_this_vms_or_anothers(shell, record, mine):
    """It is where it names the VM as its own, or starts it again in its place."""
    assert shell.run('ID=17; is_mine "$1" && echo mine; true', record) == ("mine\n" if mine else "")


@pytest.mark.parametrize(
    ("path", "stays"),
    [
        *((path, True) for path in ("a", "a/b.c", "..a/b..")),
        *((path, False) for path in ("", "a/", "../a", "a/../../b", "/etc/passwd", "a//b", "./a", "a/..")),
    ],
)
def test_a_name_of_the_bucket_never_leaves_its_folder(shell, path, stays):
    """Other jobs' VMs may write any output's name."""
    assert (shell.attempt('inside "$1"', path).returncode == 0) is stays


def test_a_page_of_a_listing_is_read_whatever_is_in_its_names(shell):
    """One line or pretty, with quotes, brackets and colons in names; a name with a line break is left out."""
    names = ["plain", 'q"uote', "},{", '":', "ü 日本", "back\\slash", "two\nlines"]
    page = {"items": [{"name": name, "size": str(size)} for size, name in enumerate(names)]}
    for indent, token in ((None, "more"), (2, "")):
        said = {**page, "nextPageToken": token} if token else page
        (shell.folder / "page").write_text(json.dumps(said, indent=indent, ensure_ascii=False))
        lines = shell.run('read_page page; echo "$PAGE_TOKEN"').splitlines()
        assert lines == [f"{size}\t{name}" for size, name in enumerate(names[:-1])] + [token]


REGISTERED_MEANWHILE = """
ID=17 REGISTRATION=job/metadata/job-instance-id LOOKS=0
get() {
  LOOKS=$((LOOKS + 1))
  [ "$LOOKS" -gt 1 ] || return 1
  echo 17 >"$2"
}
put() { return 3; }
register; echo $?
register; echo $?
"""


def test_a_vm_that_is_registered_while_it_looks_is_registered(shell):
    """Its launcher writes the same id: who comes second looks again, and the job does not end."""
    assert shell.run(REGISTERED_MEANWHILE).split() == ["2", "0"]
