"""`spotwarden shell` on Google Cloud: the words that gcloud is given, and what is said where it cannot be."""

import subprocess
from types import SimpleNamespace

import click
import pytest

from spotwarden.cli.launching.shell import _by_gcloud, _node
from spotwarden.layout import AttemptRecord
from spotwarden.model.instance import Instance, Status

VM = Instance(id="17", name="pair-2", zone="us-central1-a", status=Status.RUNNING)
CONTEXT = SimpleNamespace(settings=SimpleNamespace(project="demo"))


@pytest.fixture
def gcloud(tmp_path, monkeypatch):
    """A gcloud that prints the words it is given, a line each."""
    (tmp_path / "gcloud").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 7\n')
    (tmp_path / "gcloud").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


@pytest.mark.usefixtures("gcloud")
@pytest.mark.parametrize(
    ("line", "iap", "more"),
    [
        ("nvidia-smi -l | head", False, ["--command=nvidia-smi -l | head"]),
        ("", False, []),
        ("true", True, ["--tunnel-through-iap", "--command=true"]),
    ],
    ids=["a command", "a shell", "no external address"],
)
def test_gcloud_is_told_the_vm_its_zone_and_the_command(line, iap, more):
    """And its status is the one that counts."""
    done = subprocess.run(_by_gcloud(CONTEXT, VM, line, iap=iap), capture_output=True, text=True, check=False)
    plain = ["compute", "ssh", "pair-2", "--project=demo", "--zone=us-central1-a"]
    assert (done.stdout.splitlines(), done.returncode) == ([*plain, *more], 7)


def test_without_gcloud_it_says_what_to_install_and_where_to_look(tmp_path, monkeypatch):
    """The VM and its zone, for the Cloud console."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(click.ClickException, match=r"gcloud isn't installed.* pair-2 \(us-central1-a\)"):
        _by_gcloud(CONTEXT, VM, "true", iap=False)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("", "pair-01"), ("pair-02", "pair-02"), ("2", "pair-02"), ("02", "pair-02"), ("10", "pair-10")],
)
def test_a_node_is_named_or_numbered(said, meant):
    """The first one where nothing is said."""
    assert _node("pair", ["pair-01", "pair-02", "pair-10"], said) == meant


@pytest.mark.parametrize("said", ["0", "3", "pair-3", "air-01"])
def test_a_node_that_is_not_there_is_refused_with_those_that_are(said):
    """Never another one in its place."""
    with pytest.raises(click.UsageError, match="pair has pair-01, pair-02"):
        _node("pair", ["pair-01", "pair-02"], said)


def test_a_job_that_waits_for_a_place_has_no_vm(workstation):
    """It is said where to look."""
    workstation.store.write(
        workstation.layout.build(AttemptRecord(job="job", attempt=1)), WAITING, generation=0
    )
    said = workstation.refused("shell", "--job", "job", "--", "true")
    assert "job has no VM now: `spotwarden show job` shows its status" in said


WAITING = b"""{"job": "job", "number": 1, "state": "backing off", "created": "2026-01-01T00:00:00Z",
 "updated": "2026-01-01T00:00:00Z", "reason": "submitted", "owner": "ada"}"""
