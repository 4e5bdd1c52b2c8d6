"""How a job ends, and what a VM does that finds it so."""

import tarfile
from io import BytesIO


def test_the_status_is_the_programs_own(lab):
    """Also where it is not found, may not be run, or dies of a signal; the VM goes all the same."""
    commands = {
        "exit 3": "3",
        "no-such-program": "127",
        "/etc/passwd": "126",
        "kill -9 $$": "137",
        "kill $$": "143",
    }
    vms = {lab.job(command): status for command, status in commands.items()}
    assert {vm: vm.status() for vm in vms} == vms
    for vm in vms:
        vm.until_gone()
        assert vm.marker is None


def test_a_job_that_has_ended_is_not_run_again(lab):
    """A VM that comes too late deletes itself, and changes nothing."""
    lab.write("late/metadata/status-code", "0\n")
    vm = lab.job("echo again", name="late")
    vm.until_gone()
    assert "has already ended with status 0" in vm.said
    assert vm.lab.names("late/") == ["metadata/status-code"]


def test_the_status_says_which_attempt_and_which_vm_it_is_of(lab):
    """Beside its content, which is the number alone: a late one ends no other attempt."""
    vm = lab.job("true", attempt=3)
    assert vm.status() == "0"
    name = f"{vm.name}/metadata/status-code"
    assert lab.metadata(name) == {"attempt": "3", "instance_id": vm.id}
    vm.until_gone()


def test_what_an_older_attempt_wrote_late_neither_ends_this_one_nor_stays(lab):
    """The job goes on, is not called ended when its VM is taken, and has its own status in the end."""
    name = "again/metadata/status-code"
    lab.write("again/metadata/attempts/2.json", '{"number":2}')
    lab.write(name, "0\n", attempt="1", instance_id="5")
    vm = lab.job(
        "while [ ! -e go ]; do sleep 0.1; done; exit 4", name="again", attempt=2, spotwarden_setup=""
    )
    lab.until(lambda: vm.beat, "a heartbeat")
    lab.write(name, "1\n", attempt="1", instance_id="5")
    vm.preempt()
    vm.until_gone()
    assert vm.marker is not None
    lab.write("again/metadata/attempts/3.json", '{"number":3}')
    following = lab.job("exit 4", name="again", attempt=3)
    lab.until(lambda: lab.read(name) == "4\n", "its own status")
    assert lab.metadata(name) == {"attempt": "3", "instance_id": following.id}
    following.until_gone()


def test_a_job_that_has_ended_is_not_run_again_by_a_launch_that_is_not_on_record(lab):
    """Who launches it by hand once more takes its status back first."""
    lab.write("by-hand/metadata/status-code", "0\n", attempt="1", instance_id="5")
    lab.write("by-hand/metadata/attempts/1.json", '{"number":1}')
    vm = lab.job("echo again", name="by-hand", attempt="")
    vm.until_gone()
    assert "attempt 2 of by-hand" in vm.said
    assert "has already ended with status 0" in vm.said


def test_an_older_attempt_stops_and_writes_nothing_more(lab):
    """Once the ledger has a newer one the older's program is stopped; it leaves no status and no marker."""
    vm = lab.job('while sleep 0.1; do echo more; date > "$SPOTWARDEN_OUTPUT/now.txt"; done')
    lab.until(lambda: vm.object("output/now.txt"), "output")
    lab.write(f"{vm.name}/metadata/attempts/2.json", '{"instances":{"other":"5"}}')
    vm.until_said("is no longer the newest")
    vm.until_said("the program was stopped")
    before = vm.object("output/now.txt"), vm.beat
    vm.preempt()
    vm.until_gone()
    assert (vm.object("output/now.txt"), vm.beat) == before
    assert vm.marker is None
    assert vm.object("metadata/status-code") is None


def test_a_vm_whose_registration_was_taken_over_stops_as_well(lab):
    """So it is where its developer has launched the job once more by hand, elsewhere."""
    vm = lab.job("while sleep 0.1; do echo more; done")
    lab.until(lambda: vm.beat, "a heartbeat")
    lab.write(f"{vm.name}/metadata/{vm.name}-instance-id", "42")
    vm.until_said("the program was stopped")
    vm.delete()


def archive(**files):
    """A tar file of texts."""
    raw = BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name.replace("__", "."))
            entry.size = len(text.encode())
            tar.addfile(entry, BytesIO(text.encode()))
    return raw.getvalue()


SHOW = """
import os, pathlib, sys
for name in ("JOB", "NODE", "ATTEMPT"): print(name, os.environ["SPOTWARDEN_" + name])
print("input", pathlib.Path(os.environ["SPOTWARDEN_INPUT"], "words/a b.txt").read_text())
print("one", pathlib.Path(os.environ["SPOTWARDEN_INPUT"], "one.txt").read_text())
print("env", os.environ["GREETING"], os.environ["EMPTY"] == "", "setup" in os.listdir())
print("rank", *(os.environ[name] for name in ("NODE_RANK", "NNODES", "WORLD_SIZE", "MASTER_PORT")))
"""


def test_the_program_finds_code_inputs_environment_and_setup(lab):
    """All of it is there before the first line of the program runs, in the folder of the code."""
    lab.write("fed/my-code.tar", archive(show__py=SHOW))
    lab.write("fed/input/words/a b.txt", "spaces")
    lab.write("elsewhere/one", "single")
    vm = lab.job(
        "python3 show.py",
        name="fed",
        spotwarden_code="1",
        spotwarden_inputs="gs://jobs/fed/input/words/ words\ngs://jobs/elsewhere/one one.txt\n",
        spotwarden_env="GREETING=a 'b' $HOME\nEMPTY=\nnot a line\n",
        spotwarden_setup="touch setup",
    )
    assert vm.status() == "0", vm.said
    names = "JOB fed\nNODE fed\nATTEMPT 1\n"
    given = "input spaces\none single\nenv a 'b' $HOME True True\nrank 0 1 1 29500\n"
    assert vm.object("metadata/logs/fed/1.log") == names + given
    assert "invalid environment variable: not a line" in vm.said


def test_what_the_job_cannot_run_without_ends_it_at_once(lab):
    """A status that is not 0 tells why, and the VM goes rather than idle or start over and over."""
    vms = {
        lab.job("true", spotwarden_code="1"): ("66", "fetch_code"),
        lab.job("true", spotwarden_inputs="gs://jobs/nothing/here/ x"): (
            "66",
            "missing input: gs://jobs/nothing",
        ),
        lab.job("true", spotwarden_inputs="gs://jobs/x ../x"): ("77", "invalid input"),
        lab.job("echo ran", spotwarden_setup="exit 9"): ("9", "the setup failed with status 9"),
    }
    for vm, (status, words) in vms.items():
        assert vm.status() == status
        vm.until_gone()
        assert words in vm.said
        assert "ran" not in vm.said
