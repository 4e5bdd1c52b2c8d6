"""The report under attack from both sides: records of the bucket that anybody may write, and addresses."""

import csv
import json
from io import StringIO
from urllib.parse import quote

import pytest
from werkzeug.wrappers import Response

from tests.report.test_by_hand import ADA, DAY, L4, Bucket, clock
from tests.report.test_csv import runs
from tests.report.test_hostile import ATTACKS, Skeleton, number

FINE = {200, 400, 404, 414}
PATHS = (
    "/", "/index.json", "/index.csv", "/jobs/train", "/jobs/train.json", "/jobs/train.csv", "/fleet",
    "/fleet.json", "/fleet.csv", "/trust", "/trust.json", "/trust.csv", "/compare?job=train&job=other",
    "/compare.json?job=train&job=other", "/compare.csv?job=train&job=other",
)  # fmt: skip
ODD = {
    "far": {"at": "9999-12-31T23:59:59Z"},
    "long ago": {"at": "0001-01-01T00:00:00Z"},
    "no zone": {"at": "2026-11-18T09:00:00"},
    "no moment": {"at": "yesterday"},
    "huge": {"step": 1e308, "steps": 1e-308, "metrics": {"loss": 1.7e308, "a": -1.7e308}},
    "none": {"step": "nan", "steps": None},
    "unreal": {"metrics": {"loss": "nan", "x": "inf", "y": "-inf"}},
    "negative": {"step": -5, "steps": -1, "attempt": -3},
    "words": {"metrics": {"loss": "much"}},
    "deep": {"metrics": {"loss": [[[[]]]]}},
    "many": {"metrics": {f"m{index}": index for index in range(300)}},
    "odd names": {"metrics": {"": 1.0, " ": 2.0, "=1+1": 3.0, "__proto__": 4.0, "a\u0000b": 5.0}},
    "empty": {},
}
"""Heartbeats that are not as they should be."""


@pytest.fixture
def bucket(tmp_path):
    """A job that ran for two hours, as its records say it, and another."""
    bucket = Bucket(tmp_path)
    for job, vm in (("train", "11"), ("other", "12")):
        bucket.write(f"{job}/metadata/create-instance.sh", b"#!/bin/bash\n")
        bucket.attempt(
            1, job=job, created="08:00", updated="08:00", started="08:00", seen=True,
            instances={job: vm}, place="us-central1-a",
        )  # fmt: skip
    bucket.meter(DAY, ("11", "train", "08:00", 7200, L4), ("12", "other", "08:00", 7200, L4))
    return bucket


def whole(answer, path):
    """Hold an answer to what it says that it is."""
    assert isinstance(answer, Response)
    assert answer.status_code == 200, (path, answer.get_data(as_text=True)[:500])
    body = answer.get_data(as_text=True)
    if path.partition("?")[0].endswith(".json"):
        assert json.loads(body)["schema"] == 1
    elif path.partition("?")[0].endswith(".csv"):
        cells = [cell for row in csv.reader(StringIO(body, newline=""), strict=True) for cell in row]
        assert not [cell for cell in cells if not number(cell) and (runs(cell, ",") or runs(cell, ";"))]
    else:
        assert "</html>" in body
        assert not [one for one in Skeleton(body).values if one[1].startswith("on") or one[1] == "style"]


def shown(bucket, *paths):
    """Take all in, and hold the views of it; what failed of the tick."""
    failures = bucket.world.try_tick().failures
    for path in paths:
        whole(bucket.world.get(path), path)
    return failures


@pytest.mark.parametrize("attack", ["markup", "unseen", "separated"])
def test_records_that_attack_are_shown_as_what_they_are(bucket, attack):
    """Owner and tags, heartbeats, why an attempt was made, places, the audit and its evidence, settings."""
    said = ATTACKS[attack]
    bucket.write("train/metadata/job.toml", f"owner = {json.dumps(said)}\n".encode())
    bucket.attempt(
        2, created="10:01", updated="10:05", started="10:05", lost="10:00", fate=said, reason=said,
        cause=said,
        lost_in=said, owner=said, machine=said, instances={"train": said}, replaces={"train": "11"},
        place=said,
    )  # fmt: skip
    beat = {"at": clock("09:00"), "checkpoint": said, "metrics": {said: 1.0}, "step": 1}
    bucket.write("train/metadata/metrics/train/1.jsonl", json.dumps(beat).encode() + b"\n")
    bucket.write("train/metadata/heartbeat/train", beat)
    record = {
        "at": clock("09:00"), "function": said, "sweep": said, "policy": said, "action": said, "why": said,
        "detail": {"job": "train", "node": said, "reason": said, "evidence": {said: said}}, "outcome": said,
    }  # fmt: skip
    bucket.write(f"spotwarden/audit/{DAY}/090000-s1-1.json", [record])
    bucket.write("train/metadata/run.json", {"tags": {said: said}, "command": said})
    assert shown(bucket, *PATHS) == ()


@pytest.mark.parametrize("beat", [*ODD])
def test_heartbeats_that_are_not_as_they_should_be_break_no_view(bucket, beat):
    """Of this job or another: whatever a program writes, everybody's report stays whole."""
    text = json.dumps(ODD[beat])
    lines = [
        json.dumps({"at": clock("08:30"), "step": 1, "metrics": {"loss": 1.0}}),
        text,
        "{",
        "",
        "7",
        "[]",
    ]
    bucket.write("train/metadata/metrics/train/1.jsonl", "\n".join(lines).encode())
    bucket.write("train/metadata/heartbeat/train", text.encode())
    shown(bucket, "/jobs/train", "/jobs/train.json", "/jobs/train.csv")
    jobs = {row["job"]: row for row in bucket.world.json("/index.json")["jobs"]}
    assert set(jobs) == {"train", "other"}
    assert jobs["other"]["status"] == "running"


NAMES = (
    "train/metadata/attempts/2.json",
    "train/metadata/metrics/train/1.jsonl",
    "train/metadata/heartbeat/train",
    "train/metadata/job.toml",
    "train/metadata/run.json",
    "train/metadata/status-code",
    "train/metadata/launched/1.json",
    "train/metadata/train-instance-id",
    "spotwarden/open/train.json",
    f"spotwarden/audit/{DAY}/090000-s1-1.json",
    "spotwarden/usage/2026-11-17.json",
    f"spotwarden/sweeps/flag_idle_gpus/{DAY}/090000-s1.json.gz",
)


@pytest.mark.parametrize(
    "record",
    [b"", b"{", b"[]", b"7", b'"x"', b"\xff\xfe", b"[" * 5000, b"null"],
    ids=["empty", "half", "list", "number", "text", "no text", "deep", "null"],
)
def test_records_that_are_none_break_no_other_job(bucket, record):
    """They may be told as failures of the tick; the other job's row and figures are there."""
    for name in NAMES:
        bucket.write(name, record)
    bucket.world.try_tick()
    jobs = {row["job"]: row for row in bucket.world.json("/index.json")["jobs"]}
    assert (jobs["other"]["status"], jobs["other"]["cost"]["usd"]) == ("running", 1.6)
    assert "train" in jobs


@pytest.mark.parametrize("attack", ["markup", "host", "unseen", "long"])
@pytest.mark.parametrize(
    "path",
    [
        "/jobs/{}", "/jobs/{}.json", "/jobs/{}.csv", "/{}", "/assets/{}", "/?q={}&owner={}&sort={}&page={}",
        "/?tz={}", "/fleet?first={}&last={}", "/fleet?days={}&unit={}&owner={}", "/trust?about={}&text={}",
        "/trust?day={}&rule={}&function={}", "/compare?job={}&job=train", "/compare.csv?job=train&job={}",
        "/index.csv?q={}&tag={}&metric={}",
    ],
)  # fmt: skip
def test_an_address_that_attacks_is_answered_in_words(served, path, attack):
    """A page or a refusal, never a failure; its headers are ours, and its links lead nowhere else."""
    said = quote(ATTACKS[attack], safe="")
    answer = served.get(path.replace("{}", said))
    assert answer.status_code in FINE
    for name, value in answer.headers.items():
        assert not {"\r", "\n"} & set(name + value)
    assert "Set-Cookie" not in answer.headers
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    if answer.headers["Content-Type"].startswith("text/html"):
        found = Skeleton(answer.get_data(as_text=True))
        assert not [one for one in found.values if one[1].startswith("on") or one[1] == "style"]
        assert not [link for link in found.links if "evil.example" in link.partition("?")[0]]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The report of Ada's one job, which nobody changes."""
    bucket = Bucket(tmp_path_factory.mktemp("served"))
    bucket.meter(DAY, ("11", "train", "08:00", 7200, L4))
    bucket.attempt(
        1, created="08:00", updated="08:00", started="08:00", instances={"train": "11"}, owner=ADA,
        place="us-central1-a",
    )  # fmt: skip
    bucket.world.tick()
    return bucket.world


@pytest.mark.parametrize(
    "path",
    [
        "/fleet?first=0001-01-01&last=0001-01-02", "/fleet?first=9999-12-30&last=9999-12-31",
        "/fleet?days=99999999999999999999", "/fleet?days=-1", "/fleet?days=1e5",
        "/fleet?first=2026-11-20&last=2026-11-01", "/trust?day=0001-01-01", "/trust?day=9999-12-31",
        "/?page=99999999999999999999", "/?page=-1&size=-1",
        "/?size=999999999", "/?tz=../../etc/passwd", "/?tz=Europe", "/jobs/", "/jobs/..", "/jobs/../../x",
        "/jobs/spotwarden", "/jobs/preempted-jobs", "/compare", "/compare?job=train",
        "/compare?" + "job=train&" * 60,
        "//evil.example", "/index.html", "/.json", "/.csv", "/assets/", "/assets/../main.py",
        "/%00", "/%ff%fe",
    ],
)  # fmt: skip
def test_an_address_beyond_all_bounds_is_answered(served, path):
    """The first and the last days of the calendar, pages that nobody has, folders that are not ours."""
    answer = served.get(path)
    assert answer.status_code in FINE
    assert "root:" not in answer.get_data(as_text=True)
