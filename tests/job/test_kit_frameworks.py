"""The examples of a hand-over: each asks what it has to, and trains on VMs where a Python has its framework.

`SPOTWARDEN_FRAMEWORKS="torch=/usr/bin/python3 jax=/venvs/jax/bin/python"` names such Pythons.
"""

import ast
import json
import os
from datetime import UTC, datetime

import pytest

from tests.job.lab import KIT, ZONE
from tests.job.training import EARLY, NOTICE, record, stepped

EXAMPLES = {
    "torch": "torch/handover.py",
    "lightning": "frameworks/with_lightning.py",
    "transformers": "frameworks/with_transformers.py",
    "jax": "frameworks/with_jax.py",
}
PYTHONS = dict(named.split("=", 1) for named in os.environ.get("SPOTWARDEN_FRAMEWORKS", "").split())
STEPS = 800
"""Longer than the notice."""
NOTICE_SECONDS = 30


def path_of(framework):
    """Where its example is."""
    return KIT.parent / "example" / EXAMPLES[framework]


@pytest.mark.parametrize("framework", EXAMPLES)
def test_an_example_waits_for_its_turn_saves_when_asked_and_ends(framework):
    """The four questions of spotwarden_preemption, each of which a hand-over needs."""
    tree = ast.parse(path_of(framework).read_text(encoding="utf-8"))
    asked = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {"guard", "wait_for_turn", "requested", "stopping"} <= asked


@pytest.mark.parametrize("framework", EXAMPLES)
def test_an_example_is_handed_over_without_losing_a_step(lab, framework):
    """The next VM makes the step after the last one of the old VM."""
    if framework not in PYTHONS:
        pytest.skip(f"SPOTWARDEN_FRAMEWORKS names no Python with {framework}")
    lab.post("/local/timings", {"preemption_notice": 120})
    command = f"{PYTHONS[framework]} {path_of(framework)} --steps {STEPS}"
    settings = {**EARLY, "spotwarden_notice": str(NOTICE_SECONDS)}
    old = lab.job(command, scheduling=NOTICE, **settings)
    old.until_said("step 5 ")
    lab.until(lambda: old.beat.get("standby"), "a heartbeat that tells of the standby")
    old.preempt()
    lab.until(lambda: old.marker, "the early marker")
    attempt = record(2, created=datetime.now(UTC).isoformat(), replaces={old.name: old.id}, early=True)
    lab.write(f"{old.name}/metadata/attempts/2.json", json.dumps(attempt))
    elsewhere = ZONE.replace("central1-a", "central1-b")
    new = lab.job(command, name=old.name, attempt=2, zone=elsewhere, scheduling=NOTICE, **settings)
    new.until_said("starts early")
    new.until_said("step ")
    assert stepped(new.said)[0][0] == stepped(old.said)[-1][0] + 1
    assert new.status() == "0"
