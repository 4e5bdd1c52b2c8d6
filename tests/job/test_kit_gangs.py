"""Several nodes, one job: who writes the status, and who must not."""

import pytest


@pytest.mark.parametrize(
    ("node", "nodes", "master", "peers"),
    [
        ("train-2", 3, "", "train-1 train-2 train-3"),
        ("train-02", 3, "", "train-01 train-02 train-03"),
        ("train-10", 10, "train-01", "train-01 train-02 train-03"),
        ("train-10", 10, "train-01.us-central1-a.c.demo.internal", "train-01 train-02 train-03"),
        ("train-10", 10, "train-1", "train-1 train-2 train-3"),
        ("train-002", 2, "10.0.0.1", "train-001 train-002 train-003"),
        ("t5-100", 100, "other-01", "t5-1 t5-2 t5-3"),
    ],
)
def test_the_others_are_called_as_bulk_create_calls_them(shell, node, nodes, master, peers):
    """From ten nodes on with a zero before: a node that looks for train-1 would wait for it for ever."""
    for name, text in {"NODES": str(nodes), "MASTER_ADDR": master}.items():
        (shell.state / "metadata" / name).write_text(text)
    script = 'NODE=$1; find_place; for one in 0 1 2; do peer "$one"; echo "$REPLY"; done'
    assert shell.run(script, node).split() == peers.split()


def test_a_gang_has_succeeded_once_all_of_it_has(lab):
    """The first node's status waits for the others; each node knows its rank, and all VMs go."""
    lab.write("preempted-jobs/calm-2", '{"attempt": 7}')  # of an earlier one, and not cleared yet
    command = 'sleep "$NODE_RANK"; echo "rank $RANK of $NNODES at $MASTER_ADDR:$MASTER_PORT"'
    first, second = lab.gang(command, name="calm")
    lab.until(lambda: first.beat.get("status") == "0", "the first node's end")
    assert first.object("metadata/status-code") is None
    assert first.status() == "0"
    assert second.beat["status"] == "0"
    for rank, vm in enumerate((first, second)):
        vm.until_gone()
        assert f"rank {rank} of 2 at 127.0.0.1:29500" in vm.said


def test_the_first_node_may_be_the_last_to_end(lab):
    """It saves the model while the others have ended well: nobody stops it, and no program runs again."""
    first, second = lab.gang(
        'echo begin; [ "$RANK" = 1 ] || { sleep 8; echo model >$SPOTWARDEN_OUTPUT/model; }'
    )
    assert first.status() == "0"
    assert first.object("output/model") == "model\n"
    for vm in (first, second):
        vm.until_gone()
        assert vm.said.count("begin") == 1


def test_a_node_that_fails_ends_the_job_with_its_status(lab):
    """The other node's program is stopped, and what that ends with is nobody's failure."""
    first, second = lab.gang('[ "$NODE_RANK" = 1 ] && sleep 1 && exit 5; echo here; exec sleep 60')
    assert first.status() == "5"
    assert (first.beat["status"], first.beat["stopped"]) == ("143", "1")
    for vm in (first, second):
        vm.until_gone()
        assert vm.marker is None


def test_a_node_that_loses_its_peer_stops_and_leaves_the_job_open(lab):
    """Its program fails with the lost one, or is stopped; without a status the gang can start anew."""
    first, second = lab.gang(
        'trap "echo saved > $SPOTWARDEN_OUTPUT/$NODE_RANK; exit 1" TERM; echo here; sleep 60 & wait'
    )
    for vm in (first, second):
        lab.until(lambda vm=vm: vm.beat, "a heartbeat")
    second.preempt()
    second.until_gone()
    lab.until(lambda: first.beat["status"] != "running", "the first node to stop")
    assert first.beat["stopped"]
    assert (first.object("output/0"), first.object("output/1")) == ("saved\n", "saved\n")
    lab.write(f"{first.job}/metadata/attempts/2.json", '{"instances":{}}')
    first.until_said("is no longer the newest")
    assert first.object("metadata/status-code") is None
    first.delete()


def test_all_nodes_of_a_gang_that_goes_on_begin_with_what_one_of_them_saved_last(lab):
    """The other has an older file of the same length on its disk."""
    name = next(lab._names)
    lab.write(f"{name}/output/best", "old")
    command = (
        '[ ! -e again ] || { echo "has $(cat $SPOTWARDEN_OUTPUT/best)"; exit 0; }; touch again;'
        " [ $RANK = 1 ] || printf new > $SPOTWARDEN_OUTPUT/best; exec sleep 60"
    )
    first, second = lab.gang(command, name=name)
    lab.until(lambda: first.object("output/best") == "new", "a newer file")
    lab.until(lambda: second.beat, "a heartbeat")
    lab.write(f"preempted-jobs/{second.name}", '{"attempt": 1}')
    lab.until(lambda: first.beat["status"] != "running", "the first node to stop")
    lab.delete(f"preempted-jobs/{second.name}")
    assert first.status() == "0"
    for vm in (first, second):
        assert "has new" in vm.said


def test_a_gang_goes_on_when_the_lost_node_is_back(lab):
    """A peer that only rebooted has its marker cleared: then the program runs once more."""
    first, second = lab.gang("echo begin; [ -e again ] && exit 0; touch again; exec sleep 60")
    for vm in (first, second):
        lab.until(lambda vm=vm: vm.beat, "a heartbeat")
    lab.write(f"preempted-jobs/{second.name}", '{"attempt": 1}')
    lab.until(lambda: first.beat["status"] != "running", "the first node to stop")
    lab.delete(f"preempted-jobs/{second.name}")
    assert first.status() == "0"
    assert first.said.count("begin") == 2
