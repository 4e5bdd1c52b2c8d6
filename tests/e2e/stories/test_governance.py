"""The story of governance, held against the cloud itself: its history, its audit log, its bucket."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest

from localcloud import running
from localcloud.story.telling import BUCKET, PROJECT
from tests.e2e.conftest import marked

TELL = """
import asyncio, pathlib, sys
from localcloud.story.telling import STORIES, tell_story
raise SystemExit(asyncio.run(tell_story(pathlib.Path(sys.argv[1]), stay=True, story=STORIES["governance"])))
"""
WITHIN_SECONDS = 400
"""A minute, and a lot more on a machine that is busy with other tests."""
MINUTE = timedelta(minutes=1)
REMEDIES = {"StopInstance", "DeleteInstance"}
GRACE = {"orphan": 15 * MINUTE, "idle": 15 * MINUTE, "job_cap": 15 * MINUTE, "stall": 30 * MINUTE}
STRANGERS_ZONE = "us-east1-b"


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What a story has left behind: what it said, and what the cloud knows at its end."""

    said: str
    instances: Mapping[str, dict[str, Any]]
    changes: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    entries: list[dict[str, Any]]
    cases: list[dict[str, Any]]
    sweeps: Mapping[str, list[datetime]]
    answers: list[dict[str, Any]]
    mails: list[dict[str, Any]]
    delivered: list[dict[str, Any]]

    def id_of(self, job: str) -> str:
        """The id of a job's one VM, by what was written down of it."""
        ids = {one["id"] for one in self.changes if one["labels"].get("spotwarden-job") == job}
        assert len(ids) == 1
        return str(ids.pop())

    def notices(self, job: str, kind: str) -> list[dict[str, Any]]:
        """The notices of a kind about a job that were accepted, oldest first."""
        told = [one["detail"]["notice"] for one in self.entries if one["action"] == "Tell"]
        # What one sweep told and could not note, the next tells again, under the same id.
        first: dict[str, dict[str, Any]] = {}
        for one in told:
            if (one["job"], one["kind"]) == (job, kind):
                first.setdefault(one["id"], one)
        return list(first.values())

    def remedy(self, job: str) -> tuple[str, datetime]:
        """What was done to a job's VM, and when; there must be one such entry."""
        found = [one for one in self.entries if one["action"] in REMEDIES and one["detail"]["job"] == job]
        assert len(found) == 1, found
        assert found[0]["detail"]["instance_id"] == self.id_of(job)
        return found[0]["action"], datetime.fromisoformat(found[0]["at"])

    def began(self, job: str) -> datetime:
        """When its VM began to run."""
        mine = self.id_of(job)
        return next(moment(one) for one in self.changes if (one["id"], one["status"]) == (mine, "RUNNING"))


def moment(change: Mapping[str, Any]) -> datetime:
    """When it happened."""
    return datetime.fromisoformat(change["at"])


def look(http: httpx.Client, said: str) -> Left:
    """Everything that the cloud knows."""
    objects = f"/storage/v1/b/{BUCKET}/o"
    names = [one["name"] for one in http.get(objects, params={"prefix": "spotwarden/"}).json()["items"]]

    def read(name: str) -> Any:
        content = http.get(f"{objects}/{quote(name, safe='')}", params={"alt": "media"}).content
        return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)

    audit = [read(name) for name in names if "/audit/" in name]
    entries = [one for written in audit for one in (written if isinstance(written, list) else [written])]
    scopes = http.get(f"/compute/v1/projects/{PROJECT}/aggregated/instances").json()["items"].values()
    audited = {"filter": 'logName:"cloudaudit.googleapis.com"', "pageSize": 1000}
    calls = http.post("/v2/entries:list", json={"resourceNames": [f"projects/{PROJECT}"], **audited})
    sweeps: dict[str, list[datetime]] = {}
    for name in names:
        if "/sweeps/" in name:
            tick = read(name)["tick"]
            sweeps.setdefault(tick["function"], []).append(datetime.fromisoformat(tick["now"]))
    return Left(
        said=said,
        instances={one["id"]: one for scope in scopes for one in scope.get("instances", ())},
        changes=http.get("/local/history").json()["changes"],
        calls=calls.json()["entries"],
        entries=sorted(entries, key=lambda one: one["at"]),
        # The functions go on: a case may be closed, and its object deleted, after it was listed.
        cases=[case for name in names if "/cases/" in name and "subject" in (case := read(name))],
        sweeps=sweeps,
        answers=[read(name) for name in names if "/answers/" in name],
        mails=[one for one in http.get("/local/mailbox.json").json() if one["channel"] == "mail"],
        delivered=[read(name) for name in names if "/delivered/" in name],
    )


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Left]:
    """The story, told once for all tests that look at what it left."""
    home, state = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("state")
    environment = {**os.environ, "XDG_STATE_HOME": str(home)}
    with subprocess.Popen(
        [sys.executable, "-c", TELL, str(state)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as story:
        try:
            yield _told(story, environment)
        finally:
            story.send_signal(signal.SIGINT)
            story.communicate(timeout=WITHIN_SECONDS)
    assert story.returncode == 0
    assert marked(Path(home)) == []


def _told(story: subprocess.Popen[str], environment: Mapping[str, str]) -> Left:
    """Listen until the story is told, then look."""
    said = []
    assert story.stdout is not None
    for line in story.stdout:
        said.append(line)
        if "the local cloud stays up" in line:
            break
    text = "".join(said)
    assert "everything else still runs, as expected" in text, text
    [found] = running.living(environment)
    with httpx.Client(base_url=found.http, trust_env=False, timeout=60) as http:
        return look(http, text)


def test_four_vms_are_destroyed_and_no_other(left: Left) -> None:
    """By the cloud's own history: what ran and does not run any more."""
    ended = {one["id"] for one in left.changes if one["status"] in ("STOPPING", "TERMINATED", "GONE")}
    assert ended == {left.id_of(job) for job in ("nap", "hang", "long", "stay")}
    alive = {one for one, vm in left.instances.items() if vm["status"] == "RUNNING"}
    strangers = {one for one, vm in left.instances.items() if vm["zone"].endswith(STRANGERS_ZONE)}
    assert alive == {left.id_of(job) for job in ("late", "kept", "dark")} | strangers
    assert len(strangers) == 1


def test_nothing_is_done_without_a_warning_the_grace_before(left: Left) -> None:
    """Each remedy has a warning about the same VM, accepted at least its rule's grace earlier."""
    warned = {
        (one["kind"].removesuffix("_warning"), one["evidence"]["instances"]): datetime.fromisoformat(
            one["at"]
        )
        for entry in reversed(left.entries)
        if entry["action"] == "Tell" and (one := entry["detail"]["notice"])["kind"].endswith("_warning")
    }
    for job, rule in (("nap", "idle"), ("stay", "orphan"), ("hang", "stall"), ("long", "job_cap")):
        _, at = left.remedy(job)
        assert at - warned[rule, left.id_of(job)] >= GRACE[rule]


def test_a_sleeping_job_is_warned_twice_and_stopped_after_two_hours(left: Left) -> None:
    """At an hour and at 105 minutes of idling, which counts from ten minutes after the start."""
    first, second = left.notices("nap", "idle_warning")
    entry, at = left.remedy("nap")
    able = left.began("nap") + 10 * MINUTE
    assert entry == "StopInstance"
    assert datetime.fromisoformat(first["at"]) >= able + 60 * MINUTE
    assert datetime.fromisoformat(second["at"]) >= able + 105 * MINUTE
    assert at >= able + 120 * MINUTE
    assert len(left.notices("nap", "idle_acted")) == 1
    assert left.instances[left.id_of("nap")]["labels"]["spotwarden-idle"].startswith("since-")


def test_one_that_wakes_up_is_cleared(left: Left) -> None:
    """One warning, and one notice that it no longer holds; the label is off again, and no case is open."""
    assert len(left.notices("late", "idle_warning")) == 1
    assert len(left.notices("late", "idle_cleared")) == 1
    mine = left.id_of("late")
    labelled = [one for one in left.entries if one["action"] == "LabelInstance"]
    put = [one["detail"]["labels"]["spotwarden-idle"] for one in labelled if one["detail"]["job"] == "late"]
    assert [bool(value) for value in put] == [True, False]
    assert not left.instances[mine]["labels"].get("spotwarden-idle")
    assert mine not in {one["subject"]["key"] for one in left.cases}


def test_a_hung_job_is_stopped_though_its_gpu_works(left: Left) -> None:
    """Two hours without a sign, warned, half an hour later stopped; nobody called it idle."""
    [warning] = left.notices("hang", "stall_warning")
    entry, at = left.remedy("hang")
    assert entry == "StopInstance"
    assert datetime.fromisoformat(warning["at"]) >= left.began("hang") + 120 * MINUTE
    assert at - datetime.fromisoformat(warning["at"]) >= 30 * MINUTE
    assert left.notices("hang", "idle_warning") == []


def test_a_finished_job_that_failed_to_delete_itself_is_deleted(left: Left) -> None:
    """Seen by two sweeps, warned once, deleted; its own attempt was refused by Compute Engine."""
    entry, at = left.remedy("stay")
    assert entry == "DeleteInstance"
    assert len(left.notices("stay", "orphan_warning")) == 1
    assert len([one for one in left.sweeps["reap_vms"] if one < at]) >= 3
    assert left.id_of("stay") not in left.instances


def test_a_job_over_its_cap_is_stopped_at_the_limit_that_its_owner_extended(left: Left) -> None:
    """Warned at 80 % and 95 % of 2 h 5 min, extended by 20 min, warned anew at both, stopped."""
    warnings = left.notices("long", "job_cap_warning")
    entry, at = left.remedy("long")
    up = at - left.began("long")
    assert entry == "StopInstance"
    assert len(warnings) == 4
    times = [datetime.fromisoformat(one["at"]) - left.began("long") for one in warnings]
    assert 100 * MINUTE <= times[0] < 119 * MINUTE <= times[1] < 125 * MINUTE
    assert times[1] < times[2] < 137 * MINUTE <= times[3] < 145 * MINUTE
    assert up >= 145 * MINUTE
    typed = [one["detail"]["case"] for one in left.entries if one["function"] == "cli_cases"]
    said = [(one["subject"]["key"], one["extended"]) for one in typed if one["rule"] == "job_cap"]
    assert said == [("long", pytest.approx(1 / 3))]


def test_a_vm_without_metrics_is_told_and_let_be(left: Left) -> None:
    """One notice that nobody can know; no warning, no label, no remedy."""
    assert len(left.notices("dark", "idle_unknown")) == 1
    assert left.notices("dark", "idle_warning") == []
    assert "spotwarden-idle" not in left.instances[left.id_of("dark")]["labels"]


def test_a_kept_vm_is_kept_by_the_link_in_the_mail(left: Left) -> None:
    """Warned once; its owner's word stands in the case, and no second warning comes while it holds."""
    [case] = [one for one in left.cases if one["subject"]["job"] == "kept"]
    assert case["kept_by"] == "alan@example.com"
    [used] = left.answers
    assert (used["offer"]["way"], used["offer"]["to"]) == ("keep", "alan@example.com")
    [warning] = left.notices("kept", "idle_warning")
    assert used["offer"]["notice"] == warning["id"]
    assert datetime.fromisoformat(case["keep_until"]) > max(map(moment, left.changes))


def test_what_somebody_is_warned_of_was_mailed_once(left: Left) -> None:
    """Each warning and each entry, to its owner alone; every mail is another."""
    for job, owner in (("nap", "ada"), ("hang", "ada"), ("long", "grace"), ("kept", "alan")):
        told = [
            one
            for phase in ("warning", "acted")
            for rule in GRACE
            for one in left.notices(job, f"{rule}_{phase}")
        ]
        arrived = [
            one["recipient"]["address"]
            for notice in told
            for one in left.delivered
            if one["notice"] == notice["id"]
        ]
        assert arrived == [f"{owner}@example.com"] * len(told)
    ids = [one["id"] for one in left.mails]
    assert len(ids) == len(set(ids))
    assert {one["message_id"] for one in left.delivered} == set(ids)


def test_nothing_is_done_before_its_warning_was_mailed_the_grace_before(left: Left) -> None:
    """A warning counts from when the mail server had it."""
    at = {one["notice"]: datetime.fromisoformat(one["at"]) for one in left.delivered}
    for job, rule in (("nap", "idle"), ("stay", "orphan"), ("hang", "stall"), ("long", "job_cap")):
        last = left.notices(job, f"{rule}_warning")[-1]
        _, done = left.remedy(job)
        assert done - at[last["id"]] >= GRACE[rule] - timedelta(seconds=1)


def test_a_vm_of_nobody_is_never_touched(left: Left) -> None:
    """Nobody but its maker ever asked anything of it, and no notice or case speaks of it."""
    [stranger] = [vm for vm in left.instances.values() if vm["zone"].endswith(STRANGERS_ZONE)]
    assert stranger["name"] == "late"
    assert not stranger.get("labels")
    asked = {
        one["protoPayload"]["methodName"]
        for one in left.calls
        if one["resource"]["labels"].get("instance_id") == stranger["id"]
    }
    assert asked <= {"v1.compute.instances.insert", "beta.compute.instances.insert"}
    assert stranger["id"] not in json.dumps([left.entries, left.cases], default=str)


def test_the_functions_never_slept_for_half_an_hour(left: Left) -> None:
    """The story keeps to what governance trusts: sweeps of each function at most 30 minutes apart."""
    assert set(left.sweeps) == {"reap_vms", "flag_idle_gpus", "cap_runtime", "check_compliance"}
    for moments in left.sweeps.values():
        gaps = [later - earlier for earlier, later in zip(sorted(moments), sorted(moments)[1:], strict=False)]
        assert max(gaps) < 30 * MINUTE
        assert sum(gaps, timedelta(0)) >= 150 * MINUTE


def test_a_reader_learns_what_was_destroyed_and_why(left: Left) -> None:
    """The last lines name each of the four with its reason, and the commands that tell more."""
    end = left.said[left.said.index("what was destroyed") :]
    for line in (
        "DeleteInstance stay: its job ended with status 0",
        "StopInstance nap: The GPU of nap has been below 5%",
        "StopInstance hang: hang has made no progress",
        "StopInstance long: job long has used",
    ):
        assert line in end
