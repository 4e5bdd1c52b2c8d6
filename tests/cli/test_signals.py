"""`spotwarden show --signals`: the table that the rules of governance read, for a person."""

import json

import msgspec
import pytest

from spotwarden import clock
from spotwarden.cli.looking import show as command
from spotwarden.cli.main import main
from spotwarden.engine.turn import Turn
from spotwarden.layout import CreateScript, Heartbeat, Output, SweepTurn
from tests.cli.logged import JOB, Speaker


@pytest.fixture
def speaker(monkeypatch) -> Speaker:
    """A job whose second attempt runs since an hour, and whose program last got on 40 minutes ago."""
    speaker = Speaker()
    monkeypatch.setattr(clock, "now", speaker.cloud.clock.now)
    monkeypatch.setattr(command, "open_context", lambda: speaker.context)
    speaker.put(CreateScript(job=JOB), "true")
    speaker.attempt(1)
    speaker.wait(3600)
    speaker.attempt(2)
    speaker.up("21")
    speaker.wait(1200)
    speaker.put(Output(job=JOB, path="ckpt"), "x")
    now = speaker.cloud.clock.now()
    speaker.wait(2400)
    said = {"at": speaker.cloud.clock.now(), "progress_at": now, "attempt": 2, "instance_id": "21", "step": 7}
    speaker.put(Heartbeat(job=JOB, node=JOB), msgspec.json.encode({**said, "longest_gap": 600}))
    speaker.cloud.metrics.cpu["21"] = 12.5
    speaker.put(
        SweepTurn(function="reap_vms"), msgspec.json.encode(Turn(swept=speaker.cloud.clock.now(), steady=now))
    )
    return speaker


@pytest.fixture
def run(speaker, capsys):
    """Run `spotwarden show train …` and give its output."""

    def run(*words: str) -> str:
        main(["show", JOB, *words], standalone_mode=False)
        return capsys.readouterr().out

    return run


def test_each_signal_has_its_line(run):
    """By attempt and node, with its age; progress is not what alive is."""
    page = run("--signals")
    table = page[page.index("ATTEMPT") :]
    assert "2        train  alive     heartbeat                2026-01-05 11:00:00 UTC  0s " in table
    assert "progress in a heartbeat  2026-01-05 10:20:00 UTC  40m00s" in table
    assert "12.5%  whole, from 10:00:00" in table
    assert "(job)  ours      our sweeps               2026-01-05 11:00:00 UTC  0s " in table
    assert table.rstrip().endswith("longest time without progress so far: 10m00s")


def test_the_json_has_the_same_rows(run):
    """One object a signal."""
    rows = json.loads(run("--signals", "--json"))["signals"]
    steps = [row for row in rows if row["source"] == "step"]
    assert [(row["attempt"], row["node"], row["instance_id"], row["value"]) for row in steps] == [
        (2, JOB, "21", "7")
    ]
    assert {row["kind"] for row in rows} == {"alive", "progress", "load", "ours"}


def test_without_the_flag_nothing_more_is_read(run, speaker):
    """Monitoring is asked by nobody else."""
    speaker.cloud.metrics.trouble.order("cpus", AssertionError("asked"))
    assert "ATTEMPT" not in run()
    assert "signals" not in json.loads(run("--json"))


def test_a_heartbeat_that_an_earlier_attempt_left_is_not_of_this_one(run, speaker):
    """It is shown where it belongs, and what this attempt never gave is said."""
    said = {"attempt": 1, "instance_id": "11", "step": 99}
    speaker.put(Heartbeat(job=JOB, node=JOB), msgspec.json.encode(said))
    rows = json.loads(run("--signals", "--json"))["signals"]
    beats = {(row["attempt"], row["kind"]): row["at"] for row in rows if row["source"] == "heartbeat"}
    assert beats[1, "alive"] is not None
    assert beats[2, "alive"] is None


def test_the_end_is_a_signal(run, speaker):
    """With the status that was written."""
    speaker.end("3")
    ends = [row for row in json.loads(run("--signals", "--json"))["signals"] if row["kind"] == "ended"]
    assert [(row["source"], row["value"]) for row in ends] == [("status code", "3")]
