"""How a VM is taken: announced long before, stopped and started again, in the middle of its end."""

from tests.job.lab import SPOT, ZONE

COUNT = """
step=$(cat "$SPOTWARDEN_OUTPUT/step" 2>/dev/null || echo 0)
echo "from $step"
while sleep 0.1; do step=$((step + 1)); echo "$step" > next; mv next "$SPOTWARDEN_OUTPUT/step"; done
"""


def test_a_stopped_vm_goes_on_when_it_is_started_again(lab):
    """The metadata still tells the old attempt; the ledger tells the new one, by the VM's own id."""
    vm = lab.job(COUNT, scheduling={**SPOT, "instanceTerminationAction": "STOP"})
    lab.until(lambda: vm.object("output/step"), "a step")
    vm.preempt()
    vm.until_off()
    step = vm.object("output/step")
    (vm.folder / "root/spotwarden/output/half").write_text("not uploaded")
    ours = (
        f'{{"number":2,"instances":{{}},"replaces":{{"{vm.name}":"{vm.id}"}},"tries":[{{"kind":"start"}}]}}'
    )
    lab.write(f"{vm.name}/metadata/attempts/2.json", ours)
    lab.delete(f"preempted-jobs/{vm.name}")
    lab.until(lambda: lab.call("GET", f"{ZONE}/instances/{vm.name}")["status"] == "TERMINATED", "the stop")
    lab.call("POST", f"{ZONE}/instances/{vm.name}/start")
    lab.until(lambda: vm.beat.get("attempt") == 2, "a heartbeat of the second attempt")
    assert f"from {step}" in vm.said
    vm.delete()
    vm.until_gone()
    assert "half" not in lab.names(f"{vm.name}/output/")
    assert (vm.folder / "root/spotwarden/set-aside/half").exists()
    assert "from" in vm.object(f"metadata/logs/{vm.name}/2.log")


def test_what_a_killed_program_was_writing_does_not_go_up(lab):
    """The whole file of before stays in the bucket; one that is written at its end alone goes up as it is.

    Two processes write it: a busy machine may hold up one of them half-way for seconds.
    """
    vm = lab.job(
        'cd "$SPOTWARDEN_OUTPUT"; seq 20000 > model; touch -d "-1 minute" model; echo 1 > curve.csv;'
        "write() { while sleep 0.1; do seq 15000 > model; done; };"
        'trap "echo 2 >> curve.csv; write & write" TERM; sleep 60 & wait'
    )
    whole = lab.until(lambda: vm.object("output/model"), "the model")
    vm.preempt()
    vm.until_gone()
    assert vm.object("output/model") == whole
    assert vm.object("output/curve.csv") == "1\n2\n"
    assert vm.marker


def test_a_program_that_notices_its_end_itself_has_not_ended(lab):
    """Whatever its status is then: the job is open, and the marker brings it back."""
    ask = "curl -s -H Metadata-Flavor:Google http://metadata.google.internal/computeMetadata/v1/instance/preempted"
    vm = lab.job(f"echo here; until {ask} | grep -q TRUE; do sleep 0.05; done; exit 0")
    vm.until_said("here")
    vm.preempt()
    vm.until_gone()
    assert vm.marker
    assert vm.object("metadata/status-code") is None
