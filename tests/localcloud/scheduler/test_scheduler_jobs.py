"""Jobs: kept over REST, fired when their time has come, retried when they fail."""

import asyncio
import base64
import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.localcloud.scheduler.conftest import Set, Topics
from tests.localcloud.stand import PROJECT, Stand
from tests.localcloud.verifying import verified
from tests.long import long

JOBS = f"/v1/projects/{PROJECT}/locations/us-central1/jobs"
NAME = f"projects/{PROJECT}/locations/us-central1/jobs/sweep"
TOPIC = f"projects/{PROJECT}/topics/tick"

Make = Callable[..., dict[str, Any]]


def encoded(text: str) -> str:
    """Text as a bytes field has it."""
    return base64.b64encode(text.encode()).decode()


@pytest.fixture
def make(http: httpx.Client) -> Make:
    """Create the job, by default one that publishes each minute."""

    def create(**changed: Any) -> dict[str, Any]:
        target = (
            {} if "httpTarget" in changed else {"pubsubTarget": {"topicName": TOPIC, "data": encoded("go")}}
        )
        answer = http.post(JOBS, json={"name": NAME, "schedule": "* * * * *", **target, **changed})
        assert answer.status_code == 200, answer.text
        return answer.json()

    return create


def found(http: httpx.Client) -> dict[str, Any]:
    """The job as it is now."""
    return http.get(f"/v1/{NAME}").json()


def test_a_new_job_waits_for_its_first_moment(make: Make, topics: Topics):
    """Enabled, with the next full minute and the documented defaults."""
    made = make()
    assert (made["state"], made["scheduleTime"]) == ("ENABLED", "2026-11-21T08:01:00.000Z")
    assert made["timeZone"] == "UTC"
    assert made["retryConfig"]["minBackoffDuration"] == "5s"
    assert topics.told == []


def test_a_job_fires_when_its_time_has_come(make: Make, topics: Topics, clock: Set, http: httpx.Client):
    """Once, and then waits for the next moment."""
    make(pubsubTarget={"topicName": TOPIC, "data": encoded("go"), "attributes": {"a": "b"}})
    clock.moment += timedelta(seconds=31)
    assert topics.wait_for(1) == [(b"go", {"a": "b"})]
    assert found(http)["scheduleTime"] == "2026-11-21T08:02:00.000Z"
    assert found(http)["status"] == {}
    assert found(http)["lastAttemptTime"] == "2026-11-21T08:01:01.000Z"
    clock.moment += timedelta(minutes=1)
    topics.wait_for(2)


def test_moments_that_were_slept_through_fire_once(
    make: Make, topics: Topics, clock: Set, http: httpx.Client
):
    """A laptop that was closed for an hour does not get sixty ticks."""
    make()
    clock.moment += timedelta(hours=1)
    topics.wait_for(1)
    assert found(http)["scheduleTime"] == "2026-11-21T09:01:00.000Z"
    assert len(topics.told) == 1


def test_a_paused_job_does_not_fire_until_it_is_resumed(
    make: Make, topics: Topics, clock: Set, http: httpx.Client
):
    """And a moment that fell into the pause is not made up for."""
    make()
    assert http.post(f"/v1/{NAME}:pause", json={}).json()["state"] == "PAUSED"
    clock.moment += timedelta(minutes=2)
    assert http.post("/local/tick", json={}).json() == {"ticks": []}
    resumed = http.post(f"/v1/{NAME}:resume", json={}).json()
    assert (resumed["state"], resumed["scheduleTime"]) == ("ENABLED", "2026-11-21T08:03:00.000Z")
    assert topics.told == []
    clock.moment += timedelta(minutes=1)
    topics.wait_for(1)


def test_a_job_is_paused_or_resumed_only_once(make: Make, http: httpx.Client):
    """The second time it is not in the right state."""
    make()
    assert http.post(f"/v1/{NAME}:resume", json={}).status_code == 400
    http.post(f"/v1/{NAME}:pause", json={}).raise_for_status()
    answer = http.post(f"/v1/{NAME}:pause", json={})
    assert answer.json()["error"]["status"] == "FAILED_PRECONDITION"


def test_a_job_runs_on_demand_whatever_its_schedule(make: Make, topics: Topics, http: httpx.Client):
    """The answer is the job."""
    make(schedule="0 0 1 1 *")
    assert http.post(f"/v1/{NAME}:run", json={}).json()["name"] == NAME
    topics.wait_for(1)


def test_a_tick_by_hand_tells_how_it_ended(make: Make, topics: Topics, http: httpx.Client):
    """By short name, by full name, or all."""
    make()
    for body in ({"job": "sweep"}, {"job": NAME}, {}):
        assert http.post("/local/tick", json=body).json() == {"ticks": [{"job": NAME, "status": {}}]}
    assert len(topics.told) == 3
    answer = http.post("/local/tick", json={"job": "swep"})
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "There is no job 'swep'. There are: sweep."


def test_a_doubled_tick_comes_twice(make: Make, topics: Topics, clock: Set, http: httpx.Client):
    """At least once is all that Scheduler promises."""
    http.post("/local/ticks", json={"double": 1}).raise_for_status()
    make()
    clock.moment += timedelta(minutes=1)
    assert topics.wait_for(2) == [(b"go", {}), (b"go", {})]
    assert http.post("/local/ticks", json={"double": 2}).status_code == 400


def test_a_failed_job_says_why(make: Make, http: httpx.Client):
    """In its status, with the code of the error."""
    make(pubsubTarget={"topicName": f"{TOPIC}-2", "data": encoded("x")})
    http.post("/local/tick", json={}).raise_for_status()
    assert found(http)["status"] == {"code": 5, "message": "Resource not found (resource=tick-2)."}


def test_a_failed_job_is_tried_again_as_configured(make: Make, topics: Topics, http: httpx.Client):
    """Here twice, after almost no wait; the third attempt succeeds."""
    topics.failures = 2
    make(schedule="0 0 1 1 *", retryConfig={"retryCount": 2, "minBackoffDuration": "0.01s"})
    http.post(f"/v1/{NAME}:run", json={}).raise_for_status()
    topics.wait_for(1)
    assert topics.failures == 0


def test_a_failed_job_without_retries_waits_for_its_next_moment(make: Make, topics: Topics, clock: Set):
    """The default."""
    topics.failures = 1
    make()
    clock.moment += timedelta(minutes=1)
    topics.wait_for_failures()
    assert topics.told == []
    clock.moment += timedelta(minutes=1)
    topics.wait_for(1)


def test_an_http_job_calls_with_its_headers(stand: Stand, make: Make, http: httpx.Client):
    """Those of the service cannot be overruled; the identity is that of the account."""
    target = {
        "uri": f"{stand.receiver.url}/tick",
        "httpMethod": "PUT",
        "body": encoded("{}"),
        "headers": {"X-Mine": "1", "User-Agent": "me"},
        "oidcToken": {"serviceAccountEmail": "tick@example.com"},
    }
    assert make(httpTarget=target)["attemptDeadline"] == "180s"
    assert http.post("/local/tick", json={}).json()["ticks"][0]["status"] == {}
    (heard,) = stand.receiver.wait_for(1)
    assert (heard.method, heard.path, heard.body) == ("PUT", "/tick", b"{}")
    assert heard.headers["x-mine"] == "1"
    assert heard.headers["user-agent"] == "Google-Cloud-Scheduler"
    assert heard.headers["x-cloudscheduler"] == "true"
    assert heard.headers["x-cloudscheduler-jobname"] == "sweep"
    assert heard.headers["content-type"] == "application/octet-stream"
    claims = verified(heard.headers["authorization"].removeprefix("Bearer "), f"{stand.receiver.url}/tick")
    assert claims["email"] == "tick@example.com"


@pytest.mark.parametrize(("status", "code"), [(404, 5), (500, 13), (503, 14), (302, 2)])
def test_an_http_job_that_is_answered_badly_has_failed(
    stand: Stand, make: Make, http: httpx.Client, status: int, code: int
):
    """Only 200 to 299 is success."""
    stand.receiver.statuses = [status]
    make(httpTarget={"uri": stand.receiver.url})
    (tick,) = http.post("/local/tick", json={}).json()["ticks"]
    assert tick["status"]["code"] == code
    assert f"HTTP status {status}" in tick["status"]["message"]


def test_an_http_job_that_nobody_answers_has_failed(make: Make, http: httpx.Client):
    """Unavailable, with the URL."""
    make(httpTarget={"uri": "http://127.0.0.1:9/x"})
    (tick,) = http.post("/local/tick", json={}).json()["ticks"]
    assert tick["status"]["code"] == 14
    assert "127.0.0.1:9" in tick["status"]["message"]


def test_scheduled_runs_of_one_job_do_not_overlap(stand: Stand, make: Make, clock: Set, http: httpx.Client):
    """The next begins when the slow one has ended."""
    stand.receiver.held = asyncio.Event()
    make(httpTarget={"uri": stand.receiver.url})
    clock.moment += timedelta(minutes=1)
    stand.receiver.wait_for(1)
    clock.moment += timedelta(minutes=1)
    stand.call(stand.service._clockwork.fire_due)
    assert len(stand.service._jobs[NAME]._runs) == 1
    assert found(http)["scheduleTime"] == "2026-11-21T08:02:00.000Z"
    stand.release()
    stand.receiver.wait_for(2)
    assert stand.receiver.most_at_once == 1


def test_a_change_touches_only_what_the_mask_names(make: Make, http: httpx.Client):
    """Also inside the target."""
    make(description="old")
    body = {
        "name": NAME,
        "schedule": "*/5 * * * *",
        "pubsubTarget": {"topicName": TOPIC, "data": encoded("other")},
    }
    changed = http.patch(f"/v1/{NAME}?updateMask=schedule,pubsubTarget.data", json=body).json()
    assert changed["schedule"] == "*/5 * * * *"
    assert changed["scheduleTime"] == "2026-11-21T08:05:00.000Z"
    assert changed["pubsubTarget"]["data"] == encoded("other")
    assert changed["description"] == "old"


def test_a_change_that_cannot_be_leaves_the_job_as_it_was(make: Make, http: httpx.Client):
    """It is refused whole."""
    before = make()
    answer = http.patch(f"/v1/{NAME}?updateMask=schedule", json={"schedule": "never"})
    assert answer.status_code == 400
    assert found(http) == before


def test_a_deleted_job_is_gone_and_fires_no_more(make: Make, topics: Topics, clock: Set, http: httpx.Client):
    """Its name can be used again."""
    make()
    assert http.delete(f"/v1/{NAME}").json() == {}
    assert http.get(f"/v1/{NAME}").status_code == 404
    clock.moment += timedelta(minutes=1)
    assert http.post("/local/tick", json={}).json() == {"ticks": []}
    assert topics.told == []
    make()


def test_jobs_are_listed_in_pages(make: Make, http: httpx.Client):
    """By name."""
    for name in "cab":
        make(name=f"{NAME}-{name}")
    first = http.get(f"{JOBS}?pageSize=2").json()
    second = http.get(f"{JOBS}?pageSize=2&pageToken={first['nextPageToken']}").json()
    names = [job["name"] for page in (first, second) for job in page["jobs"]]
    assert names == [f"{NAME}-a", f"{NAME}-b", f"{NAME}-c"]
    assert "nextPageToken" not in second


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": "sweep"}, "Job name must be formatted"),
        ({"name": f"{NAME} x"}, "Job name must be formatted"),
        ({"schedule": "often"}, "Schedule or time zone is invalid"),
        ({"timeZone": "Mars"}, "Schedule or time zone is invalid"),
        ({"pubsubTarget": None}, "pubsubTarget or httpTarget"),
        ({"pubsubTarget": {"topicName": TOPIC}}, "non-empty data, or at least one attribute"),
        ({"pubsubTarget": {"topicName": "tick", "data": "eA=="}}, "same project"),
        (
            {"pubsubTarget": {"topicName": TOPIC, "data": "?"}},
            "Invalid value at 'pubsub_target.data' (TYPE_BYTES)",
        ),
        ({"httpTarget": {"uri": "http://x"}}, "pubsubTarget or httpTarget"),
        ({"pubsubTarget": None, "httpTarget": {"uri": "x"}}, "must begin with"),
        (
            {"pubsubTarget": None, "httpTarget": {"uri": "http://x", "httpMethod": "GO"}},
            "http_target.http_method",
        ),
        (
            {"pubsubTarget": None, "httpTarget": {"uri": "http://x", "httpMethod": "GET", "body": "eA=="}},
            "not allowed with GET",
        ),
        ({"retryConfig": {"retryCount": 6}}, "retryCount"),
        ({"retryConfig": {"minBackoffDuration": "5"}}, "is not a valid duration"),
        ({"attemptDeadline": "soon"}, "is not a valid duration"),
        ({"shedule": "x"}, "shedule"),
    ],
)
def test_a_job_that_cannot_be_is_refused(http: httpx.Client, changed: dict[str, Any], words: str):
    """With the field, and it is not there afterwards."""
    body = {
        "name": NAME,
        "schedule": "* * * * *",
        "pubsubTarget": {"topicName": TOPIC, "data": encoded("go")},
        **changed,
    }
    answer = http.post(JOBS, json={key: value for key, value in body.items() if value is not None})
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]
    assert http.get(JOBS).json() == {"jobs": []}


def test_a_name_is_taken_once(make: Make, http: httpx.Client):
    """The second job of a name is a conflict."""
    make()
    body = {"name": NAME, "schedule": "* * * * *", "httpTarget": {"uri": "http://x"}}
    assert http.post(JOBS, json=body).status_code == 409


def test_a_place_that_does_not_exist_is_not_found(http: httpx.Client):
    """The known ones are listed."""
    assert http.get(f"/v1/projects/{PROJECT}/locations/moon/jobs").status_code == 404
    places = http.get(f"/v1/projects/{PROJECT}/locations").json()["locations"]
    assert "us-central1" in [each["locationId"] for each in places]


@long
def test_the_real_gcloud_makes_and_runs_jobs(stand: Stand, tmp_path: Path, topics: Topics):
    """As people do by hand."""
    if shutil.which("gcloud") is None:
        pytest.skip("gcloud is not installed: jobs by gcloud were not tried")
    place = "--location=us-central1"
    stand.gcloud(
        tmp_path, "scheduler", "jobs", "create", "pubsub", "sweep", place, "--schedule=0 0 1 1 *",
        "--topic=tick", "--message-body=go",
    )  # fmt: skip
    stand.gcloud(tmp_path, "scheduler", "jobs", "run", "sweep", place)
    assert topics.wait_for(1) == [(b"go", {})]
    stand.gcloud(tmp_path, "scheduler", "jobs", "update", "pubsub", "sweep", place, "--schedule=*/5 * * * *")
    listed = json.loads(stand.gcloud(tmp_path, "scheduler", "jobs", "list", place, "--format=json"))
    assert [(job["name"], job["schedule"]) for job in listed] == [(NAME, "*/5 * * * *")]
