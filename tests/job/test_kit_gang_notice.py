"""A fixed gang of which a node is told that it will be preempted: all save, it stops, the others follow."""

import re

import pytest

from tests.job.training import NOTICE

ASKED = "command:echo asked in $SPOTWARDEN_NODE"
COUNT = """
step=$(cat "$SPOTWARDEN_OUTPUT/step" 2>/dev/null || echo 0)
echo "begins after $step"
trap 'echo "stops after $step"; exit 143' TERM
while [ "$step" -lt LAST ]; do
  sleep 0.1
  step=$((step + 1))
  [ "$RANK" != 0 ] || { echo "$step" >next && mv next "$SPOTWARDEN_OUTPUT/step"; }
done
"""


@pytest.fixture
def gang(lab):
    """Boot two nodes that count; the kit's notice and its reserve are given, and Compute Engine's own."""

    def booted(*, notice, reserve, lasts=120, last=10_000):
        lab.post("/local/timings", {"preemption_notice": lasts})
        told = {"spotwarden_early": "1", "spotwarden_notice": str(notice), "spotwarden_reserve": str(reserve)}
        nodes = lab.gang(
            COUNT.replace("LAST", str(last)), scheduling=NOTICE, spotwarden_checkpoint=ASKED, **told
        )
        for vm in nodes:
            vm.until_said("begins after 0")
            lab.until(lambda vm=vm: vm.beat, "a heartbeat")
        return nodes

    return booted


def asked(vm):
    """How often its program was asked for a checkpoint."""
    return vm.said.count(f"asked in {vm.name}")


@pytest.mark.parametrize("rank", [0, 1])
def test_all_nodes_save_at_once_and_at_half_time_and_stop_together(lab, gang, rank):
    """The one that is told stops first, well before the end; nobody writes a status."""
    nodes = gang(notice=20, reserve=6)
    told, other = nodes[rank], nodes[1 - rank]
    told.preempt()
    lab.until(lambda: asked(told) == asked(other) == 1, "the first checkpoint")
    assert told.marker["early"] is True
    assert "stops after" not in told.said + other.said
    lab.until(lambda: asked(told) == asked(other) == 2, "the second checkpoint")
    assert "stops after" not in told.said + other.said
    told.until_said("stops after")
    other.until_said("stops after")
    lab.until(
        lambda: (told.beat["status"], other.beat.get("stopped")) == ("handed-over", "1"), "the end of both"
    )
    assert asked(told) == asked(other) == 2
    assert told.object("metadata/status-code") is None
    assert "Starting shutdown scripts" not in told.console
    for vm in nodes:
        vm.delete()


@pytest.mark.parametrize("rank", [0, 1])
def test_a_notice_that_is_called_off_in_time_changes_nothing(lab, gang, rank):
    """No program has stopped, and the job ends as it would have; a marker that is left stops nobody."""
    nodes = gang(notice=60, reserve=30, lasts=2, last=200)
    nodes[rank].preempt(called_off=True)
    nodes[rank].until_said("the preemption is called off")
    assert nodes[0].status() == "0"
    for vm in nodes:
        vm.until_gone()
        assert "stops after" not in vm.said
        assert vm.said.count("begins") == 1


@pytest.mark.parametrize("rank", [0, 1])
def test_a_gang_goes_on_whose_node_was_not_taken_after_all(lab, gang, rank):
    """All run the program once more, from what was saved; no VM was lost."""
    nodes = gang(notice=5, reserve=3, lasts=12, last=250)
    nodes[rank].preempt(called_off=True)
    for vm in nodes:
        vm.until_said("stops after")
    assert nodes[0].status() == "0"
    stopped = re.findall(r"stops after (\d+)", nodes[0].said)
    (_, first), (_, second) = (
        [int(step) for step in re.findall(r"begins after (\d+)", vm.said)] for vm in nodes
    )
    # The last step may be made and not written when the signal comes. The other node begins later.
    assert int(stopped[0]) - first in {0, 1}
    assert second >= first
    for vm in nodes:
        vm.until_gone()


def test_a_second_notice_is_heard_after_one_that_was_called_off(lab, gang):
    """The marker of the first is still there."""
    first, second = gang(notice=30, reserve=10, lasts=2)
    second.preempt(called_off=True)
    second.until_said("the preemption is called off")
    lab.post("/local/timings", {"preemption_notice": 120})
    before = asked(first)
    second.preempt()
    lab.until(lambda: asked(first) > before, "one more checkpoint")
    first.delete()
    second.delete()
