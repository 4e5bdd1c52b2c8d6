"""Which files go up, in which order; how much of a log; which attempt this is."""

import os
import time

import pytest

from tests.job.shell import BEATING

UPLOADING = """
OUTPUT=$PWD/output SENT_LIST=$PWD/sent HERE=job TRANSPORT=stub
put() {
  case $1 in
    *refused*) return 4 ;;
    *failing*) return 2 ;;
  esac
  echo "${2#job/output/}"
}
"""


@pytest.fixture
def output(shell):
    """The output folder; makes a file of some size that was last written so many seconds ago."""

    def write(name, *, age=60.0, size=10):
        path = shell.folder / "output" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
        if age:
            moment = time.time() - age
            os.utime(path, (moment, moment))
        return path

    return write


def uploaded(shell, *words):
    """The names of what a look at the output uploads."""
    return shell.run(f"{UPLOADING} upload_output 60 {' '.join(words)}").splitlines()


def test_files_go_up_once_and_in_the_order_in_which_they_were_written(shell, output):
    """What points to a checkpoint is written after it, so it goes up after it."""
    output("z/checkpoint", age=30)
    output("a-latest", age=20)
    output("with space", age=40)
    assert uploaded(shell) == ["with space", "z/checkpoint", "a-latest"]
    assert uploaded(shell) == []
    output("a-latest", age=10)
    assert uploaded(shell) == ["a-latest"]


@pytest.mark.parametrize(("answer", "then"), [(0, ["asked", "model"]), (1, ["asked"]), (2, ["asked"])])
def test_who_looks_again_and_again_asks_whether_it_may_write_where_there_is_something_new(
    shell, output, answer, then
):
    """Each question is two requests; nothing goes up from a VM that another one has replaced."""
    ask = f"{UPLOADING} ASKS=1; may_write() {{ echo asked; return {answer}; }}; upload_output 60; true"
    assert shell.run(ask).splitlines() == []
    output("model")
    assert shell.run(ask).splitlines() == then
    assert shell.run(ask).splitlines() == ([] if answer == 0 else then)


@pytest.mark.parametrize(
    ("name", "age", "size", "goes"),
    [
        ("model.pt", 60, 70_000, True),
        ("model.pt", 0, 70_000, False),
        ("model.pt", 0, 65_537, False),
        ("model.pt", 0, 65_536, True),
        ("model.pt", 0, 0, False),
        ("model.pt", 60, 0, True),
        ("curve.csv", 0, 70_000, True),
        ("run/events.out.tfevents.1.host", 0, 70_000, True),
        ("model.pt.tmp", 60, 10, False),
        ("model.part", 60, 10, False),
        ("x.incomplete", 60, 10, False),
    ],
)
def test_a_file_that_may_be_half_waits(shell, output, name, age, size, goes):
    """So does what its name says is not whole; a log is useful at any length."""
    output(name, age=age, size=size)
    assert uploaded(shell) == ([name] if goes else [])


def test_when_a_program_has_ended_by_itself_nothing_waits(shell, output):
    """What it wrote last is whole."""
    output("model.pt", age=0, size=70_000)
    assert uploaded(shell, "9999999999") == ["model.pt"]


def test_a_file_that_fails_holds_up_those_after_it(shell, output):
    """They may point to it; one that is refused for good does not."""
    for age, name in ((50, "first"), (40, "refused"), (30, "second"), (20, "failing"), (10, "third")):
        output(name, age=age)
    done = shell.attempt(f'{UPLOADING} upload_output 60; echo "answer $?"')
    refusal = "spotwarden: the bucket refuses output/refused (status unknown)"
    assert done.stdout.splitlines() == ["first", refusal, "second", "answer 2"]


def test_the_newest_part_of_a_long_log_is_kept(shell):
    """A first line says that the beginning is not there; up to the limit all of it is."""
    shorter = shell.run(
        f"{BEATING} LOG_AT_MOST=1000; head -c 1000 /dev/zero | tr '\\0' a > 3.log; upload_log"
    )
    longer = shell.run(f"{BEATING} LOG_AT_MOST=1000; seq 1000 > 3.log; upload_log")
    assert shorter == "== logs/vm/3.log\n" + "a" * 1000
    assert longer.splitlines()[1].startswith("[the beginning was cut")
    assert longer.endswith("\n999\n1000\n")
    assert len(longer) <= 1000 + len("== logs/vm/3.log\n")


LEDGER = """
ID=17 HERE=job NODE=vm
list() { ls ledger/ | sed 's#^#1\\tjob/metadata/attempts/#' > "$2"; }
get() { [ -e "ledger/${1##*/}" ] && cp "ledger/${1##*/}" "$2"; }
find_attempt; echo "$? $ATTEMPT $NEXT"
"""


@pytest.mark.parametrize(
    ("given", "records", "found"),
    [
        ("2", {}, "0 2 3"),
        ("2", {2: "17"}, "0 2 3"),
        ("2", {2: "17", 3: "5"}, "1 2 3"),
        ("2", {2: "17", 3: "17"}, "0 3 4"),
        ("", {}, "0 1 2"),
        ("", {1: "17"}, "0 1 2"),
        ("", {1: "5"}, "0 2 3"),
        ("", {1: "5", 2: "6", 10: "17"}, "0 10 11"),
        ("nonsense", {1: "17"}, "0 1 2"),
    ],
)
def test_which_attempt_this_is(shell, given, records, found):
    """By the metadata, else by the ledger: a VM that it does not know was launched after all others."""
    (shell.folder / "ledger").mkdir()
    for number, instance in records.items():
        (shell.folder / f"ledger/{number}.json").write_text(f'{{"instances":{{"vm":"{instance}"}}}}')
    shell.set(attempt=given)
    assert shell.run(LEDGER).split("\n")[0] == found
