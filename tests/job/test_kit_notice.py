"""After a notice: what a VM does that was not taken, and what goes up first when there is little time."""

from datetime import UTC, datetime

import pytest

from spotwarden.engine.executor.on_bucket import pretty
from spotwarden.model.attempt import Attempt, AttemptState
from tests.job.test_kit_output import UPLOADING

NOW = "9999"
OUTLIVING = f"""
HERE=job NODE=vm ID=17 NEXT=2 REGISTRATION=job/metadata/vm-instance-id HEARTBEAT=1
NOTICED=0 NOTICE_SECONDS=120
unset SECONDS
SECONDS={NOW} LOOKED=0
sleep() {{ LOOKED=$((LOOKED + 1)); [ "$LOOKED" -lt 4 ] || : >"$STATE/shutdown"; }}
get() {{
  case $1 in
    */attempts/2.json) [ -n "$SUCCESSOR" ] && echo '{{}}' >"$2" ;;
    */vm-instance-id) [ -n "$REGISTERED" ] && echo "$REGISTERED" >"$2" ;;
  esac
}}
preempted() {{ return "$SAYS"; }}
leave() {{ echo "leaves"; }}
mkdir -p "$STATE"
outlives_notice && echo "goes on" || echo "is done"
"""


def outlives(shell, successor="", registered="17", metadata="0", seconds=NOW):
    """What a VM does whose notice is over."""
    script = OUTLIVING.replace(f"SECONDS={NOW}", f"SECONDS={seconds}")
    facts = {"SUCCESSOR": successor, "REGISTERED": registered, "SAYS": metadata}
    said = shell.run(script, **facts).splitlines()
    return [line for line in said if not line.startswith("spotwarden:")]


def test_a_vm_that_was_not_taken_goes_once_its_successor_runs(shell):
    """One of the two is enough, and the job goes on with the newer one."""
    assert outlives(shell, "yes", "42") == ["leaves", "is done"]


def test_a_vm_whose_successor_has_no_vm_yet_stays(shell):
    """It may be all that there ever is of the job; and a delete would look like its owner's."""
    assert outlives(shell, "yes", "17") == ["is done"]


@pytest.mark.parametrize(
    ("metadata", "end"), [("1", "goes on"), ("0", "is done"), ("2", "is done")], ids=["no", "yes", "unknown"]
)
def test_without_a_successor_it_trains_again_when_compute_engine_takes_it_back(shell, metadata, end):
    """While the metadata say that it is taken, or nobody knows, it waits for that."""
    assert outlives(shell, metadata=metadata) == [end]


@pytest.mark.parametrize(("seconds", "end"), [(120 + 60 + 299, "is done"), (120 + 60 + 300, "goes on")])
def test_it_does_not_train_again_while_recovery_may_believe_its_marker(shell, seconds, end):
    """Else a successor could be made for a VM that runs."""
    assert outlives(shell, metadata="1", seconds=seconds) == [end]


@pytest.mark.parametrize("seconds", [120 + 59, 120 + 60])
def test_it_goes_no_sooner_than_a_minute_after_the_notice(shell, seconds):
    """Until then it is being taken, as was said."""
    assert ("leaves" in outlives(shell, "yes", "42", seconds=seconds)) is (seconds == 120 + 60)


@pytest.fixture
def files(shell):
    """Write files of the output, the oldest first; one with a * is large."""

    def write(*names):
        folder = shell.folder / "output"
        for age, name in enumerate(names):
            path = folder / name.rstrip("*")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x" * (70_000 if name.endswith("*") else 10))
            shell.run(f'touch -d "@{1_700_000_000 + age}" "$1"', str(path))
        return [
            line
            for line in shell.run(f'{UPLOADING} upload_output 60 "" "" newest').splitlines()
            if not line.startswith("spotwarden:")
        ]

    return write


@pytest.mark.parametrize(
    ("written", "uploaded"),
    [
        (["old.pt*", "log", "new.pt*", "latest"], ["new.pt", "log", "latest", "old.pt"]),
        (["1/a*", "1/b*", "2/a*", "2/b*", "latest"], ["2/b", "2/a", "latest", "1/a", "1/b"]),
        (["a", "c", "b"], ["a", "c", "b"]),
        (["a*", "b"], ["a", "b"]),
    ],
    ids=["files", "folders", "all small", "one large"],
)
def test_with_little_time_the_newest_checkpoint_goes_up_first(files, written, uploaded):
    """With all of its folder; then what is small and may name it, then older checkpoints."""
    assert files(*written) == uploaded


CATCHERS = """
python3 -c 'import signal, time; signal.signal(signal.SIGUSR1, print); print(1, flush=True); time.sleep(60)' \
  >one &
ONE=$!
sleep 60 & TWO=$!
bash -c 'trap : USR1; echo 1 >three; while :; do read -t 1 <> <(:); done' & THREE=$!
until [ -s one ] && [ -s three ]; do read -r -t 0.1 <> <(:); done
for one in $ONE $TWO $THREE; do catches "$one" 10 && echo yes || echo no; done
kill -KILL $ONE $TWO $THREE
"""


def test_a_process_catches_a_signal_by_its_handler(shell):
    """One without a handler would die. So may a bash: it has handlers of its own."""
    assert shell.run(CATCHERS).splitlines() == ["yes", "no", "no"]


CREATED = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
FINDING = """
HERE=job NODE=vm ID=17 NODES=1 ATTEMPT=2 NOTICE_SECONDS=120
get() { printf %s "$RECORD" >"$2"; }
find_predecessor >said; echo "$PREDECESSOR ${BEGIN_AT:-}"
"""


@pytest.mark.parametrize(
    ("early", "replaced", "found"),
    [
        (True, {"vm": "16"}, f"16 {int(CREATED.timestamp()) + 180}"),
        (False, {"vm": "16"}, " "),
        (True, {"vm": "17"}, " "),
        (True, {"other": "16"}, " "),
    ],
    ids=["early", "not early", "itself", "another node"],
)
def test_a_successor_knows_its_predecessor_by_the_record(shell, early, replaced, found):
    """As the executor writes it; it waits until a minute after a notice that began with the claim."""
    claim = Attempt(
        job="job", number=2, state=AttemptState.CLAIMED, created=CREATED, updated=CREATED,
        early=early, replaces=replaced,
    )  # fmt: skip
    assert shell.run(FINDING, RECORD=pretty(claim).decode()) == f"{found}\n"
