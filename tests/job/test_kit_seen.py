"""What a program prints is seen at once, though it never flushes, and nothing of it is lost with its VM."""

import sys

import pytest

from tests.job.lab import ZONE

PYTHON = f"""exec {sys.executable} -c '
import os, time
for number in range(100):
    print("line", number)
    said = os.environ["SPOTWARDEN_OUTPUT"] + "/said"
    with open(said + ".tmp", "w") as file:
        file.write(str(number))
    os.replace(said + ".tmp", said + ".txt")
    time.sleep(0.05)
time.sleep(600)
'"""
PIPED = """{
  for number in {0..99}; do
    echo "line $number"
    echo "$number" > "$SPOTWARDEN_OUTPUT/said.tmp"
    mv "$SPOTWARDEN_OUTPUT/said.tmp" "$SPOTWARDEN_OUTPUT/said.txt"
    sleep 0.05
  done
  sleep 600
} | cut -c1-"""
"""`cut` prints by the C library, which keeps four kilobytes for itself where it writes to a pipe."""


@pytest.mark.parametrize("command", [PYTHON, PIPED])
def test_a_line_that_is_not_flushed_is_seen_while_the_program_runs(lab, command):
    """In the bucket, and on the console, from where Cloud Logging has it."""
    vm = lab.job(command)
    lab.until(lambda: "line 0\n" in (vm.object("metadata/logs/" + vm.name + "/1.log") or ""), "a line")
    assert "line 0\n" in vm.said
    assert lab.has(f"{ZONE}/instances/{vm.name}")
    assert vm.object("metadata/status-code") is None


@pytest.mark.parametrize("command", [PYTHON, PIPED])
def test_all_lines_before_a_preemption_are_in_the_attempts_log(lab, command):
    """None is missing between the first and the last that the program knows to have printed."""
    vm = lab.job(command, spotwarden_heartbeat="300")
    vm.until_said("line 9\n")
    vm.preempt()
    vm.until_gone()
    lines = vm.object(f"metadata/logs/{vm.name}/1.log").splitlines()
    whole = [line for line in lines if line.startswith("line ")]
    assert whole == [f"line {number}" for number in range(len(whole))]
    assert len(whole) >= int(vm.object("output/said.txt"))


HANDING_OVER = """
TAKEN=preempted GRACE=10
: >"$BEGUN"
end_loops() { :; }
stop_program() { echo stopped; }
whole_until() { REPLY=0; }
may_write() { return 0; }
upload_log() { echo "log within $1 s"; }
upload_output() { echo output; UPLOADED=1 SECONDS=$((SECONDS + 25)); return 2; }
hand_over
"""


def test_the_log_goes_up_before_the_output_which_may_take_all_the_time(shell):
    """It is small, and of the thirty seconds nothing may be left."""
    said = shell.run(HANDING_OVER).splitlines()
    assert [line for line in said if not line.startswith("spotwarden: ")] == [
        "stopped",
        "log within 5 s",
        "output",
    ]


def environment(shell, given):
    """The lines of the program's environment that are about its output."""
    shell.set(env=given)
    script = "NODE= JOB= ATTEMPT= OUTPUT= INPUT= PROGRESS= RANK= NODES=1 MASTER= PORT= HOSTFILE="
    shell.run(f"{script}; write_environment")
    lines = (shell.state / "environment").read_text().splitlines()
    return [line for line in lines if line.startswith("PYTHON")]


def test_python_is_told_not_to_buffer(shell):
    """By the environment, which a container gets as well; what its developer says comes instead."""
    assert environment(shell, "A=1") == ["PYTHONUNBUFFERED=1"]
    assert environment(shell, "A=1\nPYTHONUNBUFFERED=\nB=2") == ["PYTHONUNBUFFERED="]


@pytest.mark.parametrize(
    ("given", "stub", "runs"),
    [
        ("", "", "stdbuf -oL bash -c train"),
        ("_STDBUF_O=0", "", "bash -c train"),
        ("", "stdbuf() { return 125; }", "bash -c train"),
        ("", "stdbuf() { echo 'libstdbuf.so cannot be preloaded'; env _STDBUF_O=L; }", "bash -c train"),
        ("", "stdbuf() { env; }", "bash -c train"),
    ],
)
def test_other_programs_print_line_by_line_where_stdbuf_works(shell, given, stub, runs):
    """An image without it, or where it cannot preload, runs the program as it is; so does who sets it."""
    shell.set(env=given, command="train")
    assert shell.run(f'{stub}\nchoose_command && echo "${{RUN[*]}}"').strip() == runs
