"""What a program writes in its last seconds, and what of it goes up."""

import pytest

from tests.job.test_kit_output import UPLOADING

LARGE = 70_000


def test_a_training_below_a_shell_has_its_seconds_as_well(lab):
    """Bash ends at SIGTERM at once; what it has started writes its checkpoint, and exits with 143."""
    inner = 'trap "sleep 1; seq 20000 > model; exit 143" TERM; echo here; while :; do sleep 0.1; done'
    vm = lab.job(f"cd \"$SPOTWARDEN_OUTPUT\" && bash -c '{inner}'; echo after", spotwarden_grace="6")
    vm.until_said("here")
    vm.preempt()
    vm.until_gone()
    assert (vm.object("output/model") or "").endswith("\n20000\n"), vm.said
    assert "is killed" not in vm.said


def test_the_last_words_of_a_program_that_fails_are_in_its_log(lab):
    """They are why anybody looks."""
    vm = lab.job("seq 3000; echo traceback >&2; exit 5", spotwarden_heartbeat="60")
    assert vm.status() == "5"
    assert (vm.object(f"metadata/logs/{vm.name}/1.log") or "").endswith("3000\ntraceback\n")


@pytest.fixture
def model(shell):
    """A large file that was written this moment; nobody knows whether to its end."""
    path = shell.folder / "output" / "model.pt"
    path.parent.mkdir()
    path.write_bytes(b"x" * LARGE)
    return path


def uploaded(shell, before="", *words):
    """The names of what a look at the output uploads."""
    return shell.run(f"{UPLOADING} {before} upload_output 60 {' '.join(words)}").splitlines()


def test_a_file_that_was_renamed_is_whole(shell, model):
    """Renaming changes the time of the inode alone: so a checkpoint that is written with care never waits."""
    assert uploaded(shell) == []
    whole = model.with_name("last.pt")
    while model.stat().st_mtime_ns == model.stat().st_ctime_ns:
        model.rename(whole).rename(model)
    assert uploaded(shell) == ["model.pt"]


def test_what_was_written_after_sigterm_is_whole_if_the_program_then_ended(shell, model):
    """Who does not care for the signal is dead by then; what was written before it may be cut by it."""
    written = model.stat().st_mtime_ns
    for after, goes in ((written - 1, True), (written, False), (written + 1, False)):
        moment = f"{after // 10**9}.{after % 10**9:09d}0"
        assert uploaded(shell, f"WHOLE_AFTER={moment};") == (["model.pt"] if goes else [])


def test_at_the_end_of_a_killed_program_a_file_that_was_never_uploaded_goes_up(shell, model):
    """Better one that may be half than none at all; over a whole one of before it does not go."""
    assert uploaded(shell, "", "''", "new") == ["model.pt"]
    model.write_bytes(b"y" * LARGE)
    assert uploaded(shell, "", "''", "new") == []


def test_blanks_at_the_ends_of_a_name_belong_to_it(shell):
    """One such file must not hold up all others."""
    for name in (" first", "last ", "in  the middle", "tab\t"):
        path = shell.folder / "output" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert sorted(uploaded(shell)) == [" first", "in  the middle", "last ", "tab\t"]
    assert uploaded(shell) == []


def test_a_file_that_was_deleted_meanwhile_holds_up_nothing(shell):
    """Trainings keep their newest few checkpoints."""
    (shell.folder / "output").mkdir()
    for name in ("gone", "newer"):
        (shell.folder / "output" / name).write_text("x")
    put = 'put() { [ -e "$1" ] || return 2; echo "${2#job/output/}"; }; '
    look = 'look_at_output() { printf "1.0 1 gone\\0002.0 1 newer\\0"; }; rm output/gone; '
    assert uploaded(shell, put + look) == ["newer"]


@pytest.mark.parametrize(
    ("sizes", "count"),
    [((1, 1, 1), 3), ((900, 100, 1), 2), ((900, 101, 1), 1), ((5000, 1), 1), ((1,) * 300, 200)],
)
def test_files_go_up_in_batches_that_are_soon_done(shell, sizes, count):
    """Of a batch that is cut nothing is noted, and all of it goes up once more, in the last seconds maybe."""
    looks = " ".join(f"'1.0 {size}'" for size in sizes)
    script = f"TRANSPORT=curl BATCH_BYTES=1000 paths=({looks}) looks=({looks}); count_batch 0; echo $count"
    assert shell.run(script) == f"{count}\n"


LEDGER = """
HERE=job NODE=vm ID=17
list() { for one in "${!LEDGER[@]}"; do printf '9\\tjob/metadata/attempts/%s.json\\n' "$one"; done >"$2"; }
get() { one=${1##*/}; one=${LEDGER[${one%.json}]:-}; [ -n "$one" ] || return 1; printf '%s' "$one" >"$2"; }
find_attempt; echo "$? $ATTEMPT"
"""
MINE, OTHERS = '{"instances":{"vm":"17"}}', '{"instances":{"vm":"42"}}'
READABLE = '{\n  "instances": {},\n  "replaces": {\n    "vm": "17"\n  },\n  "tries": [{"kind": "start"}]\n}'
"""As the executor writes them."""
STARTED = '{"instances":{},"replaces":{"vm":"17"},"tries":[{"kind":"start"}]}'


@pytest.mark.parametrize(
    ("records", "answer"),
    [
        ((), "0 1"),
        ((MINE,), "0 1"),
        ((OTHERS,), "0 2"),
        ((OTHERS, OTHERS), "0 3"),
        ((MINE, STARTED), "0 2"),
        ((MINE, OTHERS), "1 1"),
        ((OTHERS, MINE, OTHERS, OTHERS), "1 2"),
        ((MINE, READABLE), "0 2"),
    ],
)
def test_a_vm_of_an_earlier_attempt_that_is_started_again_does_not_take_the_job_over(shell, records, answer):
    """One that the ledger has never heard of is the newest: its developer has launched it by hand."""
    ledger = " ".join(f"[{number}]='{record}'" for number, record in enumerate(records, 1))
    assert shell.run(f"LEDGER=({ledger}); {LEDGER}") == f"{answer}\n"


@pytest.mark.parametrize(
    ("pattern", "line", "value"),
    [
        (r"loss ([-\d.]+)", "loss -0.5", "-0.5"),
        (r"loss ([+\-.\de]+)", "loss -5e-1,", "-5e-1"),
        (r"loss ([^\s,]+)", "loss nan, x", '"nan"'),
        (r"loss (\S+)", "loss inf x", '"inf"'),
        (r"\[\w+\] loss[\s:]+([\d]+)", "[step_1] loss: 3", "3"),
        (r"loss[]\d]*=(\d)", "loss]4=5", "5"),
        (r"loss\.x ([[:digit:]\.]+)", "loss.x 2.5", "2.5"),
    ],
)
def test_classes_are_understood_within_brackets_too(shell, pattern, line, value):
    """So are the escapes that Python wants there, and bash takes for themselves."""
    shell.set(metrics=f"loss={pattern}")
    (shell.folder / "log").write_text(f"{line}\n")
    assert shell.run('LOG=$PWD/log; read_rules; follow_log; echo "${METRICS[loss]:-}"') == f"{value}\n"


def test_a_vm_of_another_name_writes_as_the_node_that_it_is_and_deletes_itself_alone(lab):
    """Another VM of its zone has the node's name."""
    other = lab.job("sleep 600", name="twin")
    vm = lab.boot(
        "twin-alt",
        spotwarden_job="apart",
        spotwarden_node="twin",
        spotwarden_command="echo hello",
        spotwarden_attempt="3",
    )
    assert vm.status() == "0"
    vm.until_gone()
    assert lab.read("apart/metadata/twin-instance-id") == vm.id
    assert "hello" in (vm.object("metadata/logs/twin/3.log") or "")
    assert lab.status(other.name) == "RUNNING"
