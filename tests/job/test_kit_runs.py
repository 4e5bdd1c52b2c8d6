"""A job by the kit, from boot to the end."""


def test_a_job_runs_says_how_it_ended_and_its_vm_is_gone(lab):
    """Output and log are in the bucket before the status, and the VM deletes itself."""
    vm = lab.job('echo hello; echo model > "$SPOTWARDEN_OUTPUT/model"')
    assert vm.status() == "0"
    assert vm.object("output/model") == "model\n"
    assert "hello\n" in vm.object(f"metadata/logs/{vm.name}/1.log")
    assert vm.object(f"metadata/{vm.name}-instance-id") == vm.id
    vm.until_gone()
    assert vm.marker is None


COUNTING = """
from=$(cat "$SPOTWARDEN_OUTPUT/step" 2>/dev/null || echo 0)
echo "from $from"
for step in $(seq $((from + 1)) "$LAST"); do
  echo "$step" > next && mv next "$SPOTWARDEN_OUTPUT/step"
  echo "{\\"step\\": $step, \\"steps\\": $LAST, \\"loss\\": 1e-$step}" >> "$SPOTWARDEN_PROGRESS"
  sleep 0.1
done
"""


def test_a_preempted_job_leaves_its_marker_and_its_last_step_and_goes_on_from_there(lab):
    """What was written up to then is in the bucket, no status is, and the next attempt starts with it."""
    vm = lab.job(COUNTING, spotwarden_env="LAST=9999")
    lab.until(lambda: vm.beat.get("step"), "a step")
    vm.preempt()
    vm.until_gone()
    step = int(vm.object("output/step"))
    assert 0 < step < 9999
    assert vm.object("metadata/status-code") is None
    assert {**vm.marker, "at": ""} == {
        "job": vm.name,
        "node": vm.name,
        "instance_id": vm.id,
        "zone": "us-central1-a",
        "attempt": 1,
        "at": "",
    }
    lab.write(f"{vm.name}/metadata/attempts/2.json", "{}")
    again = lab.job(COUNTING, name=vm.name, attempt=2, spotwarden_env=f"LAST={step + 3}")
    assert again.status() == "0"
    assert f"from {step}\n" in again.said
    assert (again.beat["attempt"], again.beat["step"]) == (2, step + 3)


def test_a_vm_that_its_owner_deletes_leaves_no_marker(lab):
    """It is not to be brought back; what it had written is kept all the same."""
    vm = lab.job('echo half > "$SPOTWARDEN_OUTPUT/half.txt"; echo here; sleep 60')
    vm.until_said("here")
    vm.delete()
    vm.until_gone()
    assert vm.marker is None
    assert vm.object("metadata/status-code") is None
    assert vm.object("output/half.txt") == "half\n"
