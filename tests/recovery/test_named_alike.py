"""A job one of whose nodes would have the name of another open job's."""

import pytest

from tests.fakes.world import load
from tests.recovery.typed_commands import RUN, Typed


def words(job, *more):
    """How a developer runs a job of this name."""
    return ("run", "--job", job, *RUN[3:], *more, "--", "true")


@pytest.fixture
def ada(monkeypatch, tmp_path, recover):
    """A developer at a shell."""
    return Typed(monkeypatch, tmp_path, recover, load("reap_vms"))


GANG, SINGLE = words("zz", "--nodes", "2"), words("zz-1")


@pytest.mark.parametrize(
    ("first", "then", "other"),
    [(GANG, SINGLE, "zz"), (SINGLE, GANG, "zz-1")],
    ids=["gang-first", "gang-last"],
)
def test_two_open_jobs_cannot_have_a_node_of_one_name(ada, first, then, other):
    """Each would overwrite the other's heartbeats, and the marker of its preemption."""
    assert ada.type(*first).exit_code == 0
    running = ada.alive()
    said = ada.type(*then)
    assert said.exit_code == 1
    assert f"the open job {other} has a node zz-1" in said.output
    assert f"`spotwarden stop {other}`" in said.output
    assert ada.alive() == running


def test_once_the_other_has_ended_the_name_is_free(ada):
    """By the very command that the refusal names."""
    ada.type(*GANG)
    assert ada.type("stop", "zz", "--delete", "--yes").exit_code == 0
    ada.wait(minutes=2)
    assert ada.type(*SINGLE).exit_code == 0


def test_a_name_that_only_looks_like_a_nodes_is_free(ada):
    """A gang of two has no third node, and a single job none but itself."""
    ada.type(*GANG)
    assert ada.type(*words("zz-3")).exit_code == 0
    assert ada.type(*words("yy")).exit_code == 0
    assert ada.type(*words("yy-1")).exit_code == 0
