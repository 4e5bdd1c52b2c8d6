"""The bucket by each of the three ways, whichever an image has."""

from spotwarden.recovery.folder.heartbeats import beat_beside
from tests.job.shell import functions

EACH = """
mkdir -p "$STATE" && cd "$HOME"
BUCKET=jobs TOKEN_UNTIL=0 API=$STORAGE_EMULATOR_HOST
echo new > new; echo newer > newer
for TRANSPORT in curl gcloud gsutil; do
  at=ways/$TRANSPORT
  put new "$at/deep er/ü" 0; echo "created $?"
  put newer "$at/deep er/ü" 0; echo "not again $?"
  put newer "$at/other"; echo "any $?"
  get "$at/deep er/ü" got; echo "got $? $(cat got)"
  get "$at/nothing" none; echo "none $? $(ls none* 2>/dev/null)"
  list "$at/" listed; echo "listed $? $(sort listed | sed "s#$at/##" | tr '\\t\\n' ' ,')"
  list "$at/nothing" listed; echo "empty $? $(cat listed)"
done
echo over
"""
SAID = """created 0
not again 3
any 0
got 0 new
none 1\x20
listed 0 4 deep er/ü,6 other,
empty 0\x20
"""


def test_all_three_do_and_answer_the_same(lab):
    """Upload with a condition and without, download, listing; also of what is not there."""
    vm = lab.boot("ways", spotwarden_job="ways", startup_script=functions() + EACH)
    vm.until_said("over\n")
    assert vm.said == SAID * 3 + "over\n"
    vm.delete()


def test_a_status_that_somebody_else_has_written_stays(lab):
    """An owner's stop, or another node's failure, is not overwritten by this VM's success."""
    vm = lab.job("echo here; sleep 1")
    vm.until_said("here")
    lab.write(f"{vm.name}/metadata/status-code", "9")
    vm.until_gone()
    assert vm.status() == "9"


DESCRIBED = """
mkdir -p "$STATE" && cd "$HOME"
BUCKET=jobs TOKEN_UNTIL=0 API=$STORAGE_EMULATOR_HOST ID=17
printf '0\\n--x\\n' > code
for TRANSPORT in curl gcloud gsutil; do
  HERE=$TRANSPORT name=$TRANSPORT/metadata/status-code ATTEMPT=1
  put code "$name" 0 60 attempt=1 instance_id=18; echo "created $?"
  put code "$name" 0 60 attempt=1 instance_id=18; echo "not again $?"
  older_status; echo "of this attempt $?"
  ATTEMPT=2 ID=18; older_status; echo "of this VM $?"
  ID=17; older_status; echo "not on record $?"
  put code "$TRANSPORT/metadata/attempts/2.json"; older_status; echo "older $?"
  generation=$REPLY
  has_ended; echo "ended $?"
  echo 3 > code2; put code2 "$name" "$generation" 60 attempt=2 instance_id=17; echo "over it $?"
  put code2 "$name" "$generation" 60 attempt=2 instance_id=17; echo "not again $?"
  has_ended; echo "ended $? $REPLY"
  put code "$name"; has_ended; echo "of nobody $? $REPLY"
  HERE=$TRANSPORT/none; older_status; echo "none $?"
  put code "$TRANSPORT/beat" "" 60 'beat=ANY TEXT'; echo "any text $?"
done
echo over
"""
ANY_TEXT = r'{"at":"12:00","checkpoint":"a, \"b\": c=d ^x^\\n","step":1}'
TOLD = """created 0
not again 3
of this attempt 1
of this VM 1
not on record 1
older 0
ended 1
over it 0
not again 3
ended 0 3
of nobody 0 0
none 2
any text 0
"""


def test_all_three_tell_whose_a_status_is(lab):
    """Custom metadata is written with an object and read back, also over the one generation that was seen."""
    vm = lab.boot(
        "whose", spotwarden_job="whose", startup_script=functions() + DESCRIBED.replace("ANY TEXT", ANY_TEXT)
    )
    vm.until_said("over\n")
    assert vm.said == TOLD * 3 + "over\n"
    for way in ("curl", "gcloud", "gsutil"):
        assert lab.read(f"{way}/metadata/status-code") == "0\n--x\n"
        assert lab.metadata(f"{way}/beat") == ({} if way == "gsutil" else {"beat": ANY_TEXT})
    vm.delete()


BEATS = """
mkdir -p "$STATE" && cd "$HOME"
BUCKET=jobs TOKEN_UNTIL=0 API=$STORAGE_EMULATOR_HOST ID=17 PREFIX= TURN_FILE=turn
NODES=2 ROUND=4 ATTEMPT=3 STEP=5 CHECKPOINT='a, b&c=d"é"' METRICS=([loss]='"nan"')
look_at_progress() { PROGRESS_AT=2026-01-02T03:04:05Z; }
may_write() { return 0; }
for TRANSPORT in curl gcloud gsutil; do
  JOB=$TRANSPORT NODE=$TRANSPORT
  beat 7 1; echo "written $?"
  describe "heartbeats/$NODE" "$STATE/peer-1"; echo "described $?"
  run_of 1; echo "read $? $LEAD $EXIT $BY_OTHERS"
  JOB=other run_of 1; echo "of another job $?"
  ATTEMPT=2 run_of 1; echo "of another attempt $?"
done
echo over
"""
BEATEN = """written 0
described 0
read 0 4 7 1
of another job 1
of another attempt 1
"""


def test_all_three_write_a_heartbeat_that_a_peer_and_we_understand(lab):
    """An empty object; what it tells is read from its metadata, by another node and by Spotwarden."""
    vm = lab.boot("beats", spotwarden_job="beats", startup_script=functions() + BEATS)
    vm.until_said("over\n")
    assert vm.said == BEATEN * 3 + "over\n"
    for way in ("curl", "gcloud", "gsutil"):
        assert lab.read(f"heartbeats/{way}") == ""
        beat = beat_beside(lab.metadata(f"heartbeats/{way}"))
        assert (beat.job, beat.attempt, beat.instance_id, beat.step) == (way, 3, "17", 5)
        assert (beat.status, beat.checkpoint, beat.metrics) == ("7", 'a, b&c=d"é"', {"loss": "nan"})
    vm.delete()
