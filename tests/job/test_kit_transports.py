"""The bucket by each of the three ways, whichever an image has."""

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
