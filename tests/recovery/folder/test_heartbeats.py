"""Heartbeats of any origin: what can be understood counts, and nothing else does harm."""

import json
import math
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from spotwarden.model.heartbeat import Beat, number
from spotwarden.recovery.folder import heartbeats
from spotwarden.recovery.folder.heartbeats import METRICS_AT_MOST, beat_beside, beat_in, beats_in, progress_in


def test_all_that_a_heartbeat_says_is_taken():
    """The whole form, as the job kit writes it."""
    beat = beat_in(
        b'{"at": "2026-11-21T10:00:00Z", "attempt": 2, "step": 0, "steps": 80, "checkpoint": "c-0",'
        b' "metrics": {"loss": 0.5, "accuracy": 1}}'
    )
    assert (beat.attempt, beat.step, beat.steps, beat.checkpoint) == (2, 0.0, 80.0, "c-0")
    assert beat.at is not None
    assert (beat.share, beat.metrics) == (0.0, {"loss": 0.5, "accuracy": 1.0})


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"Sat Nov 21", b"[]", b"7", b"\xff\xfe", b"[" * 100_000, b'{"step": 1']
)
def test_a_heartbeat_that_is_no_record_says_nothing(data):
    """Empty ones are allowed, and so is the output of `date`."""
    assert beat_in(data) == Beat()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ('{"at": "2026-11-21T10:00:00", "step": 3}', Beat(step=3.0)),
        ('{"attempt": 1.5, "steps": "many", "step": 3}', Beat(step=3.0)),
        ('{"step": NaN, "steps": 1e999, "checkpoint": "c"}', Beat(checkpoint="c")),
        ('{"metrics": {"loss": "high", "on": true, "none": null, "f1": 0.5}}', Beat(metrics={"f1": 0.5})),
        ('{"metrics": [1, 2], "step": 1}', Beat(step=1.0)),
    ],
)
def test_a_part_that_cannot_be_understood_costs_only_itself(said, kept):
    """A moment without a time zone, a text for a number, a truth for a measurement."""
    assert beat_in(said.encode()) == kept


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"at": "2026-11-21T10:00:00.25+02:00", "progress_at": "2026-11-21T08:00:00Z"},
        {"attempt": 2.0, "instance_id": "7", "step": 10**30, "longest_gap": 0.5, "checkpoint": "ü"},
        {"metrics": {"loss": 1, "gap": -0.0, "big": 10**300, "lost": "nan"}, "unknown": [1, {"step": 2}]},
        {"metrics": {"loss": "-inf"}, "at": None, "step": None},
    ],
)
def test_one_bad_part_changes_nothing_about_the_others(said):
    """Whole it is read in one go, else part by part: both take the same from it."""
    whole = beat_in(json.dumps(said).encode())
    assert beat_in(json.dumps({**said, "steps": "many"}).encode()) == whole
    assert [repr(value) for value in whole.metrics.values()] == [
        repr(value) for value in beat_in(json.dumps({**said, "steps": "many"}).encode()).metrics.values()
    ]


@pytest.mark.parametrize(
    ("value", "means"),
    [
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        ("NaN", "nan"),
        ("-Infinity", "-inf"),
        (10**400, "inf"),
    ],
)
def test_a_measurement_that_is_no_number_is_kept_as_what_it_is(value, means):
    """A loss that is not a number any more is what somebody waits to hear of."""
    beat = beat_in(json.dumps({"metrics": {"loss": value}}).encode())
    assert beat.metrics == {"loss": means}
    assert not math.isfinite(number(beat.metrics["loss"]))


def test_a_flood_of_names_is_bounded():
    """The first ones are taken."""
    beat = beat_in(json.dumps({"metrics": {f"m{n}": n for n in range(METRICS_AT_MOST + 1)}}).encode())
    assert len(beat.metrics) == METRICS_AT_MOST


def test_long_texts_are_cut_and_long_names_left_out():
    """They go into messages: an object may have a megabyte of them."""
    said = {
        "checkpoint": "c" * 2_000,
        "instance_id": "1" * 300,
        "status": "s" * 300,
        "metrics": {"n" * 201: 1, "l": 2},
    }
    for beat in (
        beat_in(json.dumps(said).encode()),
        beat_in(json.dumps({**said, "step": "x"}).encode()),
        beat_beside({**said, "job": "j", "metrics": json.dumps(said["metrics"])}),
    ):
        assert (len(beat.checkpoint), len(beat.instance_id), len(beat.status)) == (1_024, 200, 200)
        assert beat.metrics == {"l": 2.0}
    whole = Beat(checkpoint="c" * 1_024, metrics={"n" * 200: 1.0})
    assert beat_in(msgspec.json.encode(whole)) == whole


@pytest.mark.parametrize("wrong", [{"attempt": "x"}, {"step": "nan"}, {"at": "yesterday"}])
def test_one_wrong_text_of_a_heartbeat_takes_nothing_else_with_it(wrong):
    """What is of its type counts, also where all of it cannot be read in one go."""
    said = {"job": "j", "status": "running", "steps": "8", "metrics": '{"loss": 2}', "unknown": "1"}
    assert beat_beside({**said, **wrong}) == beat_beside(said)
    assert beat_beside(said) == Beat(job="j", status="running", steps=8.0, metrics={"loss": 2.0})


def test_a_line_that_is_no_whole_record_is_not_looked_into(monkeypatch):
    """Four million of them fill a file as well as records do, and took a minute and a half."""
    looked: list[bytes] = []
    monkeypatch.setattr(heartbeats, "beat_in", lambda line: looked.append(line) or Beat())
    assert list(beats_in(b"\n \n{\n" * 1_000 + b'{"ste\n {"step": 1} \n')) == []
    assert looked == [b'{"step": 1}']


def test_lines_of_a_metrics_file_come_in_order_without_what_was_cut():
    """A VM may go in the middle of a line."""
    assert [beat.step for beat in beats_in(b'{"step": 1}\n\n{"step": 2}\r\n{}\n{"ste')] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("beat", "share"),
    [
        (Beat(step=40, steps=80), 0.5),
        (Beat(step=0, steps=80), 0.0),
        (Beat(step=40), None),
        (Beat(step=40, steps=0), None),
        (Beat(step=1e308, steps=1e-308), None),
    ],
)
def test_the_share_that_is_done(beat, share):
    """It is not known where the whole is not."""
    assert beat.share == share


CAME = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "progress", "moved"),
    [
        (None, None, timedelta(0)),
        (timedelta(0), None, timedelta(0)),
        (timedelta(hours=-5), None, timedelta(0)),
        (timedelta(0), timedelta(hours=-2), timedelta(hours=-2)),
        (timedelta(hours=9), timedelta(hours=7), timedelta(hours=-2)),
        (timedelta(hours=-9), timedelta(hours=-11), timedelta(hours=-2)),
        (None, timedelta(hours=-2), timedelta(hours=-2)),
        (timedelta(0), timedelta(hours=2), timedelta(0)),
        (timedelta(days=40_000), timedelta(days=-400_000), timedelta(days=-366)),
    ],
)
def test_when_a_program_last_made_progress(at, progress, moved):
    """By the difference of the VM's own moments: its clock may be wrong. That a heartbeat came is none."""
    beat = Beat(
        at=None if at is None else CAME + at, progress_at=None if progress is None else CAME + progress
    )
    assert progress_in(beat, CAME) == CAME + moved
