"""What another job's VM may write into the bucket is never more than words to the kit: it runs as root."""

import pytest

LOOK = """
BASE=gang- WIDTH=1 NODES=2 RANK=0 ATTEMPT=3 PREFIX="" BENDS="" HANDING=$PWD/handing
ROUND=1 MEMBERS=() PEERS=""
list() { echo "preempted-jobs/gang-2" >"$2"; }
get() { cat marker >"$2"; }
describe() { return 1; }
look_at_peers
echo "told:$TOLD_PEERS"
"""
MARKER = '{"job": "gang", "attempt": 3, "at": "%s", "early": true}'


@pytest.mark.parametrize(
    "moment",
    [
        "x\tSECONDS[$(>ran)]",
        "x\nSECONDS[$(>ran)]",
        "x\tSECONDS[`>ran`]",
        "$(>ran)",
        "x\t*",
        "9" * 500,
    ],
    ids=["a tab", "a line", "backticks", "a command", "a glob", "very long"],
)
def test_the_moment_of_a_marker_runs_nothing(shell, moment):
    """A marker is data that any VM of the project may write for any node."""
    (shell.folder / "marker").write_text(MARKER % moment)
    assert shell.run(LOOK).endswith("told:\n")
    assert not (shell.folder / "ran").exists()


def test_a_node_that_says_when_it_was_told_is_heard(shell):
    """As the kit writes it."""
    (shell.folder / "marker").write_text(MARKER % "2026-11-28T20:00:00Z")
    assert shell.run(LOOK).endswith("told:1@2026-11-28T20:00:00Z\n")
